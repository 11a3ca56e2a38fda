; Names of streams, structs and functions are visible everywhere; what is declared in a block or a parameter list, in it.

[
  (filter_declaration)
  (composite_declaration)
  (anonymous_filter)
  (anonymous_composite)
  (function)
  (native_function)
  (handler)
  (block)
  (for_statement)
] @local.scope

(parameter name: (identifier) @local.definition.parameter)
(field_declaration declarator: (declarator name: (identifier) @local.definition.field))
(declaration declarator: (declarator name: (identifier) @local.definition.var))
(expression/identifier) @local.reference
