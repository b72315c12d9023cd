"""Duplicate detection for Elasticsearch and OpenSearch: sign while indexing, indent or collapse while searching.

    >>> import ibidem
    >>> ibidem.parse_query('"export duty" wheat').typed
    '"export duty" wheat'

The names below are the public interface; `docs/python.md` shows them at work. Each is read from its module when it is
first used, so that `import ibidem` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ibidem.clients.search import search as search
    from ibidem.clients.search import wrap as wrap
    from ibidem.comparison.compare import Comparison as Comparison
    from ibidem.comparison.compare import compare as compare
    from ibidem.grouped_search.api import search_index as search_index
    from ibidem.grouped_search.response import Passage as Passage
    from ibidem.grouped_search.texts import TextGroup as TextGroup
    from ibidem.grouped_search.texts import group_texts as group_texts
    from ibidem.index.documents import duplicates_of as duplicates_of
    from ibidem_core.settings import Settings as Settings
    from ibidem_dedupe.parameters import DedupeRequest as DedupeRequest
    from ibidem_dedupe.parameters import parse_request as parse_request
    from ibidem_dedupe.policy import Policy as Policy
    from ibidem_engines.connect import open_engine as open_engine
    from ibidem_engines.query import Query as Query
    from ibidem_engines.query import parse_query as parse_query
    from ibidem_ingest.document import Document as Document
    from ibidem_ingest.document import read_record as read_record
    from ibidem_ingest.errors import IbidemError as IbidemError
    from ibidem_ingest.errors import Refused as Refused
    from ibidem_ingest.errors import UsageError as UsageError
    from ibidem_ingest.idf.store import Tables as Tables
    from ibidem_ingest.readers import read as read
    from ibidem_ingest.signatures.schema import Signatures as Signatures
    from ibidem_ingest.signatures.sign import sign as sign
    from ibidem_workers.ingest import submit as submit

__version__ = "0.1.0"

_NAMES = {
    "ibidem.clients.search": ("search", "wrap"),
    "ibidem.comparison.compare": ("Comparison", "compare"),
    "ibidem.grouped_search.api": ("search_index",),
    "ibidem.grouped_search.response": ("Passage",),
    "ibidem.grouped_search.texts": ("TextGroup", "group_texts"),
    "ibidem.index.documents": ("duplicates_of",),
    "ibidem_core.settings": ("Settings",),
    "ibidem_dedupe.policy": ("Policy",),
    "ibidem_dedupe.parameters": ("DedupeRequest", "parse_request"),
    "ibidem_engines.connect": ("open_engine",),
    "ibidem_engines.query": ("Query", "parse_query"),
    "ibidem_ingest.document": ("Document", "read_record"),
    "ibidem_ingest.errors": ("IbidemError", "Refused", "UsageError"),
    "ibidem_ingest.idf.store": ("Tables",),
    "ibidem_ingest.readers": ("read",),
    "ibidem_ingest.signatures.schema": ("Signatures",),
    "ibidem_ingest.signatures.sign": ("sign",),
    "ibidem_workers.ingest": ("submit",),
}
_HOMES = dict(sorted((name, module) for module, names in _NAMES.items() for name in names))
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Read a public name from its module when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
