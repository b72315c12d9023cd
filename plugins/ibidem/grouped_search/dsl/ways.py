"""The way in which a search in the query DSL is grouped: its window, or all that matches by stored groups."""

from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem.grouped_search.dsl.request import DslSearch
from ibidem.grouped_search.dsl.search import dsl_search
from ibidem.grouped_search.dsl.stored import stored_search
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.requests import RequestFlow


def grouped_search(asked: DslSearch, around: IndexMetadataCache) -> RequestFlow[Json]:
    """Search, and answer with a page of groups.

    Args:
        asked: What, where and how.
        around: What was read of the indexes lately.

    Raises:
        UsageError: What the chosen way does not do.
        Failure: What the server did not do, where its answer does not make the sender raise.
    """
    return stored_search(asked, around) if asked.request.by == "stored" else dsl_search(asked, around)
