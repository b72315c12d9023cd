"""A search with `dedupe_by=stored` compared with native collapse on the same field; `stored` prints it.

Both go through one official client and take turns, query by query. Of each query counts the least of all rounds, which
other work on the machine lengthens least; a figure is the median over the queries, a ratio the median of the queries'
ratios. Own is the processor's time in this process, server's that of the whole server in between, as it counts itself.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import ibidem
from ibidem.clients.wrapper import metadata_cache
from newswire import CLIENTS, body
from processor import server_seconds

QUERIES = ("bank", "trade", "shares", "dlrs", "export", "said year", "market", "the")
# Groups on a page, and the page number; a page is measured with the queries that reach it.
PLACES = ((10, 1), (10, 400), (25, 1), (25, 160))

STORED: Mapping[str, Any] = {"dedupe": "collapse", "dedupe_by": "stored", "dedupe_max_per_group": 3}

Times = tuple[float, float, float]  # milliseconds elapsed, of this process, and of the server


def ways(client: Any, index: str, size: int, page: int) -> dict[str, Callable[[str], Any]]:
    """Return the searches to compare, by name."""
    wrapper, first = ibidem.wrap(client), ibidem.wrap(client)
    collapse = {"collapse": {"field": "ibidem.group", "inner_hits": {"name": "copies", "size": 3}}}
    start = {"from": (page - 1) * size}
    return {
        "native collapse": lambda query: client.search(index=index, body=body(query, size) | start | collapse),
        "dedupe_by=stored": lambda query: wrapper.search(index=index, body=body(query, size) | start, **STORED),
        "the same, first time": lambda query: without_counts(first).search(
            index=index, body=body(query, size) | start, **STORED
        ),
    }


def without_counts(client: Any) -> Any:
    """Let a wrapped client forget its counts."""
    metadata_cache(client).counts.clear()
    return client


def measure_searches(searches: Mapping[str, Callable[[str], Any]], url: str, rounds: int) -> dict[str, list[Times]]:
    """Measure the least time of each query, the searches taking turns; the first round warms up."""
    queries = [query for query in QUERIES if searches["native collapse"](query)["hits"]["hits"]]
    took: dict[str, list[list[Times]]] = {name: [[] for _ in queries] for name in searches}
    for number in range(rounds + 1):
        for at, query in enumerate(queries):
            for name, way in searches.items():
                server, begin, client_start = server_seconds(url), time.perf_counter(), time.process_time()
                way(query)
                times = (time.perf_counter() - begin) * 1e3, (time.process_time() - client_start) * 1e3
                took[name][at] += [(*times, (server_seconds(url) - server) * 1e3)] if number else []
    return {name: [least_times(query_times) for query_times in query_rounds] for name, query_rounds in took.items()}


def least_times(times: Sequence[Times]) -> Times:
    """Return the least of each; of the server, which counts in tens of milliseconds, the mean."""
    elapsed, client_times, server = zip(*times, strict=True)
    return min(elapsed), min(client_times), statistics.mean(server)


def rows(name: str, url: str, index: str, rounds: int) -> Iterator[str]:
    """Yield rows of the table for one server."""
    client = CLIENTS[name.lower()](url.partition("+")[2])
    for size, page in PLACES:
        took = measure_searches(ways(client, index, size, page), url, rounds)
        native = took["native collapse"]
        for way, each in took.items():
            elapsed, client_ms, server = (statistics.median(part) for part in zip(*each, strict=True))
            ratio = statistics.median(one[0] / other[0] for one, other in zip(each, native, strict=True))
            times = f"{elapsed:.1f} | {client_ms:.1f} | {server:.0f} | {ratio:.2f}"
            yield f"| {name} | {size} | {page} | {len(each)} | {way} | {times} |"
    client.close()
