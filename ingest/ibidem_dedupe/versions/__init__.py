"""Versions: which documents are of one work, in which order, and which is the current one."""
