; PHP
(function_definition name: (_) @name) @function
(method_declaration name: (_) @name) @function
(class_declaration name: (_) @name) @class
(trait_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @type
(namespace_definition name: (_) @name body: (_)) @module
; $f = function () { … }, $f = fn () => …
(assignment_expression left: (variable_name) @name
  right: [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)]) @function
; $x = new class { … }
(assignment_expression left: (variable_name) @name
  right: (object_creation_expression (anonymous_class body: (_) @body))) @class
(namespace_use_declaration) @import
(expression_statement [(require_expression) (require_once_expression) (include_expression) (include_once_expression)]) @import
