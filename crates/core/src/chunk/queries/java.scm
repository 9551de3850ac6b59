; Java
(import_declaration) @import
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(enum_declaration name: (identifier) @name) @type
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(method_declaration name: (identifier) @name) @function
(constructor_declaration name: (identifier) @name) @function
(compact_constructor_declaration name: (identifier) @name) @function
(annotation_type_element_declaration name: (identifier) @name) @function
; lambdas bound to a name
(field_declaration declarator: (variable_declarator name: (identifier) @name value: (lambda_expression body: (_) @body))) @function
(local_variable_declaration declarator: (variable_declarator name: (identifier) @name value: (lambda_expression body: (block) @body))) @function
