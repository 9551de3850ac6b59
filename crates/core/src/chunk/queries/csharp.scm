; C#
(using_directive) @import
(namespace_declaration name: (_) @name) @module
(class_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @type
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name) @function
(local_function_statement name: (identifier) @name) @function
(constructor_declaration name: (identifier) @name) @function
(destructor_declaration name: (identifier) @name) @function
(operator_declaration operator: _ @name) @function
(conversion_operator_declaration type: (_) @name) @function
(indexer_declaration "this" @name accessors: (_) @body) @function
(indexer_declaration "this" @name value: (_) @body) @function
(event_declaration name: (identifier) @name accessors: (_) @body) @function
; properties with code
(property_declaration name: (identifier) @name value: (arrow_expression_clause) @body) @function
(property_declaration name: (identifier) @name accessors: (accessor_list . (accessor_declaration body: (_))) @body) @function
; lambdas bound to a name
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name (lambda_expression body: (_) @body)))) @function
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @name (lambda_expression body: (block) @body)))) @function
