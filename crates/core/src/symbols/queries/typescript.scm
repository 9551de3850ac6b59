; TypeScript and JavaScript, with JSX
(identifier) @name
(type_identifier) @type_name
(shorthand_property_identifier) @name
(jsx_opening_element name: (_) @callee)
(jsx_self_closing_element name: (_) @callee)
[(comment) (hash_bang_line)] @skip
[(string) (number) (regex) (true) (false)] @builtin
(template_string) @builtin
(this) @this
(super) @super
(this_type) @this_type

(member_expression object: (_) @receiver property: (_) @member) @access
(nested_type_identifier module: (_) @receiver name: (_) @member) @access
(nested_identifier object: (_) @receiver property: (_) @member) @access
(call_expression function: (_) @callee) @call
(new_expression constructor: (_) @callee) @call
(decorator (identifier) @callee)
(subscript_expression object: (_) @receiver) @index
[(parenthesized_expression) (await_expression) (non_null_expression) (parenthesized_type) (readonly_type) (optional_type)] @same
(type_annotation (_) @inner) @same
(as_expression (_) @inner) @same
(satisfies_expression (_) @inner) @same
(array_type (_) @inner) @collection
(generic_type name: (_) @inner type_arguments: (type_arguments) @argument) @generic
[(union_type) (intersection_type)] @union
(instantiation_expression (_) @inner) @same

[(statement_block) (class_static_block) (switch_body) (for_statement) (catch_clause)] @scope
[(arrow_function) (function_expression) (generator_function)] @lambda
(for_in_statement left: (_) @target right: (_) @element) @bind @scope
(arrow_function parameter: (_) @target return_type: (_) @result) @bind
(function_declaration return_type: (_) @result)
(generator_function_declaration return_type: (_) @result)
(function_signature return_type: (_) @result)
(function_expression return_type: (_) @result)
(method_definition return_type: (_) @result)
(method_signature return_type: (_) @result)
(abstract_method_signature return_type: (_) @result)
(function_type parameters: (_) @ignore)
(return_statement (_) @return)

(variable_declarator name: (_) @target type: (_) @type value: (_) @value) @bind
(required_parameter pattern: (_) @target type: (_) @type value: (_) @value (accessibility_modifier) @field_mark) @bind
(optional_parameter pattern: (_) @target type: (_) @type value: (_) @value (accessibility_modifier) @field_mark) @bind
(formal_parameters (identifier) @target) @bind
(catch_clause parameter: (_) @target) @bind
(type_parameter name: (_) @target) @bind
(assignment_expression left: (_) @target right: (_) @value) @assign
(assignment_pattern left: (_) @target right: (_) @value)
(object_assignment_pattern right: (_) @value)
(pair_pattern key: (_) @ignore)

(public_field_definition name: (_) @target type: (_) @type value: (_) @value) @field
(field_definition property: (_) @target value: (_) @value) @field
(property_signature name: (_) @target type: (_) @type) @field
(enum_body name: (_) @target) @constant
(enum_assignment name: (_) @target) @constant
(property_identifier) @member_name
(private_property_identifier) @member_name
(pair key: (_) @ignore)
(jsx_attribute (property_identifier) @ignore)
(labeled_statement label: (_) @ignore)
(method_definition name: (_) @ignore)
(method_signature name: (_) @ignore)
(abstract_method_signature name: (_) @ignore)

(extends_clause value: (_) @base)
(extends_type_clause type: (_) @base)
(implements_clause (_) @base)
(class_heritage (identifier) @base)
(type_alias_declaration value: (_) @base)

(import_statement source: (string) @module) @import
(import_clause (identifier) @default)
(namespace_import (identifier) @namespace)
(import_specifier name: (_) @imported alias: (_) @alias)
(export_specifier name: (_) @imported alias: (_) @alias)
(namespace_export (identifier) @namespace)
(export_statement source: (string) @module value: (_) @exported declaration: (_) @exported) @export
