" SPDX-License-Identifier: Apache-2.0
if exists('b:did_ftplugin')
    finish
endif
let b:did_ftplugin = 1

setlocal commentstring=#\ %s
setlocal comments=:#
setlocal expandtab shiftwidth=4 softtabstop=4
setlocal textwidth=100 formatoptions-=t formatoptions+=croql
let &l:makeprg = escape(lemma#Path(), " ") . " check --brief %:S"
setlocal errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%f:%l:%c:\ %tote:\ %m

command! -buffer LemmaFormat call lemma#Format()

let b:undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop<'
            \ . ' textwidth< formatoptions< makeprg< errorformat< | silent! delcommand LemmaFormat'
