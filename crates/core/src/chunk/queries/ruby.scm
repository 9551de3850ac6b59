; Ruby
(method name: (_) @name) @function
(singleton_method object: (self) name: (_) @name) @function
(singleton_method object: [(constant) (scope_resolution) (identifier)] @scope name: (_) @name) @function
(class name: (_) @name) @class
(module name: (_) @name) @module
; Point = Struct.new(:x) do … end
(assignment left: (constant) @name right: (call receiver: (constant) block: (_) @body)) @class
; f = ->(x) { … }
(assignment left: [(identifier) (constant)] @name right: (lambda body: (_) @body)) @function
(call method: (identifier) @_m
  arguments: (argument_list . (simple_symbol) @name)
  block: (_) @body
  (#any-of? @_m "define_method" "define_singleton_method")) @function
(call !receiver method: (identifier) @_m arguments: (argument_list . (string))
  (#any-of? @_m "require" "require_relative" "load")) @import
