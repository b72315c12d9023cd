"""The same search by the plugin inside the cluster, where every node has it and it does what is asked.

The plugin answers as the layer does (`tests/plugin` holds it to that), in one request and a fraction of the time.
"""

from ibidem.grouped_search.dsl.request import DslSearch
from ibidem.grouped_search.plugin_request import decides, is_read_as_here, plugin_request, with_current_tables
from ibidem.grouped_search.response import Json
from ibidem_engines.cluster.dsl import Clause
from ibidem_engines.cluster.plugin import NAME, account_of
from ibidem_engines.cluster.requests import RequestFlow


def does(asked: DslSearch) -> bool:
    """Tell whether the plugin does what is asked, aggregations that wait for the groups aside."""
    plain = not (asked.completes or asked.bare_total or "derived" in asked.target.parts or asked.request.cursor)
    whole = asked.ranking.get("query") == asked.shown.get("query")
    return plain and whole and asked.size > 0 and decides(asked.request)


def by_plugin(asked: DslSearch, aggregations: Clause) -> RequestFlow[Json | None]:
    """Let the plugin search; None where the layer would have counted copies that the plugin read.

    Args:
        asked: What, where and how.
        aggregations: What is aggregated of all that matches.
    """
    ext = {**asked.target.parts.get("ext", {}), NAME: plugin_request(asked.request)}
    body: Json = {**asked.ranking, **asked.shown, **asked.beside, "ext": ext, "track_total_hits": True}
    body |= {"from": (asked.page - 1) * asked.size, "size": asked.size}
    answer: Json = yield asked.target.search(body | ({"aggs": aggregations} if aggregations else {}))
    account = account_of(answer)
    if not is_read_as_here(account, asked.request, asked.size):
        return None
    return answer | {"dedupe": with_current_tables(account, asked.tables)}
