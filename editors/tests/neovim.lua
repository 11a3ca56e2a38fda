-- Drives Neovim as a person does, and reads its screen back:
--
--   SLUICE=target/release/sluice nvim --clean --headless -c 'luafile editors/tests/neovim.lua'
--
-- Not with -l: that has no screen. Without SLUICE only what needs no compiler is tried. SLUICE_SCREENS names a folder for the screens
-- as text. The last line says how many checks there were; the exit code is 1 where one failed.
local root = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p'))))
local command = vim.env.SLUICE and vim.fn.fnamemodify(vim.env.SLUICE, ':p')
local folder = vim.fn.tempname()
vim.fn.mkdir(folder, 'p')
vim.opt.runtimepath:prepend(root .. '/editors/neovim')
-- What ftdetect does where the plugin is there from the start.
vim.cmd('filetype plugin indent on')
vim.cmd('runtime! ftdetect/*.lua')
vim.o.columns, vim.o.lines, vim.o.swapfile, vim.o.more = 140, 60, false, false

local passed, failed, skipped = 0, {}, 0

local function screen()
  vim.cmd('redraw!')
  local rows = {}
  for row = 1, vim.o.lines do
    local cells = {}
    for column = 1, vim.o.columns do
      cells[#cells + 1] = vim.fn.screenstring(row, column)
    end
    rows[#rows + 1] = (table.concat(cells):gsub('%s+$', ''))
  end
  return table.concat(rows, '\n')
end

local function keep(name)
  if not vim.env.SLUICE_SCREENS then return end
  vim.fn.mkdir(vim.env.SLUICE_SCREENS, 'p')
  vim.fn.writefile(vim.split(screen(), '\n'), vim.fs.joinpath(vim.env.SLUICE_SCREENS, name .. '.txt'))
end

local function wait(what, about, milliseconds)
  local found
  vim.wait(milliseconds or 15000, function()
    found = what()
    return found
  end, 20)
  if not found then error('waited in vain for ' .. about .. '\n' .. screen(), 2) end
  return found
end

local function check(truth, about)
  if not truth then error(about .. '\n' .. screen(), 2) end
end

local function test(name, does, needs)
  if needs ~= nil and not needs then
    skipped = skipped + 1
    io.stdout:write('SKIPPED ' .. name .. ': SLUICE names no compiler\n')
    return
  end
  local ok, why = xpcall(does, debug.traceback)
  if ok then
    passed = passed + 1
    io.stdout:write('ok ' .. name .. '\n')
  else
    failed[#failed + 1] = name
    io.stdout:write('FAILED ' .. name .. ': ' .. tostring(why) .. '\n')
  end
  keep(name:gsub('%W+', '-'))
end

local function lines()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n')
end

--- Writes a program, opens it as a person would.
local function open(name, text)
  local path = vim.fs.joinpath(folder, name)
  vim.fn.writefile(vim.split(text, '\n'), path)
  vim.cmd('silent! only!')
  vim.cmd('edit! ' .. vim.fn.fnameescape(path))
  return path
end

--- Puts the cursor on the first place of a text, or at its end.
local function go(text, at_end)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  check(vim.fn.search('\\V' .. vim.fn.escape(text, '\\'), 'cW' .. (at_end and 'e' or '')) > 0, 'no “' .. text .. '”')
end

local function keys(typed)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(typed, true, false, true), 'xt', false)
end

local PROGRAM = [[
// Counts.
void->int filter Source {
    int n;
    work push 2 {
        push(n++);
        push(n);
    }
}

int->int filter Scale(int by) {
    work push 1 pop 1 {
        push(pop() * by);
    }
}

int->void filter Sink {
    work pop 1 {
        println(pop());
    }
}

void->void pipeline Main {
    add Source;
    add Scale(3);
    add Sink;
}]]

local sluice = require('sluice')

test('files have the type', function()
  open('type.str', PROGRAM)
  check(vim.bo.filetype == 'sluice', 'filetype is ' .. vim.bo.filetype)
  check(vim.bo.commentstring == '// %s' and vim.bo.shiftwidth == 4, 'options')
end)

test('colours without a parser', function()
  local plain = vim.api.nvim_get_runtime_file('parser/sluice.so', false)
  if #plain == 0 then
    go('filter')
    local name = vim.fn.synIDattr(vim.fn.synID(vim.fn.line('.'), vim.fn.col('.'), 1), 'name')
    check(name == 'sluiceStructure', 'filter is ' .. name)
  end
end)

test('the parser is compiled, colours and folds come from it', function()
  sluice.install_parser()
  open('type.str', PROGRAM)
  local function capture(text)
    go(text)
    local at = vim.api.nvim_win_get_cursor(0)
    local found = vim.treesitter.get_captures_at_pos(0, at[1] - 1, at[2])
    return found[#found] and found[#found].capture
  end
  vim.treesitter.get_parser(0, 'sluice'):parse(true)
  for text, wanted in pairs({
    ['// Counts'] = 'comment', filter = 'keyword.type', Source = 'constructor', work = 'keyword.function', push = 'function.builtin',
    println = 'function.builtin', int = 'type.builtin', by = 'variable.parameter', add = 'keyword', ['3)'] = 'number',
  }) do
    check(capture(text) == wanted, ('%s is %s, not %s'):format(text, capture(text), wanted))
  end
  check(vim.wo.foldmethod == 'expr', 'no folds')
  wait(function() return vim.fn.foldlevel(5) == 2 end, 'folds')
end)

test('indentation is the formatter’s', function()
  for _, name in ipairs({ 'examples/fm.str', 'examples/dtmf/src/decoder.str', 'examples/equalizer.str' }) do
    vim.cmd('silent! only!')
    vim.cmd('edit! ' .. root .. '/' .. name)
    local before = lines()
    vim.cmd('silent normal! gg=G')
    local after = vim.split(lines(), '\n')
    for i, line in ipairs(vim.split(before, '\n')) do
      check(line == after[i], ('%s:%d: %q became %q'):format(name, i, line, after[i]))
    end
    vim.cmd('edit!')
  end
end)

test('make fills the quickfix list', function()
  sluice.options.command = command
  open('wrong.str', 'void->int filter Source {\n    work push 1 {\n        push(nothing);\n    }\n}')
  vim.cmd('compiler sluice')
  vim.cmd('silent make!')
  local list = vim.fn.getqflist()
  local places = vim.tbl_filter(function(item) return item.valid == 1 end, list)
  check(#places > 0 and places[1].lnum == 3 and places[1].col == 14, vim.inspect(list))
  check(vim.fn.bufname(places[1].bufnr):match('wrong%.str$'), vim.inspect(places))
  check(places[1].text:match('nothing'), places[1].text)
end, command ~= nil)

local serves = command ~= nil and vim.system({ command, 'lsp', '--help' }):wait().code == 0

local function client()
  return vim.lsp.get_clients({ bufnr = 0, name = 'sluice' })[1]
end

--- Asks the server, in the way of this Neovim.
local function ask(method, params)
  local one = client()
  if vim.fn.has('nvim-0.11') == 1 then return one:request_sync(method, params, 10000, 0) end
  return one.request_sync(method, params, 10000, 0)
end

local function opened(name, text)
  local path = open(name, text)
  wait(client, 'the server')
  return path
end

test('the server starts, hints are on the screen', function()
  sluice.setup({ command = command })
  opened('p.str', PROGRAM)
  wait(function() return screen():match('add Source;?[^\n]*×') end, 'a hint at “add Source”')
  -- Two items in each firing of the source: the others fire twice.
  wait(function() return screen():match('add Scale[^\n]*×2') end, 'repetitions')
end, serves)

test('the interval is on the screen when it is ready', function()
  wait(function() return screen():match('pipeline Main[^\n]*II %d+') end, 'the initiation interval behind the header', 30000)
end, serves)

test('lenses are on the screen', function()
  -- In this order, whatever the editor sorts them by.
  wait(function() return screen():match('Run | [^\n]*Graph | Schedule | II %d') end, 'lenses')
end, serves)

test('hints are toggled', function()
  vim.cmd('SluiceToggleHints')
  wait(function() return not screen():match('add Scale[^\n]*×') end, 'no hints')
  vim.cmd('SluiceToggleHints')
  wait(function() return screen():match('add Scale[^\n]*×') end, 'hints again')
end, serves)

test('hover says rates', function()
  go('Scale(3)')
  vim.lsp.buf.hover()
  wait(function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        local text = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, true), '\n')
        return text:match('Scale') and text:match('1→1')
      end
    end
  end, 'a window with rates')
  keep('hover')
  keys('<Esc>jk')
  vim.cmd('fclose!')
end, serves)

test('diagnostics follow typing, and go', function()
  check(#vim.diagnostic.get(0) == 0, vim.inspect(vim.diagnostic.get(0)))
  go('pop() * by', true)
  keys('axyz<Esc>')
  local told = wait(function()
    local all = vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })
    return #all > 0 and all
  end, 'a diagnostic')
  check(told[1].source == 'sluice' and tostring(told[1].code):match('^E%d%d%d%d$'), vim.inspect(told))
  check(told[1].message:match('byxyz'), told[1].message)
  keep('diagnostic')
  vim.cmd('silent undo')
  wait(function() return #vim.diagnostic.get(0) == 0 end, 'no diagnostic')
end, serves)

test('rename reaches every place', function()
  go('Scale(int')
  vim.lsp.buf.rename('Amplify')
  wait(function() return lines():match('filter Amplify%(') and lines():match('add Amplify%(3%)') end, 'the new name')
  check(not lines():match('Scale'), lines())
end, serves)

test('definition leads to the stream', function()
  go('Amplify(3')
  vim.lsp.buf.definition()
  wait(function() return vim.fn.getline('.'):match('filter Amplify') end, 'the declaration')
end, serves)

test('a buffer that was hidden shows what is true now', function()
  opened('part.str', 'int->int filter Part {\n    work push 1 pop 1 { push(pop()); }\n}')
  opened('whole.str', 'import "part.str";\n\nvoid->int filter Source {\n    work push 1 { push(1); }\n}\n\nvoid->void pipeline Whole {\n    add Source;\n    add Part;\n    add PrintInt;\n}')
  wait(function() return screen():match('add Part[^\n]*1→1') end, 'a hint')
  vim.o.hidden = true
  vim.cmd('buffer part.str')
  go('push 1 pop')
  vim.fn.setline('.', '    work push 2 pop 1 { int x = pop(); push(x); push(x); }')
  vim.wait(500)
  vim.cmd('buffer whole.str')
  wait(function() return screen():match('add Part[^\n]*1→2') end, 'the hint of the other text')
  vim.cmd('silent wall')
end, serves)

test('a fix is applied', function()
  opened('fix.str', (PROGRAM:gsub('push%(n%);', 'push(n)')))
  wait(function() return #vim.diagnostic.get(0) > 0 end, 'a diagnostic')
  local at = vim.diagnostic.get(0)[1]
  -- somewhere on its line, as a person would
  vim.api.nvim_win_set_cursor(0, { at.lnum + 1, 0 })
  vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.title:match(';') ~= nil end })
  wait(function() return lines() == PROGRAM end, 'the fix')
  wait(function() return #vim.diagnostic.get(0) == 0 end, 'no diagnostic')
end, serves)

test('completion offers streams', function()
  opened('complete.str', (PROGRAM:gsub('add Scale%(3%);', 'add Sc')))
  go('add Sc', true)
  local at = vim.lsp.util.make_position_params(0, 'utf-16')
  at.position.character = at.position.character + 1
  local answer = ask('textDocument/completion', at)
  local result = answer and answer.result or {}
  local labels = vim.tbl_map(function(item) return item.label end, result.items or result)
  check(vim.iter(labels):any(function(label) return label:match('^Scale') end), vim.inspect(labels))
end, serves)

test('formatting is that of sluice fmt', function()
  opened('format.str', (PROGRAM:gsub('    work pop 1', 'work   pop   1')))
  vim.lsp.buf.format({ timeout_ms = 10000 })
  check(lines() == PROGRAM, lines())
end, serves)

test('symbols, references, highlights', function()
  opened('symbols.str', PROGRAM)
  local document = { textDocument = vim.lsp.util.make_text_document_params(0) }
  local symbols = ask('textDocument/documentSymbol', document).result
  check(#symbols == 4, vim.inspect(symbols))
  go('Scale(3')
  local at = vim.lsp.util.make_position_params(0, 'utf-16')
  local highlights = ask('textDocument/documentHighlight', at).result
  check(#highlights == 2, vim.inspect(highlights))
  at.context = { includeDeclaration = true }
  check(#ask('textDocument/references', at).result == 2, 'references')
end, serves)

test('the server survives a text typed at random', function()
  math.randomseed(7)
  opened('random.str', PROGRAM)
  for _ = 1, 200 do
    local line = math.random(vim.fn.line('$'))
    local text = vim.fn.getline(line)
    local column = math.random(0, #text)
    local piece = ({ '{', '}', ';', 'add ', '(', '"', '/*', 'x', '' })[math.random(9)]
    vim.fn.setline(line, text:sub(1, column) .. piece .. text:sub(column + 1 + math.random(0, 1)))
  end
  vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(PROGRAM, '\n'))
  wait(function() return #vim.diagnostic.get(0) == 0 and screen():match('add Scale[^\n]*×2') end, 'the program as it was')
  check(client() and client().initialized, 'the server has stopped')
end, serves)

for _, one in ipairs(vim.lsp.get_clients()) do
  if vim.fn.has('nvim-0.11') == 1 then one:stop() else one.stop() end
end
vim.wait(3000, function() return #vim.lsp.get_clients() == 0 end, 20)
vim.fn.delete(folder, 'rf')
io.stdout:write(('%d passed, %d failed, %d skipped\n'):format(passed, #failed, skipped))
vim.cmd(#failed == 0 and 'qall!' or 'cquit 1')
