; C
(identifier) @name
(type_identifier) @type_name
(field_identifier) @member_name
(comment) @skip
[(string_literal) (concatenated_string) (char_literal) (number_literal) (true) (false) (null)] @builtin
(primitive_type) @builtin

(field_expression argument: (_) @receiver field: (_) @member) @access
(call_expression function: (_) @callee) @call
(cast_expression type: (_) @type) @construct
(compound_literal_expression type: (_) @type) @construct
(subscript_expression argument: (_) @inner) @same
(pointer_expression argument: (_) @inner) @same
[(parenthesized_expression) (type_descriptor)] @same
(type_descriptor type: (_) @inner)
(sizeof_expression type: (_) @type)
(struct_specifier name: (_) @inner) @same
(union_specifier name: (_) @inner) @same
(enum_specifier name: (_) @inner) @same
(field_designator (field_identifier) @key)

[(compound_statement) (for_statement)] @scope
(parameter_list (identifier) @target) @parameter
(parameter_declaration type: (_) @type declarator: (_) @target) @parameter
(preproc_params (identifier) @target) @parameter
(declaration (storage_class_specifier) @local_mark type: (_) @type declarator: (_) @target) @bind
(function_definition (storage_class_specifier) @local_mark type: (_) @result)
(init_declarator declarator: (_) @target value: (_) @value)
(pointer_declarator declarator: (_) @target)
(array_declarator declarator: (_) @target size: (_) @value)
; a function that is declared inside another one is no local variable
(function_declarator declarator: (parenthesized_declarator) @target declarator: (identifier) @ignore parameters: (_) @value)
(attributed_declarator (_) @target)
(assignment_expression left: (_) @inner)

(field_declaration type: (_) @type declarator: (_) @target) @field
(enumerator name: (_) @target value: (_) @value) @constant
(type_definition type: (_) @base declarator: (_) @target)

(preproc_def name: (_) @target) @macro
(preproc_function_def name: (_) @target) @macro
(preproc_arg) @macro_text
(preproc_call argument: (_) @ignore)
(preproc_include) @import
