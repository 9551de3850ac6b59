; TypeScript, with JSX
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(function_signature name: (identifier) @name) @function
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @interface
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @type
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(function_expression name: (identifier) @name) @function
(class name: (_) @name) @class
(method_definition name: (_) @name) @function
(method_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @function
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(expression_statement (assignment_expression left: (_) @name right: [(arrow_function) (function_expression) (generator_function)])) @function
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(import_statement) @import
(export_statement source: (string)) @import
(call_expression function: [(identifier) (import)] @_require arguments: (arguments . (string)) (#any-of? @_require "require" "import")) @import
; const Button = React.forwardRef((props, ref) => …)
((variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments [(arrow_function) (function_expression)]))) @function
 (#match? @name "^(use)?[A-Z]"))
