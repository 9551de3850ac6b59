; Patterns shared by JavaScript and TypeScript
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(function_expression name: (identifier) @name) @function
(class name: (_) @name) @class
(method_definition name: (_) @name) @function
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(expression_statement (assignment_expression left: (_) @name right: [(arrow_function) (function_expression) (generator_function)])) @function
(pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(import_statement) @import
(export_statement source: (string)) @import
(call_expression function: [(identifier) (import)] @_require arguments: (arguments . (string)) (#any-of? @_require "require" "import")) @import
; const Button = React.forwardRef((props, ref) => …)
((variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments [(arrow_function) (function_expression)]))) @function
 (#match? @name "^(use)?[A-Z]"))
