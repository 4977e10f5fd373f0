" SPDX-License-Identifier: Apache-2.0
autocmd BufRead,BufNewFile *.sknd setfiletype sknd
autocmd BufRead,BufNewFile *.nnef setfiletype nnef
