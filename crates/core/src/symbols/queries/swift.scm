; Swift
(simple_identifier) @name
(type_identifier) @type_name
[(comment) (multiline_comment) (value_argument_label)] @skip
[(line_string_literal) (multi_line_string_literal) (integer_literal) (real_literal) (boolean_literal)] @builtin
(self_expression) @this
(super_expression) @super

(navigation_expression target: (_) @receiver suffix: (_) @member) @access
(navigation_suffix suffix: (_) @inner) @same
(call_expression . (_) @callee) @call
(constructor_expression constructed_type: (_) @callee) @construct
(as_expression (_) @type .) @construct
(attribute (user_type) @callee)
(optional_type wrapped: (_) @inner) @same
(postfix_expression target: (_) @inner) @same
(try_expression expr: (_) @inner) @same
(await_expression expr: (_) @inner) @same
(tuple_expression value: (_) @inner) @same
(type_annotation (_) @inner .) @same
(array_type (_) @inner) @collection
(dictionary_type value: (_) @inner) @collection
(user_type (type_identifier) @inner .) @generic
(user_type (type_identifier) @inner (type_arguments) @argument)

[(for_statement) (if_statement) (while_statement) (do_statement) (catch_block) (switch_entry) (statements)] @scope
(lambda_literal) @lambda
(lambda_parameter name: (simple_identifier) @target [(user_type) (optional_type) (array_type)] @type) @bind
(parameter external_name: (_) @ignore name: (simple_identifier) @target [(user_type) (optional_type) (array_type) (dictionary_type)] @type) @parameter
(property_declaration name: (_) @target (type_annotation) @type value: (_) @value) @bind
(protocol_property_declaration name: (_) @target (type_annotation) @type) @field
(pattern (value_binding_pattern) @ignore bound_identifier: (_) @target)
(for_statement item: (_) @target (type_annotation) @type collection: (_) @element) @bind
(if_statement bound_identifier: (_) @target (simple_identifier) . condition: (_) @value) @bind
(guard_statement bound_identifier: (_) @target (simple_identifier) . condition: (_) @value) @bind
(while_statement bound_identifier: (_) @target) @bind
(switch_pattern (_) @target) @bind
(type_parameter (type_identifier) @target) @bind
(enum_entry name: (_) @target raw_value: (_) @value) @constant
(associatedtype_declaration name: (_) @target) @field

(function_declaration "->" . [(user_type) (optional_type) (array_type) (dictionary_type)] @result)
(protocol_function_declaration "->" . [(user_type) (optional_type) (array_type) (dictionary_type)] @result)
(inheritance_specifier inherits_from: (_) @base)
(typealias_declaration "=" . (user_type) @base)
(import_declaration) @import
