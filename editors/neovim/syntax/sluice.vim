" Colours without the tree-sitter parser (:SluiceInstallParser).
if exists('b:current_syntax')
  finish
endif
syn keyword sluiceConditional if else switch case default
syn keyword sluiceRepeat for while do break continue
syn keyword sluiceStatement return template
syn keyword sluiceStructure filter pipeline splitjoin feedbackloop struct native helper static stateful handler init prework work
syn keyword sluiceInclude import
syn keyword sluiceKeyword add body loop split join duplicate roundrobin enqueue to
syn keyword sluiceType bit boolean complex double float float2 float3 float4 int portal void
syn keyword sluiceChannel push pop peek iter
syn keyword sluiceConstant true false pi
syn match sluiceNumber '\v<0[xX]\x+>|\v<\d+>'
syn match sluiceFloat '\v(<\d+)?\.\d+([eE][-+]?\d+)?[fFi]?>|<\d+[eE][-+]?\d+[fFi]?>|<\d+[fFi]>'
syn match sluiceEscape '\v\\(\o{1,3}|x\x*|.)' contained
syn region sluiceString start='"' skip='\\.\|\\$' end='"' end='$' contains=sluiceEscape
syn region sluiceCharacter start="'" skip='\\.' end="'" end='$' contains=sluiceEscape
syn match sluiceComment '//.*$' contains=@Spell
syn region sluiceComment start='/\*' end='\*/' contains=@Spell
hi def link sluiceConditional Conditional
hi def link sluiceRepeat Repeat
hi def link sluiceStatement Statement
hi def link sluiceStructure Structure
hi def link sluiceInclude Include
hi def link sluiceKeyword Keyword
hi def link sluiceType Type
hi def link sluiceChannel Function
hi def link sluiceConstant Constant
hi def link sluiceNumber Number
hi def link sluiceFloat Float
hi def link sluiceString String
hi def link sluiceCharacter Character
hi def link sluiceEscape SpecialChar
hi def link sluiceComment Comment
let b:current_syntax = 'sluice'
