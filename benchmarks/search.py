"""Cost of a search with dedupe, compared with the servers' own `collapse`, on both servers with the plugin.

    python benchmarks/search.py [--collections FOLDER] [--stories N] [--rounds N] [--seconds S] [--kind K] [--write]

Each server is one node that is started here with the plugin (`make plugin` comes first) and a small heap; the index has
one shard, groups are settled, nothing is merged by force. All variants go through the official client, take turns query
by query, and show three duplicates of a group; rounds warm up until no way gets faster by a twentieth. Of each query
counts the least of all rounds; a figure is the median over the queries, a ratio the median of the queries' ratios to a
plain search, to native `collapse`, and to it with `inner_hits` of 3. Own and the server's are processor times.
Fifty connections then ask for plain searches of ten, and for ten groups; they take turns.
"""

import asyncio
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

import ibidem
from benchmark import options as parse_options
from benchmark import publish
from ibidem_engines.engine import Record
from newswire import CLIENTS, QUERIES, body, load, serve, sign_stories
from plugin.cluster import NODE, built
from processor import node_processes
from rates import CLIENTS_AT_ONCE, measure_rate, together
from servers.process import Launch, Process, free_ports
from stories import NEWSWIRE

INDEX = "measured-search"
PATIENT = {"opensearch": {"timeout": 60}, "elasticsearch": {"request_timeout": 60}}
SIZES = (10, 25)
WINDOWS = (500, 2_000)
# Searches of the servers without ibidem, to which the others are compared.
PEERS = ("plain", "collapse", "collapse, inner_hits of 3")

TURNS = 3
WARM = 0.95  # part of its time in the round before that a way takes while it still gets faster

MAX_ROUNDS = 10  # rounds that warm up at the most

Way = Callable[[str], Any]
# Milliseconds elapsed, the least and the median; of this process, and of the servers.
Times = tuple[float, float, float, float]


def collapse(size: int | None) -> dict[str, Any]:
    """Search with the server's own collapse, with so many hits of each group."""
    inner = {} if size is None else {"inner_hits": {"name": "copies", "size": size}}
    return {"collapse": {"field": "ibidem.group", **inner}}


def asked_of_plugin(level: str, window: int | None = None) -> dict[str, Any]:
    """Search with the plugin, by stored groups or equal texts unless a window is named."""
    return {"ext": {"ibidem": {name.removeprefix("dedupe_"): each for name, each in options(level, window).items()}}}


def native_ways(client: Any, size: int) -> dict[str, Way]:
    """Return the searches of the servers without ibidem, by name."""
    parts: Sequence[dict[str, Any]] = ({}, collapse(None), collapse(3))
    return {
        name: lambda query, part=part: client.search(index=INDEX, body=body(query, size) | part)
        for name, part in zip(PEERS, parts, strict=True)
    }


def grouped_ways(client: Any, gateway: Any, size: int, window: int) -> dict[str, Way]:
    """Return the searches that group a window, by name."""
    wrapper = ibidem.wrap(client)

    def search_plugin(query: str, level: str, window: int | None = None) -> Any:
        return client.search(index=INDEX, body=body(query, size) | asked_of_plugin(level, window))

    def search_client(query: str, level: str, plugin: str, window: int | None = None, *, counts: bool = False) -> Any:
        os.environ["IBIDEM_PLUGIN"] = plugin
        asked = body(query, size) | ({} if counts else {"track_total_hits": 10_000})
        return wrapper.search(index=INDEX, body=asked, **options(level, window))

    asks_plugin = str(search_client(QUERIES[0], "near", "auto")["dedupe"].get("grouper", "")).startswith("plugin")
    client_ways = {"wrapped client, near": lambda query: search_client(query, "near", "auto")} if asks_plugin else {}
    return {
        "plugin, near": lambda query: search_plugin(query, "near"),
        "plugin, near, window": lambda query: search_plugin(query, "near", window),
        "plugin, identical": lambda query: search_plugin(query, "identical"),
        **client_ways,
        "wrapped client without plugin, near": lambda query: search_client(query, "near", "off"),
        "the same, groups counted": lambda query: search_client(query, "near", "off", counts=True),
        "the same, window": lambda query: search_client(query, "near", "off", window),
        "wrapped client without plugin, identical": lambda query: search_client(query, "identical", "off"),
        "gateway, near": lambda query: gateway.search(index=INDEX, body=body(query, size) | options("near")),
    }


def options(level: str, window: int | None = None) -> dict[str, Any]:
    """Return the parameters of dedupe."""
    own = {"dedupe": "collapse", "dedupe_level": level, "dedupe_max_per_group": 3}
    return own | ({"dedupe_window": window} if window else {})


def processor_ms(processes: Sequence[int]) -> float:
    """Return the processor milliseconds of processes so far, by Linux's clock of each process."""
    return sum(time.clock_gettime(~process << 3 | 2) for process in processes) * 1e3


def least_ms(ways: Mapping[str, Way], processes: Sequence[int], rounds: int) -> dict[str, list[Times]]:
    """Measure each query once all ways are warm, the searches taking turns."""
    warm_up(ways)
    took: dict[str, list[list[Sequence[float]]]] = {name: [[] for _ in QUERIES] for name in ways}
    for _ in range(rounds):
        for at, query in enumerate(QUERIES):
            for name, way in ways.items():
                servers, begin, client = processor_ms(processes), time.perf_counter(), time.process_time()
                way(query)
                times = (time.perf_counter() - begin) * 1e3, (time.process_time() - client) * 1e3
                took[name][at].append((*times, processor_ms(processes) - servers))
    return {
        name: [least_times(query_times) for query_times in rounds_by_query] for name, rounds_by_query in took.items()
    }


