; Haskell: the engine merges neighbours of one name (signature and equations)
(signature name: (variable) @name) @function
(signature name: (prefix_id (_) @name)) @function
(declarations (bind name: (variable) @name) @function)
(class_declarations (bind name: (variable) @name) @function)
(instance_declarations (bind name: (variable) @name) @function)
(function name: (variable) @name) @function
(function name: (prefix_id (_) @name)) @function
(function !result . (infix operator: [(operator) @name (infix_id (_) @name)])) @function
(data_type name: (_) @name) @type
(newtype name: (_) @name) @type
(type_synonym name: (_) @name) @type
(type_family name: (_) @name) @type
(data_family name: (_) @name) @type
(class name: (_) @name declarations: (_)? @body) @interface
(instance patterns: (_) @name declarations: (_)? @body) @class
(import) @import
