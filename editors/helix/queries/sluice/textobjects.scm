(filter_declaration body: (_) @class.inside) @class.around
(composite_declaration body: (_) @class.inside) @class.around
(struct_declaration body: (_) @class.inside) @class.around
(work body: (_) @function.inside) @function.around
(init body: (_) @function.inside) @function.around
(handler body: (_) @function.inside) @function.around
(function body: (_) @function.inside) @function.around
(parameters (parameter) @parameter.inside)
(arguments (expression) @parameter.inside)
(comment) @comment.inside
(comment)+ @comment.around
