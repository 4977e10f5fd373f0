-- SPDX-License-Identifier: Apache-2.0
-- lemma.lua — the language server in Neovim, from 0.7 on:
--     require("lemma").setup({ path = "lemma", arguments = {}, on_attach = function(client, buffer) end })
local M = {}

local defaults = { path = "lemma", arguments = {}, filetypes = { "sknd", "nnef" }, on_attach = nil }
local clients = {} -- by the folder of the model

-- The folder of a model: the nearest one with a main file, otherwise that of the file.
function M.root(file)
    local folder = vim.fn.fnamemodify(file, ":p:h")
    local at = folder
    while at ~= "" do
        for _, main in ipairs({ "main.sknd", "graph.nnef" }) do
            if vim.fn.filereadable(at .. "/" .. main) == 1 then
                return at
            end
        end
        local above = vim.fn.fnamemodify(at, ":h")
        if above == at then
            break
        end
        at = above
    end
    return folder
end

-- The command line of the server.
function M.command(options)
    local command = { options.path, "lsp" }
    for _, argument in ipairs(options.arguments) do
        table.insert(command, argument)
    end
    return command
end

local function attach(buffer, options)
    local root = M.root(vim.api.nvim_buf_get_name(buffer))
    local client = clients[root]
    if not client then
        client = vim.lsp.start_client({
            name = "lemma",
            cmd = M.command(options),
            root_dir = root,
            on_attach = options.on_attach,
            on_exit = function()
                clients[root] = nil
            end,
        })
        clients[root] = client
    end
    if client then
        vim.lsp.buf_attach_client(buffer, client)
    end
end

function M.setup(options)
    options = vim.tbl_extend("force", defaults, options or {})
    if vim.fn.executable(options.path) == 0 then
        vim.notify("lemma: no program `" .. options.path .. "`", vim.log.levels.WARN)
        return
    end
    local group = vim.api.nvim_create_augroup("lemma", { clear = true })
    vim.api.nvim_create_autocmd("FileType", {
        group = group,
        pattern = options.filetypes,
        callback = function(event)
            attach(event.buf, options)
        end,
    })
end

return M
