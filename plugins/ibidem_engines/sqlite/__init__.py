"""The engine protocol over one SQLite file."""
