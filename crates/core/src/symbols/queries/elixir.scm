; Elixir
(identifier) @called_name
(alias) @name
[(comment) (sigil)] @skip
[(string) (charlist) (integer) (float) (boolean) (atom)] @builtin

(dot left: (_) @receiver right: (_) @member) @access
(call target: (_) @callee) @call
(access_call target: (_) @receiver) @index
(unary_operator "@" . (_) @ignore)
(pair key: (_) @ignore)
