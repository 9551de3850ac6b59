; Shell (bash)
(function_definition name: (word) @name) @function
(command name: (command_name . (word) @_m) argument: (_) (#any-of? @_m "source" ".")) @import
