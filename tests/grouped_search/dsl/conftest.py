"""Fixtures of these tests."""

from support.wrapped_clients import engine, kind, plain, signed, url, wrapped

__all__ = ["engine", "kind", "plain", "signed", "url", "wrapped"]
