" SPDX-License-Identifier: Apache-2.0
" Checks the Vim files in Vim or Neovim, without a screen. $EDITORS is the folder `editors`. Prints what
" is wrong and `N passed, M failed`, into $RESULT.
set nocompatible nomore
let &runtimepath = $EDITORS . '/vim,' . &runtimepath
filetype plugin indent on
syntax on

let s:passed = 0
let s:faults = []

function! s:Check(holds, text) abort
    if a:holds
        let s:passed += 1
    else
        call add(s:faults, a:text)
    endif
endfunction

" The syntax group of a word in a line; the first occurrence counts.
function! s:Group(line, word) abort
    let l:column = match(getline(a:line), '\V' . escape(a:word, '\'))
    return synIDattr(synID(a:line, l:column + 1, 1), 'name')
endfunction

function! s:Sample() abort
    execute 'edit' fnameescape($EDITORS . '/vscode/test/sample.sknd')
    call s:Check(&filetype ==# 'sknd', 'sample.sknd has the file type ' . &filetype)
    let l:wanted = [
                \ [1, 'sample', 'skndComment'], [2, 'import', 'skndImport'],
                \ [4, 'public', 'skndModifier'], [4, 'operator', 'skndStructure'],
                \ [4, 'sample', 'skndDefinition'], [5, '@dtype', 'skndBlock'], [5, 'num', 'skndType'],
                \ [7, '3', 'skndNumber'], [9, 'a ', 'skndString'], [9, '\n', 'skndEscape'],
                \ [9, '1', 'skndNumber'], [17, '1e-3', 'skndFloat'], [17, '>>', 'skndOperator'],
                \ [18, 'is 1', 'skndWordOperator'], [18, 'in tail', 'skndWordOperator'],
                \ [19, 'is =', ''], [19, '.shape', 'skndMember'], [24, '`exp`', 'skndBuiltin'],
                \ [25, 'pi', 'skndConstant'], [28, 'math.add', 'skndCall'],
                \ [29, 'with', 'skndRepeat'], [29, 'yield', 'skndStatement'],
                \ [30, 'if', 'skndConditional'], [30, 'true', 'skndBoolean'], [35, '@nothing', '']]
    for [l:line, l:word, l:group] in l:wanted
        let l:real = s:Group(l:line, l:word)
        call s:Check(l:real ==# l:group, printf('sample.sknd:%d: `%s` is %s, expected %s', l:line,
                    \ l:word, empty(l:real) ? 'nothing' : l:real, empty(l:group) ? 'nothing' : l:group))
    endfor
    execute 'edit' fnameescape($EDITORS . '/vscode/test/sample.nnef')
    call s:Check(&filetype ==# 'nnef', 'sample.nnef has the file type ' . &filetype)
    for [l:line, l:word, l:group] in [[2, 'version', 'nnefImport'], [5, 'fragment', 'nnefStructure'],
                \ [5, 'tensor', 'nnefType'], [7, 'for', 'nnefRepeat'], [7, 'shape_of', 'nnefBuiltin'],
                \ [12, 'external', 'nnefCall'], [13, 'ignore', 'nnefString']]
        let l:real = s:Group(l:line, l:word)
        call s:Check(l:real ==# l:group, printf('sample.nnef:%d: `%s` is %s, expected %s', l:line,
                    \ l:word, empty(l:real) ? 'nothing' : l:real, l:group))
    endfor
endfunction

" Files as `lemma fmt` writes them keep their indentation.
function! s:Indentation(file) abort
    execute 'edit!' fnameescape(a:file)
    let l:before = getline(1, '$')
    silent normal! gg=G
    let l:after = getline(1, '$')
    let l:changed = filter(range(len(l:before)), 'l:before[v:val] !=# l:after[v:val]')
    call s:Check(empty(l:changed), empty(l:changed) ? '' : printf('%s:%d: indented as `%s`', a:file,
                \ l:changed[0] + 1, l:after[l:changed[0]]))
    set nomodified
endfunction

function! s:NoErrors(file) abort
    let v:errmsg = ''
    execute 'edit!' fnameescape(a:file)
    call cursor('$', 1)
    call synID(line('$'), 1, 1)
    call s:Check(empty(v:errmsg) && exists('b:current_syntax'), a:file . ': ' . v:errmsg)
endfunction

" :LemmaFormat with a program that sorts the lines, and with one that fails.
function! s:Format() abort
    let l:program = tempname()
    let g:lemma_path = l:program
    call writefile(['#!/bin/sh', 'sort'], l:program)
    call setfperm(l:program, 'rwx------')
    enew!
    setfiletype sknd
    call setline(1, ['c', 'b', 'a'])
    LemmaFormat
    call s:Check(getline(1, '$') ==# ['a', 'b', 'c'], 'the buffer is not formatted')
    call writefile(['#!/bin/sh', 'echo wrong', 'echo no >&2', 'exit 1'], l:program)
    LemmaFormat
    call s:Check(getline(1, '$') ==# ['a', 'b', 'c'], 'a failure changes the buffer')
    call writefile(['#!/bin/sh', 'echo one'], l:program)
    LemmaFormat
    call s:Check(getline(1, '$') ==# ['one'], 'lines are left behind')
    call s:Check(&makeprg =~# ' check --brief ', 'makeprg is ' . &makeprg)
    set nomodified
    unlet g:lemma_path
endfunction

try
    call s:Sample()
    call s:Format()
    let s:root = fnamemodify($EDITORS, ':h')
    let s:examples = globpath(s:root, 'examples/**/*.sknd', 0, 1)
    let s:files = globpath(s:root, 'stdlib/**/*.sknd', 0, 1) + s:examples
    call s:Check(len(s:files) > 50, 'only ' . len(s:files) . ' files')
    for s:file in s:files + globpath(s:root, 'examples/**/*.nnef', 0, 1)
        call s:NoErrors(s:file)
    endfor
    for s:file in s:examples + globpath(s:root, 'examples/**/*.nnef', 0, 1)
        call s:Indentation(s:file)
    endfor
catch
    call add(s:faults, v:exception . ' at ' . v:throwpoint)
endtry
let s:last = printf('%d passed, %d failed', s:passed, len(s:faults))
call writefile(s:faults + [s:last], $RESULT)
qall!
