; Go
(identifier) @name
(type_identifier) @type_name
(field_identifier) @member_name
(package_identifier) @name
(comment) @skip
[(interpreted_string_literal) (raw_string_literal) (rune_literal) (int_literal) (float_literal) (true) (false)] @builtin
(package_clause) @package

(selector_expression operand: (_) @receiver field: (_) @member) @access
(qualified_type package: (_) @receiver name: (_) @member) @access
(call_expression function: (_) @callee) @call
(type_conversion_expression type: (_) @type) @construct
(composite_literal type: (_) @type) @construct
(type_assertion_expression operand: (_) @value type: (_) @type) @construct
(index_expression operand: (_) @receiver) @index
(slice_expression operand: (_) @inner) @same
(unary_expression operand: (_) @inner) @same
[(parenthesized_expression) (parenthesized_type) (pointer_type)] @same
[(slice_type) (array_type) (implicit_length_array_type)] @collection
(slice_type element: (_) @inner)
(array_type element: (_) @inner)
(implicit_length_array_type element: (_) @inner)
(map_type value: (_) @inner) @collection
(channel_type value: (_) @inner) @collection
(generic_type type: (_) @inner type_arguments: (_) @argument) @generic
(parameter_list (parameter_declaration) @inner) @same
(keyed_element key: (_) @key)

[(block) (if_statement) (for_statement) (expression_switch_statement) (type_switch_statement) (expression_case) (type_case) (default_case) (communication_case)] @scope
(func_literal result: (_) @result) @lambda
(parameter_declaration name: (_) @target type: (_) @type) @bind
(variadic_parameter_declaration name: (_) @target type: (_) @type) @bind
(type_parameter_declaration name: (_) @target) @bind
(short_var_declaration left: (_) @target right: (_) @value) @bind
(var_spec name: (_) @target type: (_) @type value: (_) @value) @bind
(const_spec name: (_) @target type: (_) @type value: (_) @value) @constant
(range_clause left: (_) @target right: (_) @element) @bind
(receive_statement left: (_) @target right: (_) @element) @bind
(type_switch_statement alias: (_) @target) @bind
(function_declaration result: (_) @result)
(method_declaration result: (_) @result)
(method_elem result: (_) @result)

(field_declaration name: (_) @target type: (_) @type) @field
(method_elem name: (_) @ignore)
(type_elem (_) @base)
(labeled_statement label: (_) @ignore)
(label_name) @skip

(import_spec name: (_) @alias path: (_) @module) @import
