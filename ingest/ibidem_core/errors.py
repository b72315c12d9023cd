"""Errors of search engines; the tree is drawn in `ibidem_ingest.errors`."""

from ibidem_ingest.errors import IbidemError


class EngineError(IbidemError):
    """A search engine failed."""


class Unavailable(EngineError):
    """A temporary failure: busy, starting, locked, unreachable. Retried with backoff."""


class Permanent(EngineError):
    """A permanent failure: wrong address, wrong schema, full disk, refused query. Never retried."""


class NoIndex(Permanent):
    """The index does not exist."""


class DamagedRecord(Permanent):
    """A record next to the index is damaged."""
