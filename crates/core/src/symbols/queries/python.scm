; Python
(identifier) @name
(comment) @skip
[(string) (concatenated_string) (integer) (float) (true) (false)] @builtin

(attribute object: (_) @receiver attribute: (_) @member) @access
(call function: (_) @callee) @call
(decorator (identifier) @callee)
(subscript value: (_) @receiver) @index
(generic_type (identifier) @inner (type_parameter) @argument) @generic
[(parenthesized_expression) (await)] @same
(type (_) @inner) @same
(binary_operator) @union
(union_type) @union
(keyword_argument name: (_) @ignore)

(lambda parameters: (_) @target) @bind @lambda
[(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
(for_in_clause left: (_) @target right: (_) @element) @bind
(for_statement left: (_) @target right: (_) @element) @bind
(assignment left: (_) @target type: (_) @type right: (_) @value) @bind
(named_expression name: (_) @target value: (_) @value) @bind
(augmented_assignment left: (_) @target) @assign
(parameters (identifier) @target) @bind
(default_parameter name: (_) @target value: (_) @value) @bind
(typed_parameter (identifier) @target type: (_) @type) @bind
(typed_default_parameter name: (_) @target type: (_) @type value: (_) @value) @bind
(list_splat_pattern (identifier) @target) @bind
(dictionary_splat_pattern (identifier) @target) @bind
(as_pattern alias: (_) @target (_) @value) @bind
(as_pattern_target (_) @inner) @same
(global_statement (_) @ignore)
(nonlocal_statement (_) @ignore)

(function_definition return_type: (_) @result)
(return_statement (_) @return)
(class_definition superclasses: (_) @base)
(type_alias_statement right: (_) @base)

(import_statement name: (dotted_name) @imported) @import
(import_from_statement module_name: (_) @module name: (dotted_name) @imported) @import
(import_from_statement (wildcard_import) @wildcard)
(aliased_import name: (_) @imported alias: (_) @alias)
(future_import_statement) @skip
