"""The way in which a search in the query DSL is grouped: its window, or all that matches by stored groups."""

from dataclasses import replace

from ibidem.dedupe.parameters import PRESETS
from ibidem.dedupe.request import asks_for_stored_preset, with_presets
from ibidem.grouped_search.dsl.index_cache import NOWHERE, IndexMetadataCache, names_of
from ibidem.grouped_search.dsl.request import DslSearch
from ibidem.grouped_search.dsl.search import dsl_search
from ibidem.grouped_search.dsl.stored import stored_search
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.requests import RequestFlow


def grouped_search(search: DslSearch, around: IndexMetadataCache) -> RequestFlow[Json]:
    """Search, and answer with a page of groups.

    Args:
        search: What, where and how.
        around: What was read of the indexes lately.

    Raises:
        UsageError: What the chosen way does not do.
        Failure: What the server did not do, where its answer does not make the sender raise.
    """
    search = yield from with_stored_preset(search, around)
    return (yield from stored_search(search, around) if search.request.by == "stored" else dsl_search(search, around))


def with_stored_preset(search: DslSearch, around: IndexMetadataCache) -> RequestFlow[DslSearch]:
    """Read the preset that a search names, where it is not built in.

    Raises:
        UsageError: There is none of this name next to the indexes.
    """
    if not asks_for_stored_preset(search.request):
        return search
    target = search.target
    layout = (yield from around.layout(target.index, target.params)) if target.point is None else NOWHERE
    known = yield from around.presets(names_of(target.index, layout))
    return replace(search, request=with_presets(search.request, {**PRESETS, **known}))
