vim.bo.commentstring = '// %s'
vim.bo.comments = 's1:/*,mb:*,ex:*/,://'
vim.bo.expandtab = true
vim.bo.shiftwidth = 4
vim.bo.softtabstop = 4
vim.bo.cindent = true
-- Labels stand under their `switch`, as `sluice fmt` has them.
vim.bo.cinoptions = ':0,l1,J1,j1,(0'
vim.cmd('compiler sluice')

-- Code in hovers is marked `str`.
vim.treesitter.language.register('sluice', { 'sluice', 'str' })

local sluice = require('sluice')
if sluice.colour(0) then
  vim.wo.foldmethod = 'expr'
  vim.wo.foldexpr = 'v:lua.vim.treesitter.foldexpr()'
  vim.wo.foldlevel = 99
end

local function define(name, does, options)
  vim.api.nvim_buf_create_user_command(0, name, does, options or {})
end
define('SluiceRun', function(given) sluice.run(given.fargs) end, { nargs = '*', desc = 'Run this program' })
define('SluiceReport', sluice.report, { desc = 'Graph, schedule and source in a browser' })
define('SluiceToggleHints', sluice.toggle_hints, { desc = 'Show or hide the hints' })
define('SluiceSchedule', function() sluice.execute('sluice.schedule') end, { desc = 'Find the best schedule (integer program)' })
define('SluiceInstallParser', sluice.install_parser, { desc = 'Compile the tree-sitter parser' })

vim.b.undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< cindent< cinoptions<'
