"""The same search by the plugin inside the cluster, where every node has it and it does what is asked.

The plugin answers as the layer does (`tests/plugin` holds it to that), in one request and a fraction of the time.
"""

from ibidem.grouped_search.dsl.request import DslSearch
from ibidem.grouped_search.plugin_request import decides, is_read_as_here, plugin_request, with_current_tables
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.dsl import Clause
from ibidem_engines.cluster.plugin import NAME, account_of
from ibidem_engines.cluster.requests import RequestFlow


def does(search: DslSearch) -> bool:
    """Return whether the plugin does what is asked, aggregations that wait for the groups aside."""
    pinned = search.request.cursor and "explain" in search.shown  # what keeps later writes out would be explained too
    plain = not (search.completes or search.bare_total or "derived" in search.target.parts or pinned)
    whole = search.ranking.get("query") == search.shown.get("query")
    return plain and whole and search.size > 0 and decides(search.request)


def by_plugin(search: DslSearch, ranking: Json, aggregations: Clause) -> RequestFlow[Json | None]:
    """Let the plugin search; None where the layer would have counted copies that the plugin read.

    Args:
        search: What, where and how.
        ranking: What ranks, as far as a cursor lets it see.
        aggregations: What is aggregated of all that matches.
    """
    ext = {**search.target.parts.get("ext", {}), NAME: plugin_request(search.request)}
    body: Json = {**search.shown, **ranking, **search.beside, "ext": ext, "track_total_hits": True}
    body |= {"from": (search.page - 1) * search.size, "size": search.size}
    answer: Json = yield search.target.search(body | ({"aggs": aggregations} if aggregations else {}))
    account = account_of(answer)
    if not is_read_as_here(account, search.request, search.size):
        return None
    return answer | {"dedupe": with_current_tables(account, search.tables)}
