; Rust
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @type
(enum_item name: (type_identifier) @name) @type
(union_item name: (type_identifier) @name) @type
(type_item name: (type_identifier) @name) @type
(trait_item name: (type_identifier) @name) @interface
(impl_item type: (_) @name) @class
(mod_item name: (identifier) @name body: (_)) @module
(macro_definition name: (identifier) @name) @function
(use_declaration) @import
(mod_item name: (identifier) !body) @import
(extern_crate_declaration) @import
; cfg_x! { pub mod y; }
(macro_invocation (token_tree)) @import
