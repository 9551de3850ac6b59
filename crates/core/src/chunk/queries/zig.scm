; Zig
(function_declaration name: (identifier) @name) @function
(variable_declaration (identifier) @name . [(struct_declaration) (opaque_declaration)] @body) @class
(variable_declaration (identifier) @name . [(enum_declaration) (union_declaration) (error_set_declaration)] @body) @type
(test_declaration [(string (string_content) @name) (identifier) @name] . (block) @body) @function
(variable_declaration (identifier) . (builtin_function (builtin_identifier) @_m) (#eq? @_m "@import")) @import
(variable_declaration (identifier) . (field_expression object: (builtin_function (builtin_identifier) @_m)) (#eq? @_m "@import")) @import
