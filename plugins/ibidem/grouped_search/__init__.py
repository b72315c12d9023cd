"""Grouped search: read the window, page through groups, look up duplicates beyond it, write the response."""
