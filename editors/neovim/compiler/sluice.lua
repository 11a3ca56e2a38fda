-- :make looks at the program with `sluice check`; its messages go into the quickfix list.
vim.b.current_compiler = 'sluice'
vim.bo.makeprg = 'NO_COLOR=1 ' .. vim.fn.shellescape(require('sluice').options.command) .. ' check %:S'
vim.bo.errorformat = table.concat({
  '%E[E%n] Error: %m',
  '%E[E%n] Advice: %m',
  '%W[W%n] Warning: %m',
  '%W[E%n] Warning: %m',
  '%Z%*\\s╭─[ %f:%l:%c ]',
  '%-G%.%#',
}, ',')
