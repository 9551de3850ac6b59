; PHP
(name) @name
(variable_name) @name
(relative_scope) @name
(comment) @skip
[(string) (encapsed_string) (integer) (float) (boolean) (heredoc) (nowdoc)] @builtin
(namespace_definition name: (_) @ignore) @package

(member_access_expression object: (_) @receiver name: (_) @member) @access
(nullsafe_member_access_expression object: (_) @receiver name: (_) @member) @access
(class_constant_access_expression . (_) @receiver (name) @member .) @access
(scoped_property_access_expression scope: (_) @receiver name: (_) @member) @access
(member_call_expression object: (_) @receiver name: (_) @member) @call
(nullsafe_member_call_expression object: (_) @receiver name: (_) @member) @call
(scoped_call_expression scope: (_) @receiver name: (_) @member) @call
(function_call_expression function: (_) @callee) @call
(object_creation_expression . [(name) (qualified_name)] @callee) @construct
(attribute (name) @callee)
(subscript_expression . (_) @receiver) @index
(qualified_name prefix: (_) @ignore (name) @inner .) @same
[(parenthesized_expression) (optional_type) (named_type)] @same
(union_type) @union
(argument name: (_) @ignore)

[(anonymous_function) (arrow_function)] @lambda
(catch_clause type: (_) @type name: (_) @target) @bind
(simple_parameter type: (_) @type name: (_) @target) @bind
(variadic_parameter type: (_) @type name: (_) @target) @bind
(property_promotion_parameter visibility: (_) @field_mark type: (_) @type name: (_) @target) @bind
(anonymous_function_use_clause (variable_name) @target) @bind
(assignment_expression left: (_) @target right: (_) @value) @bind
(foreach_statement . (_) @element [(variable_name) (pair) (by_ref) (list_literal)] @target) @bind
(property_declaration type: (_) @type (property_element) @target) @field
(property_element name: (_) @target default_value: (_) @value)
(const_element . (name) @target (name) . (_) @value) @constant
(enum_case name: (_) @target) @constant

(function_definition return_type: (_) @result)
(method_declaration return_type: (_) @result)
(base_clause (_) @base)
(class_interface_clause (_) @base)
(use_declaration [(name) (qualified_name)] @base)
(namespace_use_declaration) @import
