; Go
(import_declaration) @import
(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @scope
    (pointer_type [(type_identifier) @scope (generic_type type: (type_identifier) @scope)])
    (generic_type type: (type_identifier) @scope)]))
  name: (field_identifier) @name) @function
(method_elem name: (field_identifier) @name) @function

; type X ...: the declaration; type ( X ...; Y ... ): each spec
((type_declaration . (type_spec name: (type_identifier) @name type: (interface_type) @body)) @interface
 (#not-match? @interface "^type\\s*[(]"))
((type_declaration . (type_spec name: (type_identifier) @name type: (struct_type) @body)) @type
 (#not-match? @type "^type\\s*[(]"))
((type_declaration . (type_spec name: (type_identifier) @name type: [
  (type_identifier) (qualified_type) (generic_type) (pointer_type) (function_type)
  (map_type) (slice_type) (array_type) (channel_type) (parenthesized_type)])) @type
 (#not-match? @type "^type\\s*[(]"))
((type_declaration . (type_alias name: (type_identifier) @name)) @type
 (#not-match? @type "^type\\s*[(]"))
(type_declaration "(" (type_spec name: (type_identifier) @name type: (interface_type) @body) @interface)
(type_declaration "(" (type_spec name: (type_identifier) @name type: (struct_type) @body) @type)
(type_declaration "(" (type_spec name: (type_identifier) @name type: [
  (type_identifier) (qualified_type) (generic_type) (pointer_type) (function_type)
  (map_type) (slice_type) (array_type) (channel_type) (parenthesized_type)]) @type)
(type_declaration "(" (type_alias name: (type_identifier) @name) @type)

; functions bound to names
(var_spec name: (identifier) @name value: (expression_list . (func_literal body: (_) @body) .)) @function
(short_var_declaration left: (expression_list . (identifier) @name .) right: (expression_list . (func_literal body: (_) @body) .)) @function
