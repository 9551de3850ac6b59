; Rust
(identifier) @name
(type_identifier) @type_name
(field_identifier) @member_name
(shorthand_field_identifier) @name
[(line_comment) (block_comment) (lifetime) (label)] @skip
[(string_literal) (raw_string_literal) (char_literal) (integer_literal) (float_literal) (boolean_literal) (primitive_type)] @builtin
(self) @this
[(crate) (super)] @path_root

(field_expression value: (_) @receiver field: (_) @member) @access
(scoped_identifier path: (_) @receiver name: (_) @member) @access
(scoped_type_identifier path: (_) @receiver name: (_) @member) @access
(call_expression function: (_) @callee) @call
(generic_function function: (_) @callee) @same
(macro_invocation macro: (_) @callee)
(token_tree) @macro_text
(struct_expression name: (_) @type) @construct
(type_cast_expression value: (_) @value type: (_) @type) @construct
(index_expression (_) @receiver) @index
(reference_expression value: (_) @inner) @same
[(try_expression) (await_expression) (parenthesized_expression) (unary_expression)] @same
(reference_type type: (_) @inner) @same
(pointer_type type: (_) @inner) @same
(dynamic_type trait: (_) @inner) @same
(abstract_type trait: (_) @inner) @same
(bracketed_type (_) @inner) @same
(qualified_type type: (_) @inner) @same
(trait_bounds) @union
(array_type element: (_) @inner) @collection
(generic_type type: (_) @inner type_arguments: (_) @argument) @generic
(generic_type_with_turbofish type: (_) @inner type_arguments: (_) @argument) @generic
(type_binding name: (_) @ignore)
(field_initializer field: (_) @key)
(attribute (identifier) @ignore)

[(block) (if_expression) (while_expression) (match_block)] @scope
(closure_expression return_type: (_) @result) @lambda
(closure_parameters [(identifier) (tuple_pattern) (reference_pattern) (tuple_struct_pattern) (struct_pattern) (mut_pattern)] @target) @bind
(for_expression pattern: (_) @target value: (_) @element) @bind @scope
(let_declaration pattern: (_) @target type: (_) @type value: (_) @value) @bind
(let_condition pattern: (_) @target value: (_) @value) @bind
(match_arm pattern: (_) @target) @bind @scope
(match_pattern condition: (_) @value)
(parameter pattern: (_) @target type: (_) @type) @parameter
(type_parameter name: (_) @target bounds: (_) @type) @parameter
(const_parameter name: (_) @target type: (_) @type) @parameter
(where_predicate left: (type_identifier) @target bounds: (_) @type) @parameter
(tuple_struct_pattern type: (_) @type)
(struct_pattern type: (_) @type)
(field_pattern name: (shorthand_field_identifier) @target name: (field_identifier) @key pattern: (_) @target)
[(ref_pattern) (mut_pattern) (reference_pattern)] @same
(mut_pattern (mutable_specifier) @ignore (_) @target)
(reference_pattern (mutable_specifier) @ignore (_) @target)

(function_item return_type: (_) @result)
(function_signature_item return_type: (_) @result)
(const_item name: (_) @target type: (_) @type value: (_) @value) @constant
(static_item name: (_) @target type: (_) @type value: (_) @value) @variable
(field_declaration name: (_) @target type: (_) @type) @field
(enum_variant name: (_) @target) @constant
(macro_definition name: (_) @target) @macro
(token_tree_pattern) @skip
(associated_type name: (_) @ignore)
(trait_item bounds: (_) @base)
(impl_item trait: (_) @base)
(type_item type: (_) @base)

[(use_declaration) (mod_item) (extern_crate_declaration)] @import
