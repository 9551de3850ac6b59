; Zig
(identifier) @name
(comment) @skip
[(string) (multiline_string) (integer) (float) (boolean) (character) (builtin_type)] @builtin

(field_expression object: (_) @receiver member: (_) @member) @access
(call_expression function: (_) @callee) @call
(builtin_function (builtin_identifier) @callee) @call
(struct_initializer . (_) @callee) @construct
(index_expression object: (_) @receiver) @index
(dereference_expression (_) @inner) @same
[(pointer_type) (nullable_type) (try_expression) (parenthesized_expression)] @same
(error_union_type ok: (_) @inner) @same
(slice_type (_) @inner .) @collection
(array_type (_) @inner .) @collection

[(block) (for_statement) (if_statement) (while_statement) (switch_case)] @scope
(variable_declaration . (identifier) @target type: (_) @type (_) @value .) @bind
(parameter name: (_) @target type: (_) @type) @bind
(for_statement . (_) @element (payload) @target) @bind
(if_statement condition: (_) @value (payload) @target) @bind
(while_statement (payload) @target) @bind
(catch_expression (payload) @target) @bind
(switch_case (payload) @target) @bind
(container_field name: (_) @target type: (_) @type) @field
(error_set_declaration (identifier) @target) @constant

(function_declaration type: (_) @result)
