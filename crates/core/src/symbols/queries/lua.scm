; Lua
(identifier) @name
[(comment) (hash_bang_line)] @skip
[(string) (number) (true) (false)] @builtin

(dot_index_expression table: (_) @receiver field: (_) @member) @access
(method_index_expression table: (_) @receiver method: (_) @member) @access
(bracket_index_expression table: (_) @receiver) @index
(function_call name: (_) @callee) @call
(parenthesized_expression (_) @inner) @same
(field name: (_) @ignore)

[(block) (for_statement)] @scope
(function_definition) @lambda
(parameters name: (_) @target) @bind
(for_generic_clause (variable_list) @target (expression_list) @element) @bind
(for_numeric_clause name: (_) @target) @bind
(assignment_statement (variable_list) @target (expression_list) @value) @bind
(variable_declaration (variable_list) @target) @bind
(return_statement (expression_list) @inner)
(label_statement) @skip
(goto_statement) @skip
