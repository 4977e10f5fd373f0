" SPDX-License-Identifier: Apache-2.0
" Four spaces for each open bracket, and for the further lines of a statement, as `lemma fmt` does.
if exists('b:did_indent')
    finish
endif
let b:did_indent = 1

setlocal indentexpr=SkndIndent()
setlocal indentkeys=0{,0},0),0],o,O,!^F
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*SkndIndent')
    finish
endif

" A line without strings and comments.
function! s:Code(number) abort
    let l:text = substitute(getline(a:number), '"\%(\\.\|[^"\\]\)*"\|''\%(\\.\|[^''\\]\)*''', '_', 'g')
    return substitute(l:text, '\s*#.*$', '', '')
endfunction

function! s:Count(text, pattern) abort
    return len(substitute(a:text, '[^' . a:pattern . ']', '', 'g'))
endfunction

" The line that opens the bracket around a line, by its indentation; 0 if there is none.
function! s:Opener(number) abort
    let l:line = prevnonblank(a:number - 1)
    while l:line > 0 && (indent(l:line) >= indent(a:number) || s:Code(l:line) !~# '\S')
        let l:line = prevnonblank(l:line - 1)
    endwhile
    return l:line
endfunction

" Whether a line leaves its statement open. Items of lists and attributes do not, nor do the local
" values in front of a formula, though they end with a comma.
function! s:IsOpen(number) abort
    let l:code = s:Code(a:number)
    if l:code =~# '[;{}(\[]\s*$' || l:code !~# '\S'
        return 0
    endif
    let l:next = nextnonblank(a:number + 1)
    if l:code =~# '^\s*\%(public\|operator\|graph\|fragment\)\>' || getline(l:next) =~# '^\s*{'
        return 0
    endif
    if l:code =~# ',\s*$' && l:code =~# '^\s*\h\w*\s*=[^=]'
        return 0
    endif
    let l:opener = s:Opener(a:number)
    if l:opener > 0 && s:Code(l:opener) =~# '[(\[]\s*$\|\w{\s*$'
        return 0
    endif
    return 1
endfunction

function! SkndIndent() abort
    let l:before = prevnonblank(v:lnum - 1)
    while l:before > 0 && s:Code(l:before) !~# '\S'
        let l:before = prevnonblank(l:before - 1)
    endwhile
    if l:before == 0
        return 0
    endif
    let l:code = s:Code(l:before)
    let l:indent = indent(l:before)
    let l:above = prevnonblank(l:before - 1)
    while l:above > 0 && s:Code(l:above) !~# '\S'
        let l:above = prevnonblank(l:above - 1)
    endwhile
    let l:continues = l:above > 0 && s:IsOpen(l:above)
    let l:opened = s:Count(l:code, '{([') - s:Count(l:code, '})\]')
    if l:code =~# '^\s*[})\]]'
        let l:opened += 1
    endif
    if l:opened > 0
        let l:indent += shiftwidth()
    elseif l:opened < 0
        let l:indent += l:opened * shiftwidth()
    elseif s:IsOpen(l:before) && !l:continues
        let l:indent += shiftwidth()
    elseif !s:IsOpen(l:before) && l:continues && l:code =~# ';\s*$'
        let l:indent -= shiftwidth()
    endif
    if s:Code(v:lnum) =~# '^\s*[})\]]'
        let l:indent -= shiftwidth()
    endif
    return max([l:indent, 0])
endfunction
