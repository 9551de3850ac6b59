; Scala
(identifier) @name
(type_identifier) @type_name
[(comment) (block_comment)] @skip
[(string) (interpolated_string_expression) (integer_literal) (floating_point_literal) (boolean_literal) (character_literal)] @builtin
(package_clause name: (_) @ignore) @package

(field_expression value: (_) @receiver field: (_) @member) @access
(stable_type_identifier . (_) @receiver (type_identifier) @member .) @access
(stable_identifier . (_) @receiver (identifier) @member .) @access
(call_expression function: (_) @callee) @call
(instance_expression [(type_identifier) (generic_type) (stable_type_identifier)] @callee) @construct
(ascription_expression (_) @type .) @construct
(generic_function function: (_) @inner type_arguments: (_) @argument) @generic
(generic_type type: (_) @inner type_arguments: (_) @argument) @generic
(parenthesized_expression (_) @inner) @same
(annotation name: (_) @callee)
(infix_expression operator: (identifier) @callee)

[(block) (indented_block) (for_expression)] @scope
(lambda_expression parameters: (_) @target) @bind @lambda
(binding name: (_) @target type: (_) @type) @bind
(parameter name: (_) @target type: (_) @type) @bind
(class_parameter name: (_) @target type: (_) @type) @field
(enumerator . (_) @target (_) @element .) @bind
(case_clause pattern: (_) @target) @bind @scope
(case_class_pattern type: (_) @argument pattern: (_) @target)
(typed_pattern pattern: (_) @target type: (_) @type)
(val_definition pattern: (_) @target type: (_) @type value: (_) @value) @bind
(var_definition pattern: (_) @target type: (_) @type value: (_) @value) @bind
(val_declaration name: (_) @target type: (_) @type) @bind
(var_declaration name: (_) @target type: (_) @type) @bind
(type_parameters name: (_) @target) @bind
(simple_enum_case name: (_) @target) @constant
(full_enum_case name: (_) @target) @constant
(assignment_expression left: (_) @receiver)

(function_definition return_type: (_) @result)
(function_declaration return_type: (_) @result)
(extends_clause type: (_) @base)
(given_definition return_type: (_) @base)
(type_definition type: (_) @base)
(import_declaration) @import
