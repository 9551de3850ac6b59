; Kotlin
(import) @import
(class_declaration "class" name: (identifier) @name [(class_body) (enum_class_body)]? @body) @class
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @interface
(object_declaration name: (identifier) @name (class_body)? @body) @class
(companion_object name: (identifier) @name (class_body)? @body) @class
(companion_object "companion" @name !name (class_body)? @body) @class
(type_alias type: (identifier) @name) @type
(function_declaration
  [(user_type . (identifier) @scope) (nullable_type (user_type . (identifier) @scope))]? .
  name: (identifier) @name (function_body)? @body) @function
(secondary_constructor "constructor" @name (block)? @body) @function
; properties with code
(property_declaration
  [(user_type . (identifier) @scope) (nullable_type (user_type . (identifier) @scope))]? .
  (variable_declaration . (identifier) @name) (getter (function_body)) @body) @function
; functions bound to names
(property_declaration (variable_declaration . (identifier) @name) [(lambda_literal) (anonymous_function)] @body) @function
