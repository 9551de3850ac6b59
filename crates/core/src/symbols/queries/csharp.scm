; C#
(identifier) @name
(comment) @skip
[(string_literal) (verbatim_string_literal) (raw_string_literal) (character_literal) (integer_literal) (real_literal) (boolean_literal) (predefined_type)] @builtin
"this" @this
"base" @super
(file_scoped_namespace_declaration) @package

(member_access_expression expression: (_) @receiver name: (_) @member) @access
(member_binding_expression name: (_) @member) @access
(qualified_name qualifier: (_) @receiver name: (_) @member) @access
(invocation_expression function: (_) @callee) @call
(object_creation_expression type: (_) @callee) @construct
(cast_expression type: (_) @type value: (_) @value) @construct
(as_expression right: (_) @type) @construct
(attribute name: (_) @callee)
(element_access_expression expression: (_) @receiver) @index
(parenthesized_expression (_) @inner) @same
(await_expression (_) @inner) @same
(postfix_unary_expression . (_) @inner) @same
(nullable_type type: (_) @inner) @same
(array_type type: (_) @inner) @collection
(generic_name . (identifier) @inner (type_argument_list) @argument) @generic
(argument name: (_) @ignore)

[(block) (for_statement) (using_statement) (catch_clause) (switch_section) (switch_expression_arm)] @scope
(lambda_expression parameters: (_) @target) @bind @lambda
(anonymous_method_expression) @lambda
(implicit_parameter) @name
(foreach_statement type: (_) @type left: (_) @target right: (_) @element) @bind @scope
(parameter type: (_) @type name: (_) @target) @parameter
(variable_declaration type: (_) @type (variable_declarator) @target) @bind
(variable_declarator name: (_) @target (bracketed_argument_list) @ignore (identifier) . (_) @value)
(declaration_pattern type: (_) @type name: (_) @target) @bind
(declaration_expression type: (_) @type name: (_) @target) @bind
(catch_declaration type: (_) @type name: (_) @target) @bind
(type_parameter name: (_) @target) @bind
(property_declaration type: (_) @type name: (_) @target) @field
(event_declaration type: (_) @type name: (_) @target) @field
(enum_member_declaration name: (_) @target value: (_) @value) @constant

(method_declaration returns: (_) @result)
(local_function_statement type: (_) @result)
(delegate_declaration type: (_) @result)
(base_list (_) @base)
(primary_constructor_base_type type: (_) @inner) @same
(namespace_declaration name: (_) @ignore)
(labeled_statement . (identifier) @ignore)
(goto_statement (identifier) @ignore)
(using_directive) @import
