"""Tasks over a whole index: groups, inspection, overrides, idf tables, health."""
