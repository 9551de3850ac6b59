; Ruby
[(identifier) (constant) (global_variable)] @name
[(instance_variable) (class_variable)] @own_member
(comment) @skip
[(string) (integer) (float) (simple_symbol) (regex) (true) (false)] @builtin
(self) @this
(super) @super

(call receiver: (_) @receiver method: (_) @member) @call
(scope_resolution scope: (_) @receiver name: (_) @member) @access
(element_reference object: (_) @receiver) @index
(parenthesized_statements (_) @inner) @same
(pair key: (_) @ignore)
(keyword_parameter name: (_) @target) @bind
(optional_parameter name: (_) @target value: (_) @value) @bind
(splat_parameter name: (_) @target) @bind
(hash_splat_parameter name: (_) @target) @bind
(block_parameter name: (_) @target) @bind
(method_parameters [(identifier) (destructured_parameter)] @target) @bind
(lambda_parameters [(identifier) (destructured_parameter)] @target) @bind
(block_parameters [(identifier) (destructured_parameter)] @target) @bind
[(block) (do_block) (lambda)] @lambda
(assignment left: (_) @target right: (_) @value) @bind
(operator_assignment left: (_) @target) @assign
(for pattern: (_) @target value: (_) @element) @bind
(exception_variable (identifier) @target) @bind
(alias name: (_) @target) @field

(class superclass: (_) @base)
(superclass (_) @inner) @same
(method name: (_) @ignore)
(singleton_method name: (_) @ignore)
(return (_) @return)