def warm_up(ways: Mapping[str, Way]) -> None:
    """Search until no way gets faster."""
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(MAX_ROUNDS):
        took = dict.fromkeys(ways, 0.0)
        for query in QUERIES:
            for name, way in ways.items():
                begin = time.perf_counter()
                way(query)
                took[name] += time.perf_counter() - begin
        is_warm = all(took[name] > WARM * least[name] for name in ways)
        least = {name: min(took[name], least[name]) for name in ways}
        if is_warm:
            return


def least_times(times: Sequence[Sequence[float]]) -> Times:
    """Return the least and the median elapsed time, the least client's time, and the mean of the servers' time."""
    elapsed, client_times, servers = zip(*times, strict=True)
    return min(elapsed), statistics.median(elapsed), min(client_times), statistics.mean(servers)


def table(client: Any, gateway: Any, processes: Sequence[int], rounds: int) -> Iterator[str]:
    """Yield the rows of the table of one server."""
    for size in SIZES:
        ways = {("", name): way for name, way in native_ways(client, size).items()}
        for window in WINDOWS:
            ways |= {(f"{window:,}", name): way for name, way in grouped_ways(client, gateway, size, window).items()}
        took = least_ms(ways, processes, rounds)
        for (window, name), each in took.items():
            figures = [statistics.median(part) for part in zip(*each, strict=True)]
            ratios = [
                statistics.median(one[0] / other[0] for one, other in zip(each, took["", peer], strict=True))
                for peer in PEERS
            ]
            cells = [*(f"{figure:.1f}" for figure in figures), *(f"{ratio:.2f}" for ratio in ratios)]
            yield f"| {size} | {window} | {name} | {' | '.join(cells)} |"


def throughput(server: str, gateway: str, seconds: float) -> Iterator[str]:
    """Yield rows of the throughput for fifty clients, and of its ratio to plain searches."""
    path = f"/{INDEX}/_search"
    plain_requests = [(path, orjson.dumps(body(query, 10))) for query in QUERIES]
    plugin_requests = [(path, orjson.dumps(body(query, 10) | asked_of_plugin("near"))) for query in QUERIES]
    gateway_requests = [(path, orjson.dumps(body(query, 10) | options("near"))) for query in QUERIES]
    kinds = {
        "plain": (server, plain_requests),
        "plugin, near": (server, plugin_requests),
        "gateway, near": (gateway, gateway_requests),
    }
    turns = [
        {name: asyncio.run(measure_rate(where, requests, seconds / TURNS)) for name, (where, requests) in kinds.items()}
        for _ in range(TURNS)
    ]
    for name in kinds:
        share = statistics.median(turn[name].per_second / turn["plain"].per_second for turn in turns)
        yield f"{together([turn[name] for turn in turns]).row(name)} {share:.2f} |"


@contextmanager
def run_node(kind: str) -> Iterator[str]:
    """Run one node with the plugin; yields its address."""
    port, transport = free_ports(2)

    def prepare(folder: Path) -> Launch:
        launch = NODE[kind](folder, port, transport)
        shutil.copytree(built(kind), folder / "home" / "plugins" / "ibidem")
        return launch

    node = Process(f"{kind}-measured", prepare)
    try:
        yield node.wait()
    finally:
        node.stop()


def report(kind: str, stories: Sequence[Record], rounds: int, seconds: float) -> Iterator[str]:
    """Yield the lines of one server."""
    with ExitStack() as stack:
        url = stack.enter_context(run_node(kind))
        load(url, stories, INDEX)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        gateway, process = stack.enter_context(serve(url, INDEX, folder, IBIDEM_PLUGIN="auto"))
        address = url.partition("+")[2]
        server_client, gateway_client = (
            stack.enter_context(CLIENTS[kind](each, **PATIENT[kind])) for each in (address, gateway)
        )
        yield from (f"## {kind}", "")
        yield (
            "| groups a page | window | way | least ms | median ms | own ms | server's ms | to plain | to collapse "
            "| to collapse with inner_hits |"
        )
        yield "|---|---|---|---|---|---|---|---|---|---|"
        yield from table(server_client, gateway_client, [*node_processes(url), process], rounds)
        yield from ("", f"{CLIENTS_AT_ONCE} clients at once, ten hits or groups, {seconds:.0f} s each:", "")
        yield "| asked | answers a second | median ms | 95 % within ms | errors | to plain |"
        yield "|---|---|---|---|---|---|"
        yield from throughput(address, gateway, seconds)
        yield ""


def main() -> None:
    """Print all figures."""
    parser = parse_options(__doc__, stories=int, rounds=20, seconds=15.0, write=False)
    parser.add_argument("--kind", choices=sorted(CLIENTS), action="append", help="only this engine")
    arguments = parser.parse_args()
    stories = sign_stories(arguments.collections / NEWSWIRE, arguments.stories)
    head = [
        f"{len(stories):,} newswire stories, one shard, `collapse` with three duplicates of a group shown; elapsed",
        "milliseconds of a whole search, and the processor's of client and servers. `benchmarks/search.py` says how",
        "each figure is taken.",
        "",
    ]
    parts = (report(kind, stories, arguments.rounds, arguments.seconds) for kind in arguments.kind or CLIENTS)
    lines = chain(chain.from_iterable(parts), load_average())
    publish("search", "How long a search with dedupe takes", lines, head, keep=arguments.write)


def load_average() -> Iterator[str]:
    """Yield the load of the machine once all is measured."""
    yield f"The load of the machine was {os.getloadavg()[0]:.0f} at the end, on {os.cpu_count()} processors."


if __name__ == "__main__":
    main()
