"""A search with its duplicates grouped: reading the window, paging, scope, response."""
