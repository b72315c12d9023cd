"""The checker of histories is tried on an SQLite index."""

from support.worker_settings import absent, settings

__all__ = ["absent", "settings"]
