; Names are those of the tree-sitter manual and of Neovim. No node is captured twice, so that it does not matter whether an editor lets the
; first pattern win or the last. editors/helix has the same patterns under Helix's names, made from this file.

; Comments and literals

(comment) @comment
(string) @string
(character) @character
(escape_sequence) @string.escape
(integer) @number
[(real) (imaginary)] @number.float
[(true) (false)] @boolean
(pi) @constant.builtin

; Types

(primitive_type) @type.builtin
(portal_type "portal" @type.builtin stream: (identifier) @type)
(type (identifier) @type)
(struct_declaration name: (identifier) @type.definition)

; Streams

(filter_declaration name: (identifier) @constructor)
(composite_declaration name: (identifier) @constructor)
((stream name: (identifier) @constructor)
  (#not-any-of? @constructor "Identity" "FileReader" "FileWriter"))
((stream name: (identifier) @type.builtin)
  (#any-of? @type.builtin "Identity" "FileReader" "FileWriter"))
[(native_declaration name: (identifier) @module) (helper_declaration name: (identifier) @module)]

; Functions

(function name: (identifier) @function)
(native_function name: (identifier) @function)
(handler name: (identifier) @function.method)
((call_expression function: (identifier) @function.builtin)
  (#any-of? @function.builtin
    "abs" "acos" "acosh" "arg" "asin" "asinh" "atan" "atan2" "atanh" "ceil" "cos" "cosh" "csqrt" "exp" "expm1" "floor" "fmod" "log"
    "log10" "max" "min" "pow" "print" "println" "rint" "round" "sin" "sinh" "sqrt" "tan" "tanh"))
((call_expression function: (identifier) @function.call)
  (#not-any-of? @function.call
    "abs" "acos" "acosh" "arg" "asin" "asinh" "atan" "atan2" "atanh" "ceil" "cos" "cosh" "csqrt" "exp" "expm1" "floor" "fmod" "log"
    "log10" "max" "min" "pow" "print" "println" "rint" "round" "sin" "sinh" "sqrt" "tan" "tanh"))
(method name: (identifier) @function.method.call)
["pop" "peek" "push" "iter"] @function.builtin

; Variables

(parameter name: (identifier) @variable.parameter)
(declarator name: (identifier) @variable)
(member_expression member: (identifier) @variable.member)

; Keywords

["import"] @keyword.import
["filter" "pipeline" "splitjoin" "feedbackloop" "struct" "native" "helper"] @keyword.type
["stateful" "static"] @keyword.modifier
["init" "prework" "work" "handler"] @keyword.function
["add" "body" "loop" "split" "join" "duplicate" "roundrobin" "enqueue" "to"] @keyword
["if" "else" "switch" "case" "default"] @keyword.conditional
["for" "while" "do" "break" "continue"] @keyword.repeat
["return"] @keyword.return

; Signs

[
  "=" "+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" "||" "&&" "&" "|" "^" "==" "!=" "<=" ">=" "+" "-" "*" "/" "%" "<<" ">>"
  "!" "~" "++" "--" "->"
] @operator
(binary_expression operator: ["<" ">"] @operator)
(ternary_expression ["?" ":"] @operator)
[";" "," "."] @punctuation.delimiter
(latency ":" @punctuation.delimiter)
(case_label ":" @punctuation.delimiter)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
(type_arguments ["<" ">"] @punctuation.bracket)
(portal_type ["<" ">"] @punctuation.bracket)
