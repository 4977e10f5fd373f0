-- SPDX-License-Identifier: Apache-2.0
-- Checks lemma.lua in Neovim with the server of this folder. Writes what is wrong and
-- `N passed, M failed` to $RESULT.
local editors, log = vim.env.EDITORS, vim.env.LOG
vim.opt.runtimepath:prepend(editors .. "/vim")
vim.cmd("filetype plugin indent on")

local passed, faults = 0, {}
local function check(holds, text)
    if holds then
        passed = passed + 1
    else
        table.insert(faults, text)
    end
end

local lemma = require("lemma")
local example = vim.fn.fnamemodify(editors, ":h") .. "/examples/bert_layer"
check(lemma.root(example .. "/attention.sknd") == example, "the root of a module is its model")
check(lemma.root("/nowhere/net.sknd") == "/nowhere", "the root of a single file is its folder")
check(table.concat(lemma.command({ path = "a", arguments = { "-b" } }), " ") == "a lsp -b", "command")

local attached = 0
lemma.setup({
    path = editors .. "/vim/test/server.py",
    arguments = { "--log=x" },
    on_attach = function() attached = attached + 1 end,
})
vim.cmd("edit " .. example .. "/main.sknd")
vim.wait(5000, function() return attached == 1 end, 20)
vim.cmd("edit " .. example .. "/attention.sknd")
vim.wait(5000, function() return attached == 2 end, 20)
check(attached == 2, "attached " .. attached .. " times, expected 2")

local function seen(line)
    local lines = vim.fn.filereadable(log) == 1 and vim.fn.readfile(log) or {}
    return #vim.tbl_filter(function(one) return one == line end, lines)
end
vim.wait(5000, function() return seen("textDocument/didOpen") == 2 end, 20)
check(seen("arguments lsp --log=x") == 1, "one server, with its arguments")
check(seen("root " .. example) == 1, "the server knows the folder of the model")
check(seen("textDocument/didOpen") == 2, "both files are open in it")
for _, client in pairs(vim.lsp.get_active_clients()) do
    client.stop(true)
end

table.insert(faults, string.format("%d passed, %d failed", passed, #faults))
vim.fn.writefile(faults, vim.env.RESULT)
vim.cmd("qall!")
