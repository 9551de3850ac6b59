; Python
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(assignment left: (identifier) @name right: (lambda)) @function
(type_alias_statement left: (type) @name) @type
(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import
(function_definition body: (block . (expression_statement . (string) @doc)))
(class_definition body: (block . (expression_statement . (string) @doc)))
