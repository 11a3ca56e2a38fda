; Made from editors/tree-sitter-sluice/queries/folds.scm by the tests: change that file.

[
  (filter_body)
  (struct_body)
  (static_body)
  (native_body)
  (helper_body)
  (block)
  (switch_statement)
  (array)
  (comment)
] @fold
