"""These tests are over an index of the name `news`."""

from support.empty_index import absent

__all__ = ["absent"]
