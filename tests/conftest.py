"""Servers, an empty index and a small idf table for all tests, and the profiles of hypothesis."""

# By their names: hooks that are imported into this file are not called for fixtures of a whole run.
pytest_plugins = ("servers.plugin", "servers.starts", "support.empty_index", "support.examples")
