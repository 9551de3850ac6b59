; Haskell
(variable) @name
(name) @type_name
(constructor) @constructor_name
(module_id) @name
(module (module_id) @inner .) @same
[(comment) (haddock) (pragma)] @skip
[(literal) (string) (integer) (float) (char)] @builtin
(header) @skip

(qualified module: (_) @receiver id: (_) @member) @access
(apply function: (_) @callee) @call
(infix operator: (infix_id) @callee)
(infix_id (_) @callee)
(parens expression: (_) @inner) @same

[(do) (match)] @scope
(function name: (_) @ignore patterns: (_) @target) @bind
(lambda patterns: (_) @target) @bind @lambda
(alternative pattern: (_) @target) @bind @scope
(bind name: (_) @target pattern: (_) @target) @bind
(generator pattern: (_) @target expression: (_) @element) @bind
(as bind: (_) @target) @bind
(type_params bind: (_) @target) @parameter
(signature name: (_) @ignore)
(data_type name: (_) @ignore)
(newtype name: (_) @ignore)
(type_synonym name: (_) @ignore)
(class name: (_) @ignore)
(field name: (_) @target type: (_) @type) @field
(prefix name: (_) @target) @constant
(record name: (_) @target) @constant
(newtype_constructor name: (_) @target) @constant
(gadt_constructor name: (_) @target) @constant
(field_update field: (_) @key)

(instance name: (_) @base)
(import module: (_) @module) @import
(import_name variable: (_) @imported type: (_) @imported)
