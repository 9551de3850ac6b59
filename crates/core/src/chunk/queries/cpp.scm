; C++
(preproc_include) @import
(preproc_function_def name: (identifier) @name value: (preproc_arg)? @body) @function
(namespace_definition name: (_) @name) @module

(class_specifier name: [
  (type_identifier) @name
  (template_type name: (type_identifier) @name)
  (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: (type_identifier) @name)] body: (_)) @class
(struct_specifier name: [
  (type_identifier) @name
  (template_type name: (type_identifier) @name)
  (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: (type_identifier) @name)] body: (_)) @class
(union_specifier name: (type_identifier) @name body: (_)) @type
(enum_specifier name: [(type_identifier) @name (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: (type_identifier) @name)] body: (_)) @type
(concept_definition name: (identifier) @name) @interface
(alias_declaration name: (type_identifier) @name) @type
; class EXPORT_MACRO Name { ... } reads as a function
(function_definition type: [(class_specifier !body) (struct_specifier !body)] declarator: (identifier) @name) @class

; functions, methods, operators, with or without Scope::
((function_definition declarator: [
  (function_declarator declarator: [
    (identifier) @name (field_identifier) @name (destructor_name) @name (operator_name) @name
    (template_function name: (identifier) @name)
    (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: [(identifier) @name (destructor_name) @name (operator_name) @name (template_function name: (identifier) @name)])
    (qualified_identifier name: (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: [(identifier) @name (destructor_name) @name (operator_name) @name]))
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: [(identifier) @name (destructor_name) @name (operator_name) @name])))])
  (pointer_declarator declarator: [
   (function_declarator declarator: [
     (template_function name: (identifier) @name)
    (identifier) @name (field_identifier) @name (operator_name) @name
    (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: [(identifier) @name (operator_name) @name])
    (qualified_identifier name: (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: [(identifier) @name (operator_name) @name]))])
   (pointer_declarator declarator: (function_declarator declarator: [(identifier) @name (field_identifier) @name (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: (identifier) @name)]))])
  (reference_declarator
   (function_declarator declarator: [
     (template_function name: (identifier) @name)
    (identifier) @name (field_identifier) @name (operator_name) @name
    (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: [(identifier) @name (operator_name) @name])
    (qualified_identifier name: (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: [(identifier) @name (operator_name) @name]))]))
  (operator_cast) @name
  (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: (operator_cast) @name)
  (parenthesized_declarator (identifier) @name)]) @function
 (#not-any-of? @name "if" "while" "for" "switch" "catch"))

; prototypes (the engine drops those inside a function: they may be variables)
(declaration declarator: [(function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name) (pointer_declarator declarator: (function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name)) (reference_declarator (function_declarator declarator: [(identifier) (destructor_name) (operator_name)] @name))]) @function
(field_declaration_list (declaration declarator: (operator_cast) @name) @function)
; methods declared in a class
(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) (operator_name)] @name)
  (pointer_declarator declarator: [(function_declarator declarator: [(field_identifier) (operator_name)] @name) (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name))])
  (reference_declarator (function_declarator declarator: [(field_identifier) (operator_name)] @name))]) @function
((ERROR (function_declarator declarator: [
  (identifier) @name (field_identifier) @name (destructor_name) @name
  (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: [(identifier) (destructor_name) (operator_name)] @name)]) @function)
 (#not-any-of? @name "if" "while" "for" "switch" "catch"))
; a body of bare macro calls reads as an initializer
(declaration declarator: (init_declarator declarator: (function_declarator declarator: [
  (identifier) @name
  (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: (identifier) @name)
  (qualified_identifier name: (qualified_identifier scope: [(namespace_identifier) @scope (template_type name: (type_identifier) @scope)] name: (identifier) @name))]) value: (initializer_list) @body)) @function

; lambdas bound to a name
(declaration declarator: (init_declarator declarator: (identifier) @name value: (lambda_expression body: (_) @body))) @function

; typedef: the first declarator gives the name
(type_definition type: (_) . (type_qualifier)? . declarator: [
  (type_identifier) @name
  (primitive_type) @name
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: [
    (type_identifier) @name
    (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))])
  (pointer_declarator declarator: [
    (type_identifier) @name
    (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))])
  (reference_declarator (type_identifier) @name)]) @type
; MACRO Type* name(…) { ... } reads as a qualified name
(function_definition declarator: (qualified_identifier name: (pointer_type_declarator declarator: (function_declarator declarator: (type_identifier) @name)))) @function
; void Foo::bar() MACRO(x) { ... } reads as a declaration
(declaration declarator: [
  (function_declarator declarator: (qualified_identifier scope: (_) @scope name: [(identifier) (destructor_name) (operator_name)] @name))
  (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier scope: (_) @scope name: (identifier) @name)))
  (reference_declarator (function_declarator declarator: (qualified_identifier scope: (_) @scope name: (identifier) @name)))]) @function
