"""Fixtures of these tests."""

from support.wrapped_clients import engine, kind, plain_client, signed_records, url, wrapped_client

__all__ = ["engine", "kind", "plain_client", "signed_records", "url", "wrapped_client"]
