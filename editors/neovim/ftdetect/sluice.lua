vim.filetype.add({ extension = { str = 'sluice' } })
