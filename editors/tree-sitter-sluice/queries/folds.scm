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
