"""Cost of the gateway: the time it adds to a grouped search, and its throughput for fifty clients at once.

    python benchmarks/gateway.py [--collections FOLDER] [--stories N] [--seconds S] [--kind opensearch] [--write]

The server is the one in IBIDEM_TEST_OPENSEARCH (or _ELASTICSEARCH), or started as the tests start it; the gateway is
`ibidem serve`, a process of its own. All three, and the clients, share the machine's processors.

One at a time: each query is asked through the official client, wrapped and sent straight to the engine, and through the
same client pointed at the gateway; they take turns, and the figure is the median of the differences.
At once: fifty connections ask the gateway for grouped searches, the engine for the very requests that these cost it
(window and fetch), both for plain searches of ten; they take turns, each for so many seconds in all.
"""

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson

import ibidem
from benchmark import SERVERS, options, publish, run_servers, took_ms
from ibidem.grouped_search.dsl.index_cache import IndexMetadataCache
from ibidem.grouped_search.dsl.request import read_search
from ibidem.grouped_search.dsl.search import dsl_search
from ibidem_dedupe.request import parse_request
from ibidem_engines.requests import ApiRequest, run_sync
from newswire import CLIENTS, QUERIES, body, load, serve, sign_stories
from rates import CLIENTS_AT_ONCE, JSON, measure_rate, together
from servers.indices import remove_indices
from stories import NEWSWIRE

INDEX = "measured-gateway"
ROUNDS = 40
TURNS = 6
OPTIONS = {"dedupe": "indent", "dedupe_level": "near", "dedupe_window": 500}


def added_ms(kind: str, engine: str, gateway: str) -> tuple[float, float, float]:
    """Measure a grouped search one at a time: direct, through the gateway, and the difference, in milliseconds."""
    with CLIENTS[kind](engine) as direct_client, CLIENTS[kind](gateway) as gateway_client:
        wrapper = ibidem.wrap(direct_client)
        pairs = [
            (
                took_ms(lambda query=query: wrapper.search(index=INDEX, body=body(query, 10), **OPTIONS)),
                took_ms(lambda query=query: gateway_client.search(index=INDEX, body=body(query, 10) | OPTIONS)),
            )
            for _ in range(ROUNDS)
            for query in QUERIES
        ]
    straight_ms, through_ms = (statistics.median(each) for each in zip(*pairs, strict=True))
    return (
        straight_ms,
        through_ms,
        statistics.median(gateway_ms - direct_ms for direct_ms, gateway_ms in pairs),
    )


def costs(engine: str) -> list[tuple[str, bytes]]:
    """Return path and body of every request that the grouped searches cost the engine: windows and fetches."""
    requests: list[tuple[str, bytes]] = []
    cache = IndexMetadataCache()

    def send(request: ApiRequest) -> Any:
        query = "&".join(f"{name}={value}" for name, value in request.params.items())
        content = (
            orjson.dumps(request.body)
            if request.lines is None
            else b"".join(orjson.dumps(line) + b"\n" for line in request.lines)
        )
        if request.path.endswith("/_search"):
            requests.append((f"{request.path}?{query}", content))
        return asyncio.run(
            send_request(
                request.method, f"{engine}{request.path}?{query}", None if request.method == "GET" else content
            )
        )

    for query in QUERIES:
        run_sync(dsl_search(read_search(INDEX, body(query, 10), {}, parse_request(OPTIONS)), cache), send)
    return requests


async def send_request(method: str, url: str, content: bytes | None) -> Any:
    """Send one request and return its JSON."""
    async with aiohttp.ClientSession() as session, session.request(method, url, data=content, headers=JSON) as answer:
        return await answer.json()


def report(kind: str, engine: str, gateway: str, seconds: float) -> Iterator[str]:
    """Yield the lines of the page."""
    direct_ms, proxy_ms, delta = added_ms(kind, engine, gateway)
    yield f"One at a time: {direct_ms:.1f} ms wrapped, {proxy_ms:.1f} ms through the gateway: it adds {delta:+.1f} ms."
    yield ""
    group_requests = [(f"/{INDEX}/_search", orjson.dumps(body(query, 10) | OPTIONS)) for query in QUERIES]
    plain_requests = [(f"/{INDEX}/_search", orjson.dumps(body(query, 10))) for query in QUERIES]
    parts = costs(engine)
    kinds = {
        "gateway, grouped": (gateway, group_requests),
        "engine, the windows and fetches alone": (engine, parts),
        "gateway, passed on": (gateway, plain_requests),
        "engine, plain searches of ten": (engine, plain_requests),
    }
    turns = [
        {name: asyncio.run(measure_rate(where, requests, seconds / TURNS)) for name, (where, requests) in kinds.items()}
        for _ in range(TURNS)
    ]
    rates = {name: together([turn[name] for turn in turns]) for name in kinds}
    yield f"{CLIENTS_AT_ONCE} clients at once, {seconds:.0f} s each:"
    yield "\n| asked | answers a second | median ms | 95 % within ms | errors |\n|---|---|---|---|---|"
    yield from (rate.row(name) for name, rate in rates.items())
    yield ""
    each = len(parts) / len(QUERIES)
    engine_name = "engine, the windows and fetches alone"
    share = statistics.median(
        turn["gateway, grouped"].per_second * each / turn[engine_name].per_second for turn in turns
    )
    is_possible = rates[engine_name].per_second / each
    yield f"The engine alone could answer {is_possible:.0f} grouped searches a second."
    yield f"The gateway reaches {share:.2f} of that (median of the turns)."


def lines(arguments: argparse.Namespace, url: str) -> Iterator[str]:
    """Measure the gateway before a server, and yield the lines of the page."""
    kind, seconds = arguments.kind, arguments.seconds
    stories = sign_stories(arguments.collections / NEWSWIRE, arguments.stories)
    load(url, stories, INDEX)
    yield f"{len(stories):,} newswire stories in {kind}, window 500, `near`, ten groups a page.\n"
    with tempfile.TemporaryDirectory() as folder, serve(url, INDEX, Path(folder)) as (gateway, _):
        yield from report(kind, url.partition("+")[2], gateway, seconds)
    remove_indices(url, INDEX)


def main() -> None:
    """Print all figures."""
    arguments = options(__doc__, stories=int, seconds=60.0, kind=SERVERS, write=False).parse_args()
    with run_servers(arguments.kind) as servers:
        figures = lines(arguments, servers.url(arguments.kind))
        publish("gateway", "What the gateway costs", figures, keep=arguments.write)


if __name__ == "__main__":
    main()
