" SPDX-License-Identifier: Apache-2.0
" Vim syntax file of SkriptND (NNEF 2.0)
if exists('b:current_syntax')
    finish
endif

syntax keyword skndImport import as
syntax keyword skndStructure operator graph
syntax keyword skndModifier public optional static dynamic
syntax keyword skndType type arith num int real bool str
syntax keyword skndConditional if then elif else
syntax keyword skndRepeat with for while do unroll
syntax keyword skndStatement yield
syntax keyword skndBoolean true false
syntax keyword skndConstant inf pi

" `is` and `in` are operators between operands, and names elsewhere.
syntax match skndWordOperator /\v[[:alnum:]_\)\]"']\s+\zs%(is|in)\ze\s+[[:alnum:]_\(\["'`?!+-]/

syntax match skndBlock /@\%(dtype\|attrib\|input\|using\|constant\|variable\|output\|assert\)\>/
syntax match skndBlock /@\%(lower\|compose\|update\|quantize\)\>/
syntax match skndBuiltin /`\%(abs\|sign\|sqrt\|exp\|log\|sin\|cos\|tan\|asin\|acos\|atan\)`/
syntax match skndBuiltin /`\%(sinh\|cosh\|tanh\|asinh\|acosh\|atanh\|erf\|round\|floor\|ceil\|frac\)`/

syntax match skndCall /\<\h\w*\%(\.\h\w*\)*\ze\%(<\h\w*\%(,\s*\h\w*\)*>\)\=[{(]/
            \ contains=skndType,skndRepeat,skndConditional
syntax match skndDefinition /\%(\<\%(operator\|graph\)\s\+\)\@<=\h\w*/
syntax match skndMember /\.\%(shape\|rank\|size\)\>/
syntax match skndNumber /\<\d\+\>/
syntax match skndFloat /\<\d\+\.\.\@!\d*\%([eE][+-]\=\d\+\)\=/
syntax match skndFloat /\<\d\+[eE][+-]\=\d\+/
syntax match skndOperator /\.\.\.\=\|<>\|->\|<-\|=>\|[<>]?=\=\|<<\|>>\|[-+*\/\\%<>=!&|^?~:]=\=/

syntax region skndString start=/"/ skip=/\\./ end=/"/ contains=skndEscape,skndEmbedded
syntax region skndString start=/'/ skip=/\\./ end=/'/ contains=skndEscape,skndEmbedded
syntax match skndEscape /\\["'\\{}nt]/ contained
syntax region skndEmbedded matchgroup=skndEscape start=/{/ end=/}/ contained
            \ contains=skndNumber,skndFloat,skndOperator,skndBuiltin,skndMember,skndBoolean
syntax region skndFold start=/{/ end=/}/ transparent fold
syntax match skndComment /#.*$/ contains=skndTodo,@Spell
syntax keyword skndTodo contained TODO FIXME NOTE

highlight default link skndImport Include
highlight default link skndStructure Structure
highlight default link skndModifier StorageClass
highlight default link skndType Type
highlight default link skndConditional Conditional
highlight default link skndRepeat Repeat
highlight default link skndStatement Statement
highlight default link skndBoolean Boolean
highlight default link skndConstant Constant
highlight default link skndWordOperator Operator
highlight default link skndBlock PreProc
highlight default link skndBuiltin Function
highlight default link skndCall Function
highlight default link skndDefinition Identifier
highlight default link skndMember Special
highlight default link skndNumber Number
highlight default link skndFloat Float
highlight default link skndOperator Operator
highlight default link skndString String
highlight default link skndEscape SpecialChar
highlight default link skndComment Comment
highlight default link skndTodo Todo

" Strings may span lines, and blocks are long.
syntax sync minlines=200

let b:current_syntax = 'sknd'
