" SPDX-License-Identifier: Apache-2.0
" The program: set g:lemma_path if it is not in $PATH.
function! lemma#Path() abort
    return get(g:, 'lemma_path', 'lemma')
endfunction

" Formats the buffer. If the text cannot be read, it stays as it is and the errors are shown.
function! lemma#Format() abort
    let l:errors = tempname()
    let l:command = shellescape(lemma#Path()) . ' fmt - 2>' . shellescape(l:errors)
    let l:lines = systemlist(l:command, getline(1, '$'))
    if v:shell_error
        echohl ErrorMsg | echo join(readfile(l:errors), "\n") | echohl None
        return
    endif
    if l:lines !=# getline(1, '$')
        let l:view = winsaveview()
        call setline(1, l:lines)
        if line('$') > len(l:lines)
            silent execute (len(l:lines) + 1) . ',$delete _'
        endif
        call winrestview(l:view)
    endif
endfunction
