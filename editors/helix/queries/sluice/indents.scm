; Made from editors/tree-sitter-sluice/queries/indents.scm by the tests: change that file.

; Labels stand under their `switch`, what belongs to them one step further, as `sluice fmt` lays them out.

[
  (filter_body)
  (struct_body)
  (static_body)
  (native_body)
  (helper_body)
  (block)
  (case)
  (array)
  (parameters)
  (arguments)
] @indent

(filter_body "}" @outdent)
(struct_body "}" @outdent)
(static_body "}" @outdent)
(native_body "}" @outdent)
(helper_body "}" @outdent)
(block "}" @outdent)
(array "}" @outdent)
(parameters ")" @outdent)
(arguments ")" @outdent)
