"""Fixtures of these tests."""

from support.wrapped_clients import address, kind, library, plain_client, signed_records, wrapped_client

__all__ = ["address", "kind", "library", "plain_client", "signed_records", "wrapped_client"]
