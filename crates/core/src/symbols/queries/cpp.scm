; C++ and CUDA
(identifier) @name
(namespace_identifier) @name
(type_identifier) @type_name
(field_identifier) @member_name
(comment) @skip
[(string_literal) (raw_string_literal) (concatenated_string) (char_literal) (number_literal) (true) (false) (null)] @builtin
(primitive_type) @builtin
(this) @this

(field_expression argument: (_) @receiver field: [(field_identifier) (destructor_name)] @member) @access
(field_expression field: (_) @inner)
(template_method name: (_) @callee) @same
(qualified_identifier scope: (_) @receiver name: [(identifier) (type_identifier) (operator_name) (destructor_name)] @member name: (_) @inner) @access
(call_expression function: (_) @callee) @call
(template_function name: (_) @callee) @same
(new_expression type: (_) @callee) @call
(cast_expression type: (_) @type value: (_) @value) @construct
(compound_literal_expression type: (_) @type) @construct
(subscript_expression argument: (_) @receiver) @index
(pointer_expression argument: (_) @inner) @same
[(parenthesized_expression) (type_descriptor) (condition_clause)] @same
(type_descriptor type: (_) @inner)
(template_type name: (_) @inner arguments: (_) @argument) @generic
(struct_specifier name: (_) @inner) @same
(class_specifier name: (_) @inner) @same
(union_specifier name: (_) @inner) @same
(enum_specifier name: (_) @inner) @same
(field_designator (field_identifier) @key)
(field_initializer (field_identifier) @key)

[(compound_statement) (for_statement) (if_statement) (while_statement) (catch_clause)] @scope
(lambda_expression) @lambda
(parameter_declaration type: (_) @type declarator: (_) @target) @parameter
(optional_parameter_declaration type: (_) @type declarator: (_) @target default_value: (_) @value) @parameter
(type_parameter_declaration (type_identifier) @target) @parameter
(preproc_params (identifier) @target) @parameter
(for_range_loop type: (_) @type declarator: (_) @target right: (_) @element) @bind @scope
(declaration (storage_class_specifier) @local_mark type: (_) @type declarator: (_) @target value: (_) @value) @bind
(function_definition (storage_class_specifier) @local_mark type: (_) @result)
(init_declarator declarator: (_) @target value: (_) @value)
(pointer_declarator declarator: (_) @target)
(reference_declarator (_) @target)
(array_declarator declarator: (_) @target size: (_) @value)
(function_declarator declarator: (parenthesized_declarator) @target declarator: [(identifier) (field_identifier) (destructor_name) (operator_name)] @ignore parameters: (_) @value)
(destructor_name) @skip

(field_declaration type: (_) @type declarator: (_) @target default_value: (_) @value) @field
(enumerator name: (_) @target value: (_) @value) @constant
(type_definition type: (_) @base declarator: (_) @target)
(alias_declaration name: (_) @ignore type: (_) @base)
(base_class_clause (_) @base)

(preproc_def name: (_) @target) @macro
(preproc_function_def name: (_) @target) @macro
(preproc_arg) @macro_text
(preproc_call argument: (_) @ignore)
(preproc_include) @import
(labeled_statement label: (_) @ignore)
