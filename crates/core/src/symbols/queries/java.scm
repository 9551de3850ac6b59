; Java
(identifier) @name
(type_identifier) @type_name
[(line_comment) (block_comment)] @skip
[(string_literal) (character_literal) (decimal_integer_literal) (hex_integer_literal) (decimal_floating_point_literal) (true) (false) (null_literal)] @builtin
[(integral_type) (floating_point_type) (boolean_type) (void_type)] @builtin
(this) @this
(super) @super
(package_declaration) @package

(field_access object: (_) @receiver field: (identifier) @member) @access
(scoped_identifier scope: (_) @receiver name: (_) @member) @access
(scoped_type_identifier [(type_identifier) (scoped_type_identifier) (generic_type)] @receiver (type_identifier) @member) @access
(method_invocation object: (_) @receiver name: (_) @member) @call
(method_reference (_) @receiver (identifier) @member) @access
(object_creation_expression type: (_) @callee) @call
(cast_expression type: (_) @type value: (_) @value) @construct
(array_creation_expression type: (_) @type)
(array_access array: (_) @receiver) @index
[(parenthesized_expression) (annotated_type)] @same
(array_type element: (_) @inner) @collection
(generic_type [(type_identifier) (scoped_type_identifier)] @inner (type_arguments) @argument) @generic
(marker_annotation name: (_) @type)
(annotation name: (_) @type)
(element_value_pair key: (_) @ignore)

[(block) (constructor_body) (for_statement) (catch_clause) (try_with_resources_statement) (switch_block_statement_group) (switch_rule)] @scope
(lambda_expression parameters: (identifier) @target) @bind @lambda
(inferred_parameters (identifier) @target) @parameter
(enhanced_for_statement type: (_) @type name: (_) @target value: (_) @element) @bind @scope
(formal_parameter type: (_) @type name: (_) @target) @parameter
(spread_parameter (variable_declarator) @target) @parameter
(catch_formal_parameter (catch_type) @type name: (_) @target) @parameter
(catch_type) @union
(resource type: (_) @type name: (_) @target value: (_) @value) @bind
(local_variable_declaration type: (_) @type declarator: (_) @target) @bind
(variable_declarator name: (_) @target value: (_) @value)
(instanceof_expression right: (_) @type name: (_) @target) @bind
(type_pattern (_) @type (identifier) @target) @parameter
(type_parameter (type_identifier) @target (type_bound) @type) @parameter
(type_bound) @union
(labeled_statement (identifier) @ignore)
(break_statement (identifier) @ignore)
(continue_statement (identifier) @ignore)

(field_declaration type: (_) @type declarator: (_) @target) @field
(constant_declaration type: (_) @type declarator: (_) @target) @constant
(enum_constant name: (_) @target) @constant
(method_declaration type: (_) @result name: (_) @ignore)
(constructor_declaration name: (_) @ignore)
(annotation_type_element_declaration type: (_) @result name: (_) @ignore)
(superclass (_) @base)
(super_interfaces (_) @base)
(extends_interfaces (_) @base)

(import_declaration) @import
