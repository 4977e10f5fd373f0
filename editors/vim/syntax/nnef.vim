" SPDX-License-Identifier: Apache-2.0
" Vim syntax file of NNEF 1.0
if exists('b:current_syntax')
    finish
endif

syntax keyword nnefImport version extension
syntax keyword nnefStructure graph fragment
syntax keyword nnefType tensor integer scalar logical string
syntax keyword nnefBuiltin shape_of length_of range_of
syntax keyword nnefRepeat for in yield
syntax keyword nnefConditional if else
syntax keyword nnefBoolean true false

syntax match nnefCall /\<\h\w*\ze\s*\%(<[^<>;]*>\)\=\s*(/ contains=nnefType,nnefBuiltin
syntax match nnefNumber /\<\d\+\%(\.\d*\)\=\%([eE][+-]\=\d\+\)\=/
syntax match nnefOperator /->\|[-+*\/^<>=!&|?]=\=/
syntax region nnefString start=/'/ end=/'/ oneline
syntax region nnefString start=/"/ end=/"/ oneline
syntax match nnefComment /#.*$/ contains=@Spell

highlight default link nnefImport Include
highlight default link nnefStructure Structure
highlight default link nnefType Type
highlight default link nnefBuiltin Function
highlight default link nnefRepeat Repeat
highlight default link nnefConditional Conditional
highlight default link nnefBoolean Boolean
highlight default link nnefCall Function
highlight default link nnefNumber Number
highlight default link nnefOperator Operator
highlight default link nnefString String
highlight default link nnefComment Comment

let b:current_syntax = 'nnef'
