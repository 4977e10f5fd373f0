" SPDX-License-Identifier: Apache-2.0
" NNEF 1.0 is indented like SkriptND.
runtime! indent/sknd.vim
