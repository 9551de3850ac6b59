; Shell (bash)
(word) @called_name
(variable_name) @name
(comment) @skip
[(raw_string) (number)] @builtin

(command_name (word) @callee)
(variable_assignment name: (_) @target value: (_) @value) @bind
(declaration_command (variable_name) @target) @bind
(for_statement variable: (_) @target) @bind
