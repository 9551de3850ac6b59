; JavaScript, with JSX
(class_declaration name: (identifier) @name) @class
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(expression_statement (assignment_expression left: (_) @name right: (class))) @class
