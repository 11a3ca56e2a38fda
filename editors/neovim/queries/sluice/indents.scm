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
] @indent.begin

(filter_body "}" @indent.end)
(struct_body "}" @indent.end)
(static_body "}" @indent.end)
(native_body "}" @indent.end)
(helper_body "}" @indent.end)
(block "}" @indent.end)
(array "}" @indent.end)
(parameters ")" @indent.end)
(arguments ")" @indent.end)

(filter_body "}" @indent.branch)
(struct_body "}" @indent.branch)
(static_body "}" @indent.branch)
(native_body "}" @indent.branch)
(helper_body "}" @indent.branch)
(block "}" @indent.branch)
(array "}" @indent.branch)
(parameters ")" @indent.branch)
(arguments ")" @indent.branch)

(comment) @indent.auto
