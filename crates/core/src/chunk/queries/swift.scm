; Swift. Keep alternations of operators out: they make the query take seconds to compile
(function_declaration) @function
(protocol_function_declaration) @function
(init_declaration "init" @name) @function
(deinit_declaration "deinit" @name) @function
(subscript_declaration "subscript" @name) @function
(macro_declaration "macro" . (simple_identifier) @name) @function
; a property is a function when it has accessors, or when its value is a closure
(property_declaration name: (pattern) @name [
  computed_value: (_) @body
  value: (lambda_literal) @body
  (willset_didset_block) @body]) @function
(class_declaration declaration_kind: ["class" "struct" "actor" "extension"]) @class
(class_declaration declaration_kind: "enum") @type
(protocol_declaration) @interface
(typealias_declaration "typealias" . (_) @name) @type
(import_declaration) @import
