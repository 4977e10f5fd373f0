-- SPDX-License-Identifier: Apache-2.0
-- The language server in Neovim 0.7, as Debian 12 has it. Prints `N passed, M failed`.
--
--     LEMMA=build/release/lemma nvim --headless --clean -S tests/lsp/neovim_test.lua
local lemma = vim.env.LEMMA
local folder = vim.fn.tempname()
vim.fn.mkdir(folder, "p")
vim.env.XDG_CACHE_HOME = folder .. "/cache"

local lines = {
    "import nn;",
    "",
    "graph main {",
    "    @input {",
    "        x: real[1, 8];",
    "    }",
    "    @output {",
    "        y: real[1, 8];",
    "    }",
    "    @compose {",
    "        h = nn.rely(x);",
    "        y = nn.relu(h);",
    "    }",
    "}",
}
vim.fn.writefile(lines, folder .. "/main.sknd")

local passed, failed = 0, 0
local function test(name, run)
    local good, problem = pcall(run)
    if good then
        passed = passed + 1
    else
        failed = failed + 1
        io.stdout:write(name .. ": " .. tostring(problem) .. "\n")
    end
end
local function wait(what, condition)
    assert(vim.wait(10000, condition, 10), "timed out: " .. what)
end

vim.cmd("edit " .. folder .. "/main.sknd")
local buffer = vim.api.nvim_get_current_buf()
vim.bo[buffer].filetype = "skriptnd"
local client = vim.lsp.start_client({ name = "lemma", cmd = { lemma, "lsp" }, root_dir = folder })
assert(client, "the server does not start")
vim.lsp.buf_attach_client(buffer, client)

local function line(number)
    return vim.api.nvim_buf_get_lines(buffer, number - 1, number, true)[1]
end
local function set(number, text)
    vim.api.nvim_buf_set_lines(buffer, number - 1, number, true, { text })
end
local function go(row, column)
    vim.api.nvim_win_set_cursor(0, { row, column })
end
local function request(method, params)
    local all, problem = vim.lsp.buf_request_sync(buffer, method, params, 10000)
    assert(all, problem)
    local answer = all[client]
    assert(answer and not answer.err, vim.inspect(answer))
    return answer.result
end
local function here()
    return vim.lsp.util.make_position_params(0, vim.lsp.get_client_by_id(client).offset_encoding)
end

test("diagnostics", function()
    wait("a diagnostic", function() return #vim.diagnostic.get(buffer) > 0 end)
    local found = vim.diagnostic.get(buffer)[1]
    assert(found.lnum == 10 and found.message:find("no operator"), vim.inspect(found))
    set(11, "        h = nn.relu(x);")
    wait("no diagnostics", function() return #vim.diagnostic.get(buffer) == 0 end)
end)

test("hover", function()
    go(11, 16)
    local text = request("textDocument/hover", here()).contents.value
    assert(text:find("operator relu") and text:find("f32%[1,8%]"), text)
    vim.lsp.buf.hover()
    wait("the window", function() return #vim.api.nvim_list_wins() > 1 end)
    for _, window in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(window).relative ~= "" then
            vim.api.nvim_win_close(window, true)
        end
    end
end)

test("completion", function()
    set(12, "        y = nn.sof")
    go(12, 18)
    vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
    local items = request("textDocument/completion", here())
    local labels = vim.tbl_map(function(item) return item.label end, items.items)
    assert(vim.tbl_contains(labels, "softmax"), vim.inspect(labels))
    set(12, "        y = nn.relu(h);")
end)

test("definition", function()
    go(12, 20)
    assert(line(12):sub(21, 21) == "h", line(12))
    vim.lsp.buf.definition()
    wait("the jump", function() return vim.api.nvim_win_get_cursor(0)[1] == 11 end)
    go(12, 16)
    vim.lsp.buf.definition()
    wait("the library", function() return vim.fn.expand("%:p"):find("stdlib") ~= nil end)
    assert(vim.api.nvim_get_current_line():find("operator relu"))
    vim.cmd("buffer " .. buffer)
end)

test("rename", function()
    go(11, 8)
    vim.lsp.buf.rename("hidden")
    wait("the new name", function() return line(12) == "        y = nn.relu(hidden);" end)
    assert(line(11) == "        h" .. "idden = nn.relu(x);", line(11))
end)

test("format", function()
    set(12, "  y=nn.relu( hidden );")
    vim.lsp.buf.formatting_sync(nil, 10000)
    assert(line(12) == "        y = nn.relu(hidden);", line(12))
end)

-- The lines of the page for a Neovim without the plug-in.
test("documented lines", function()
    local here = debug.getinfo(1, "S").source:sub(2):match("(.*)/") or "."
    local page = table.concat(vim.fn.readfile(here .. "/../../docs/howto/set-up-an-editor.md"), "\n")
    local code
    for block in page:gmatch("```lua\n(.-)```") do
        if block:find("setfiletype", 1, true) then code = block end
    end
    vim.env.PATH = vim.fn.fnamemodify(lemma, ":p:h") .. ":" .. vim.env.PATH
    assert(load(code))()
    local changed = vim.deepcopy(lines)
    changed[11] = "        h = nn.reli(x);"
    vim.fn.writefile(changed, folder .. "/other.sknd")
    vim.cmd("edit! " .. folder .. "/other.sknd")
    assert(vim.bo.filetype == "sknd", vim.bo.filetype)
    wait("its diagnostics", function() return #vim.diagnostic.get(0) == 1 end)
    vim.lsp.stop_client(vim.lsp.get_active_clients())
    vim.cmd("buffer! " .. buffer)
end)

vim.lsp.stop_client(client)
wait("the end", function() return vim.lsp.client_is_stopped(client) end)
io.stdout:write(passed .. " passed, " .. failed .. " failed\n")
vim.fn.delete(folder, "rf")
vim.cmd(failed == 0 and "qall!" or "cquit 1")
