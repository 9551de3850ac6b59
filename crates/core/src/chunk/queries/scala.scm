; Scala
(import_declaration) @import
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @class
(trait_definition name: (_) @name) @interface
(enum_definition name: (_) @name) @type
(given_definition name: (_) @name) @class
(given_definition !name return_type: (_) @name) @class
(type_definition name: (_) @name) @type
(package_object name: (_) @name) @module
(package_clause name: (_) @name body: (_)) @module
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
; functions bound to names
(val_definition pattern: (identifier) @name value: [
  (lambda_expression) @body
  (case_block) @body
  (block . (lambda_expression) .) @body]) @function
