"""Versions: the documents of one work, their order, and the current one."""
