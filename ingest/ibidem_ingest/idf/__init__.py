"""idf tables: how many documents of a large collection hold a term, frozen and named by a hash of the contents."""
