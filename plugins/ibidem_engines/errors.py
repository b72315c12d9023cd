"""What a search engine answered, as errors of ours; the tree is drawn in `ibidem_ingest.errors`."""

from ibidem_ingest.errors import IbidemError


class EngineError(IbidemError):
    """A search engine could not do what it was asked."""


class Unavailable(EngineError):
    """It may answer later: busy, starting, locked, unreachable. Retried with backoff."""


class Permanent(EngineError):
    """It will answer the same again: wrong address, wrong schema, full disk, refused query. Never retried."""
