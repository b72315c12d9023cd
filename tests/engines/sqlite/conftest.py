"""Fixtures of these tests: the engine in a file alone."""

from support.empty_index import absent, address

__all__ = ["absent", "address"]
