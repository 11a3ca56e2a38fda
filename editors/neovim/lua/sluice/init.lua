-- Stream programs in Neovim 0.10 and later: the language server, hints, commands, colours by tree-sitter.
local M = {}

M.defaults = {
  -- The compiler: a name in the path, or a path.
  command = 'sluice',
  -- Hints in the text from the start.
  hints = true,
  -- Run, Graph, Schedule above the entry (:lua vim.lsp.codelens.run() on them).
  lenses = true,
  -- Options for `sluice run`, behind the file.
  run = { '--iterations', '10' },
  -- Settings of the server, as docs/lsp.md lists them: { hints = { ii = false }, schedule = { machine = 'cpu' } }.
  settings = vim.empty_dict(),
}

M.options = vim.deepcopy(M.defaults)

--- What goes into the path for `:compiler sluice` and the commands.
local function command(arguments)
  return vim.list_extend({ M.options.command }, arguments)
end

local function clients(bufnr)
  return vim.lsp.get_clients({ bufnr = bufnr or 0, name = 'sluice' })
end

local function complain(text)
  vim.notify('sluice: ' .. text, vim.log.levels.ERROR)
end

-- From 0.12 on lenses are a mode of a buffer, which asks for them by itself.
local lenses_follow = vim.fn.has('nvim-0.12') == 1

local function refresh_lenses()
  if M.options.lenses then
    for _, client in ipairs(vim.lsp.get_clients({ name = 'sluice' })) do
      for bufnr in pairs(client.attached_buffers) do
        vim.lsp.codelens.refresh({ bufnr = bufnr })
      end
    end
  end
  return vim.NIL
end

--- Asks for a buffer's hints again. Neovim's own way to do so may draw the old ones meanwhile, and then takes the new ones for drawn.
local function ask_for_hints(bufnr)
  if vim.lsp.inlay_hint.is_enabled({ bufnr = bufnr }) then vim.lsp.inlay_hint.enable(true, { bufnr = bufnr }) end
end

--- Of buffers that nobody sees they are asked when they are shown.
local function refresh_hints(_, _, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  for bufnr in pairs(client and client.attached_buffers or {}) do
    if #vim.fn.win_findbuf(bufnr) > 0 then ask_for_hints(bufnr) end
  end
  return vim.NIL
end

--- Shows hints in a buffer, and keeps them fresh.
local function show_hints(bufnr, group)
  vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
  vim.api.nvim_create_autocmd('BufWinEnter', { group = group, buffer = bufnr, callback = function() ask_for_hints(bufnr) end })
end

--- Shows lenses in a buffer, and keeps them fresh.
local function show_lenses(bufnr, group)
  if lenses_follow then return vim.lsp.codelens.enable(true, { bufnr = bufnr }) end
  local function refresh() vim.lsp.codelens.refresh({ bufnr = bufnr }) end
  refresh()
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'TextChanged' }, { group = group, buffer = bufnr, callback = refresh })
end

--- The server's configuration, for `vim.lsp.start` (0.10) and `vim.lsp.config` (0.11).
function M.config()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace.codeLens = { refreshSupport = true }
  return {
    capabilities = capabilities,
    handlers = {
      ['workspace/inlayHint/refresh'] = refresh_hints,
      -- Neovim 0.10 and 0.11 do not know this one: the interval is ready after the text.
      ['workspace/codeLens/refresh'] = not lenses_follow and refresh_lenses or nil,
    },
    name = 'sluice',
    cmd = command({ 'lsp' }),
    filetypes = { 'sluice' },
    root_markers = { 'sluice.toml', '.git' },
    init_options = M.options.settings,
    settings = { sluice = M.options.settings },
    -- What the server's lenses ask of an editor.
    commands = {
      ['sluice.run'] = function() M.run() end,
      ['sluice.showGraph'] = function() M.report() end,
      ['sluice.showSchedule'] = function() M.report() end,
      ['sluice.showInterval'] = function() M.report() end,
    },
  }
end

