#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the editor support: the grammars, the extension for VS Code, Vim and Neovim.
# Needs node with npm, vim and nvim. Ends with `N passed, M failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# Adds the counts of the last line of a file, and shows what is wrong.
count() {
    local name=$1 file=$2
    if [[ ! -s $file || ! $(tail -n 1 "$file") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
        echo "$name: no result"
        failed=$((failed + 1))
        return
    fi
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
    sed '$d' "$file"
    echo "$name: $(tail -n 1 "$file")"
}

for program in node npm vim nvim; do
    if ! command -v "$program" >/dev/null; then
        echo "editors/test.sh: no program \`$program\`; Debian: apt-get install nodejs npm vim neovim"
        exit 2
    fi
done

if [[ ! -d vscode/node_modules/vscode-textmate ]]; then
    (cd vscode && npm ci --ignore-scripts --no-audit --no-fund --silent)
fi
(cd vscode && node test/run.js) >"$scratch/vscode" || true
count "VS Code" "$scratch/vscode"

export EDITORS=$PWD RESULT LOG=$scratch/log HOME=$scratch
RESULT=$scratch/vim
timeout 120 vim -E -s -N -u NONE -i NONE -S vim/test/check.vim </dev/null >/dev/null 2>&1 || true
count "Vim" "$scratch/vim"
RESULT=$scratch/nvim
timeout 120 nvim --headless -u NONE -i NONE -n -S vim/test/check.vim </dev/null >/dev/null 2>&1 || true
count "Neovim" "$scratch/nvim"
RESULT=$scratch/lsp
timeout 120 nvim --headless -u NONE -i NONE -n -S vim/test/lsp.lua </dev/null >/dev/null 2>&1 || true
count "Neovim, language server" "$scratch/lsp"

echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
