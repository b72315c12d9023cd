"""The checker of histories is tried on an SQLite index."""

from support.worker_settings import empty_index, engine, settings, tables_folder

__all__ = ["empty_index", "engine", "settings", "tables_folder"]
