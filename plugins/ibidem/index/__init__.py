"""Tasks over a whole index: groups, inspection, alerts, overrides, idf tables, health."""
