; Kotlin
(identifier) @name
[(line_comment) (block_comment)] @skip
[(string_literal) (multiline_string_literal) (number_literal) (float_literal) (character_literal)] @builtin
(this_expression) @this
(super_expression) @super
(package_header) @package

(navigation_expression . (_) @receiver (identifier) @member .) @access
(call_expression . (_) @callee) @call
(callable_reference (identifier) @callee .)
(annotation (user_type) @callee)
(index_expression . (_) @receiver) @index
(as_expression (_) @type .) @construct
[(parenthesized_expression) (nullable_type) (parenthesized_type) (non_nullable_type)] @same
(unary_expression (_) @inner) @same
(user_type (identifier) @inner .) @generic
(user_type (identifier) @inner (type_arguments) @argument)
(type_projection (_) @inner .) @same
(value_argument (_) @inner .)
(value_argument (identifier) @ignore)

[(block) (for_statement) (when_expression) (when_entry) (catch_block)] @scope
[(lambda_literal) (anonymous_function)] @lambda
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @result)
(getter [(user_type) (nullable_type)] @result)
(parameter . (identifier) @target [(user_type) (nullable_type) (function_type)] @type) @bind
(class_parameter ["val" "var"] @field_mark (identifier) @target [(user_type) (nullable_type) (function_type)] @type) @parameter
(variable_declaration . (identifier) @target [(user_type) (nullable_type) (function_type)] @type)
(property_declaration [(variable_declaration) (multi_variable_declaration)] @target (variable_declaration) . (_) @value) @bind
(when_subject (variable_declaration) @target (variable_declaration) . (_) @value) @bind
(lambda_parameters [(variable_declaration) (multi_variable_declaration)] @target) @bind
(for_statement [(variable_declaration) (multi_variable_declaration)] @target (variable_declaration) . (_) @element) @bind
(catch_block . (identifier) @target) @bind
(type_parameter (identifier) @target) @bind
(enum_entry (identifier) @target) @constant

(delegation_specifier (_) @base)
(constructor_invocation (user_type) @inner) @same
(type_alias type: (_) @ignore (user_type) @base)
(label) @skip
(import) @import
