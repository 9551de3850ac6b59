; Lua
(function_declaration name: (identifier) @name) @function
(function_declaration name: (dot_index_expression table: (_) @scope field: (_) @name)) @function
(function_declaration name: (method_index_expression table: (_) @scope method: (_) @name)) @function
; local f = function() … end, M.f = function() … end
(assignment_statement
  (variable_list . name: (identifier) @name)
  (expression_list . value: (function_definition body: (_)? @body))) @function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @scope field: (_) @name))
  (expression_list . value: (function_definition body: (_)? @body))) @function
; { f = function() … end }
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @function
(variable_declaration (assignment_statement (expression_list . value:
  (function_call name: (identifier) @_m arguments: (arguments . (string))))) (#eq? @_m "require")) @import
(chunk (function_call name: (identifier) @_m arguments: (arguments . (string))) @import (#eq? @_m "require"))
