; Elixir: definitions are calls, so the keyword decides
(call target: (identifier) @_k . (arguments . (alias) @name) . (do_block) @body
  (#any-of? @_k "defmodule" "defimpl")) @module
(call target: (identifier) @_k . (arguments . (alias) @name) . (do_block) @body
  (#eq? @_k "defprotocol")) @interface
; def f(x), def f
(call target: (identifier) @_k . (arguments . [(call target: (identifier) @name) (identifier) @name])
  (#any-of? @_k "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp")) @function
; def f(x) when …
(call target: (identifier) @_k . (arguments . (binary_operator left: [(call target: (identifier) @name) (identifier) @name] operator: "when"))
  (#any-of? @_k "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defn" "defnp")) @function
; def a ~> b
(call target: (identifier) @_k . (arguments . (binary_operator left: (identifier) operator: _ @name right: (identifier)))
  (#any-of? @_k "def" "defp" "defmacro" "defmacrop") (#not-eq? @name "when")) @function
(call target: (identifier) @_k . (arguments . (string . (quoted_content) @name)) . (do_block) @body
  (#any-of? @_k "test" "property")) @function
(unary_operator operand: (call target: (identifier) @_k . (arguments . [(string) (sigil)]))
  (#any-of? @_k "doc" "moduledoc" "typedoc")) @doc
(unary_operator operand: (call target: (identifier) @_k . (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")))
  (#any-of? @_k "type" "typep" "opaque")) @type
(call target: (identifier) @_k . (arguments . [(alias) (dot)])
  (#any-of? @_k "import" "alias" "require" "use")) @import