--- Starts the server for a buffer, or joins the one that runs for its project.
function M.start(bufnr)
  local config = M.config()
  local name = vim.api.nvim_buf_get_name(bufnr)
  config.root_dir = vim.fs.root(bufnr, config.root_markers) or (name ~= '' and vim.fs.dirname(name)) or vim.uv.cwd()
  config.filetypes, config.root_markers = nil, nil
  return vim.lsp.start(config, { bufnr = bufnr })
end

function M.toggle_hints()
  vim.lsp.inlay_hint.enable(not vim.lsp.inlay_hint.is_enabled({ bufnr = 0 }), { bufnr = 0 })
end

--- Asks the server to run a command for this buffer.
function M.execute(name)
  local client = clients()[1]
  if not client then return complain('the language server does not run') end
  local params = { command = name, arguments = { vim.uri_from_bufnr(0) } }
  local function done(error, result)
    if error then return complain(error.message) end
    if type(result) == 'string' then vim.notify('sluice: ' .. result) end
  end
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('workspace/executeCommand', params, done, 0)
  else
    client.request('workspace/executeCommand', params, done, 0)
  end
end

--- Runs the program of this buffer in a terminal below it.
function M.run(arguments)
  vim.cmd('silent update')
  local file = vim.api.nvim_buf_get_name(0)
  local given = arguments and #arguments > 0 and arguments or M.options.run
  vim.cmd('botright new')
  local full = command(vim.list_extend({ 'run', file }, given))
  if vim.fn.has('nvim-0.11') == 1 then
    vim.fn.jobstart(full, { term = true })
  else
    vim.fn.termopen(full)
  end
end

--- Shows graph, schedule and source of this buffer's program in a browser.
function M.report()
  vim.cmd('silent update')
  local page = vim.fn.tempname() .. '.html'
  vim.system(command({ 'report', vim.api.nvim_buf_get_name(0), '-o', page }), { text = true }, vim.schedule_wrap(function(done)
    if done.code ~= 0 then return complain(done.stderr) end
    M.page = page
    if vim.ui.open then vim.ui.open(page) end
  end))
end

--- The folder of the grammar beside this plugin.
local function grammar()
  local here = vim.fs.dirname(vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))))
  return vim.fs.normalize(vim.fs.joinpath(here, '../tree-sitter-sluice')), here
end

--- Compiles the parser, once: colours, folds and indentation come from it.
function M.install_parser()
  local from, here = grammar()
  local folder = vim.fs.joinpath(here, 'parser')
  vim.fn.mkdir(folder, 'p')
  local done = vim.system({
    vim.env.CC or 'cc', '-O2', '-shared', '-fPIC', '-I', from .. '/src', '-o', folder .. '/sluice.so', from .. '/src/parser.c',
  }, { text = true }):wait()
  if done.code ~= 0 then return complain(done.stderr) end
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].filetype == 'sluice' then M.colour(buffer) end
  end
end

--- Colours by tree-sitter if there is a parser; else those of syntax/sluice.vim stay.
function M.colour(bufnr)
  if not pcall(vim.treesitter.language.add, 'sluice') or #vim.api.nvim_get_runtime_file('parser/sluice.so', false) == 0 then return false end
  vim.treesitter.start(bufnr, 'sluice')
  return true
end

--- Takes options, and starts the server for stream programs, those that are open included.
function M.setup(options)
  M.options = vim.tbl_deep_extend('force', vim.deepcopy(M.defaults), options or {})
  local group = vim.api.nvim_create_augroup('sluice', { clear = true })
  vim.api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      if not client or client.name ~= 'sluice' then return end
      if M.options.hints then show_hints(event.buf, group) end
      if M.options.lenses then show_lenses(event.buf, group) end
    end,
  })
  if vim.fn.has('nvim-0.11') == 1 then
    vim.lsp.config('sluice', M.config())
    vim.lsp.enable('sluice')
    return
  end
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = 'sluice',
    callback = function(event) M.start(event.buf) end,
  })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].filetype == 'sluice' then M.start(buffer) end
  end
end

return M
