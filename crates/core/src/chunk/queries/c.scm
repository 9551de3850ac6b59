; C
(preproc_include) @import
(preproc_function_def name: (identifier) @name value: (preproc_arg)? @body) @function

; functions: f(), (f)(), *f(), **f(), (*f())(), MACRO(f)(), TEST(f) { }
(function_definition declarator: [
  (function_declarator declarator: [
    (identifier) @name
    (parenthesized_declarator [
      (identifier) @name
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])
    (function_declarator parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name) .))])
  (pointer_declarator declarator: [
    (function_declarator declarator: [
      (identifier) @name
      (parenthesized_declarator (identifier) @name)
      (function_declarator parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name) .))])
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])
  (parenthesized_declarator (identifier) @name)]
  (#not-any-of? @name "if" "while" "for" "switch")) @function

; prototypes
(declaration declarator: [
  (function_declarator declarator: [
    (identifier) @name
    (parenthesized_declarator [
      (identifier) @name
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])
    (function_declarator parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name) .))])
  (pointer_declarator declarator: [
    (function_declarator declarator: [
      (identifier) @name
      (parenthesized_declarator (identifier) @name)
      (function_declarator parameters: (parameter_list . (parameter_declaration type: (type_identifier) @name) .))])
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @function

; macros the parser cannot expand: prototypes taken for fields, declarators left in an error
(field_declaration declarator: [
  (function_declarator declarator: (field_identifier) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))])]) @function
((ERROR (function_declarator declarator: [(identifier) (field_identifier)] @name) @function)
 (#not-any-of? @name "if" "while" "for" "switch"))
(ERROR (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier)] @name)) @function)

(struct_specifier name: (type_identifier) @name body: (_)) @type
(union_specifier name: (type_identifier) @name body: (_)) @type
(enum_specifier name: (type_identifier) @name body: (_)) @type

; typedef: the first declarator gives the name
(type_definition type: (_) . (type_qualifier)? . declarator: [
  (type_identifier) @name
  (primitive_type) @name
  (array_declarator declarator: [(type_identifier) @name (array_declarator declarator: (type_identifier) @name)])
  (function_declarator declarator: [
    (type_identifier) @name
    (parenthesized_declarator [(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)])])
  (pointer_declarator declarator: [
    (type_identifier) @name
    (pointer_declarator declarator: (type_identifier) @name)
    (function_declarator declarator: [
      (type_identifier) @name
      (parenthesized_declarator [(type_identifier) @name (pointer_declarator declarator: (type_identifier) @name)])])])]) @type
; typedef R (CALLCONV *name)(...)
(type_definition type: (macro_type_specifier [
  (ERROR . (identifier) @name .)
  ((ERROR (type_descriptor)) type: (type_descriptor type: (type_identifier) @name))])) @type
; a struct whose body did not parse: only its head is known
(ERROR ["struct" "union" "enum"] . [(identifier) (type_identifier)] @type @name . "{")
