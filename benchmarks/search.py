"""Cost of a search with dedupe, compared with the servers' own `collapse`, on both servers with the plugin.

    python benchmarks/search.py [--collections FOLDER] [--part P] [--rounds N] [--seconds S] [--write]

Each server is one node that is started here with the plugin (`make plugin` comes first) and a small heap; groups are
settled, nothing is merged by force. "A word" is one of a hundred that a hundred stories have or more; "first": asked
for the first time in a way, behind a refresh that makes a document searchable. A million stories are generations of
the others, with whole texts. All ways go through the official client, take turns query by query, in the other order
every other time, and show three duplicates of a group; rounds warm up until no way gets faster by a twentieth. Of each
query counts the least of all rounds; a figure is the median over the queries, a ratio that of the queries' ratios to a
plain search that counts its hits, to native `collapse`, and to it with `inner_hits` of 3. Own and the server's are
processor times. Fifty connections then ask for plain searches of ten, and for ten groups, in turn.
"""

import asyncio
import json
import os
import re
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import orjson

import ibidem
from benchmark import options as parse_options
from benchmark import show
from clusters import CLIENTS
from generations import generations
from ibidem_core.settings import Settings
from ibidem_engines.engine import Record
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.run import backfill_in_place
from measured import write_part
from million import signed_records
from newswire import body, load, serve
from plugin.cluster import built
from processor import node_processes
from rates import CLIENTS_AT_ONCE, measure_rate, together
from servers.indices import ask
from servers.nodes import NODE
from servers.process import Launch, Process, free_ports
from stories import NEWSWIRE

INDEX, APART = "measured-search", "measured-apart"  # the second has its signatures beside it
SIZES = (10, 25)
DEEP = 400  # page that is compared with the first one
WORDS = ("bank", "trade", "oil", "shares", "export", "market", "wheat", "tax", "japan", "profit", "steel", "gold")
KINDS: dict[str, Sequence[str]] = {
    "several words": ("oil prices", "said year", "bank loan rates", "stock shares offer", "grain wheat export"),
    "all documents": ("",),  # of which there are 400 pages and more
}
# Each part of the page: its engine, its shards, and how many stories are searched, all of the collection if None.
PARTS: dict[str, tuple[str, int, int | None]] = {
    "opensearch": ("opensearch", 1, None),
    "opensearch, two shards": ("opensearch", 2, None),
    "opensearch, a million stories": ("opensearch", 1, 1_000_000),
    "elasticsearch": ("elasticsearch", 1, None),
    "elasticsearch, two shards": ("elasticsearch", 2, None),
}
PEERS = ("plain", "collapse", "collapse, inner_hits of 3")  # to which the others are compared
BESIDE = "signatures beside"
WINDOWS = tuple(
    (f"{way}, window of 500", f"{way}, window of 500, {BESIDE}")
    for way in ("plugin, near", "wrapped client without plugin, near")
)
COLLAPSE: dict[str, Any] = {"collapse": {"field": "ibidem.group"}}
TURNS = 3
WARM = 0.95  # part of its time in the round before that a way takes while it still gets faster
MAX_ROUNDS = 10  # rounds that warm up at the most

Way = Callable[[str], Any]
# Milliseconds elapsed, the least and the median; of this process, and of the servers.
Times = tuple[float, float, float, float]


def search(words: str, size: int) -> dict[str, Any]:
    """Search for words, as the command line does, or for all documents."""
    return body(words or WORDS[0], size) | ({} if words else {"query": {"match_all": {}}})


def asked_of_plugin(level: str, **more: Any) -> dict[str, Any]:
    """Search with the plugin, by stored groups or equal texts unless a window is named."""
    asked = {name.removeprefix("dedupe_"): each for name, each in options(level).items()} | more
    return {"ext": {"ibidem": {name: each for name, each in asked.items() if each is not None}}}


def plugin_ways(client: Any, size: int) -> dict[str, Way]:
    """Return the searches of the servers without ibidem, and those that the plugin groups, by name."""
    parts = {
        "plain": {},
        "plain, hits not counted": {"track_total_hits": False},
        "collapse": COLLAPSE,
        "collapse, inner_hits of 3": {"collapse": COLLAPSE["collapse"] | {"inner_hits": {"name": "copies", "size": 3}}},
        "plugin, near": asked_of_plugin("near"),
        f"plugin, near, page {DEEP}": asked_of_plugin("near") | {"from": (DEEP - 1) * size},
        "plugin, near, indent with all duplicates": asked_of_plugin("near", dedupe="indent", max_per_group=None),
        "plugin, identical": asked_of_plugin("identical"),
        WINDOWS[0][0]: asked_of_plugin("near", window=500),
        WINDOWS[0][1]: asked_of_plugin("near", window=500),
    }
    return {
        name: lambda query, index=APART if BESIDE in name else INDEX, part=part: client.search(
            index=index, body=search(query, size) | part
        )
        for name, part in parts.items()
    }


def client_ways(client: Any, gateway: Any, size: int) -> dict[str, Way]:
    """Return the searches that the wrapped client and the gateway group, by name."""
    wrapper = ibidem.wrap(client)

    def search_client(query: str, level: str, *, counts: bool = False, index: str = INDEX, **more: object) -> Any:
        os.environ["IBIDEM_PLUGIN"] = "off"
        asked = search(query, size) | ({} if counts else {"track_total_hits": 10_000})
        return wrapper.search(index=index, body=asked, **options(level), **more)

    return {
        WINDOWS[1][0]: lambda query: search_client(query, "near", dedupe_window=500),
        WINDOWS[1][1]: lambda query: search_client(query, "near", dedupe_window=500, index=APART),
        "wrapped client without plugin, near": lambda query: search_client(query, "near"),
        "the same, groups counted": lambda query: search_client(query, "near", counts=True),
        "wrapped client without plugin, identical": lambda query: search_client(query, "identical"),
        "gateway, near": lambda query: gateway.search(index=INDEX, body=search(query, size) | options("near")),
    }


def options(level: str) -> dict[str, Any]:
    return {"dedupe": "collapse", "dedupe_level": level, "dedupe_max_per_group": 3}


def processor_ms(processes: Sequence[int]) -> float:
    """Return the processor milliseconds of processes so far, by Linux's clock of each process."""
    return sum(time.clock_gettime(~process << 3 | 2) for process in processes) * 1e3


def least_ms(
    ways: Mapping[str, Way],
    queries: Sequence[str],
    processes: Sequence[int],
    rounds: int,
    before: Callable[[], object] | None = None,
) -> dict[str, list[Times]]:
    """Measure each query, the searches taking turns, once all ways are warm, unless something is done before each."""
    if before is None:
        warm_up(ways, queries)
    took: dict[str, list[list[Sequence[float]]]] = {name: [[] for _ in queries] for name in ways}
    for turn in range(rounds):
        for at, query in enumerate(queries):
            first = at % len(ways) if before else 0
            order = [*ways.items()][first:] + [*ways.items()][:first]
            for name, way in order[:: 1 if turn % 2 else -1]:  # each comes behind either neighbour
                if before:
                    before()
                servers, begin, client = processor_ms(processes), time.perf_counter(), time.process_time()
                way(query)
                times = (time.perf_counter() - begin) * 1e3, (time.process_time() - client) * 1e3
                took[name][at].append((*times, processor_ms(processes) - servers))
    return {name: [*map(least_times, rounds_by_query)] for name, rounds_by_query in took.items()}


def warm_up(ways: Mapping[str, Way], queries: Sequence[str]) -> None:
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(max(2, MAX_ROUNDS * len(WORDS) // len(queries))):
        took = dict.fromkeys(ways, 0.0)
        for query in queries:
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


def draw_words(stories: Sequence[Record]) -> list[str]:
    """Return a hundred words, from the most frequent that is in one of ten stories to that of a hundred stories."""
    counts = Counter(word for each in stories for word in set(re.findall("[a-z]{4,}", each.document.text.lower())))
    words = [word for word, count in counts.most_common() if 100 <= count <= len(stories) / 10]
    return words[:: len(words) // 100][:100]


def table(  # noqa: PLR0913, PLR0917 - who asks what of whom
    client: Any, gateway: Any, processes: Sequence[int], rounds: int, words: Sequence[str], fresh: Callable[[], object]
) -> Iterator[str]:
    """Yield a row for each way; without a gateway neither windows nor clients are asked."""
    for (kind, queries), size in product({"a word, first": words, "a word": words, **KINDS}.items(), SIZES):
        is_first = kind == "a word, first"
        clients = client_ways(client, gateway, size) if kind == "a word" and gateway else {}
        left_out = (*[str(DEEP)] * bool(queries[0]), *["window"] * (is_first or not gateway))
        ways = {name: way for name, way in plugin_ways(client, size).items() if not any(map(name.count, left_out))}
        turns = 1 if is_first else max(5, rounds * len(WORDS) // len(queries))
        took = least_ms(ways | clients, queries, processes, turns, fresh if is_first else None)
        for name, each in took.items():
            figures = [statistics.median(part) for part in zip(*each, strict=True)]
            ratios = [
                statistics.median(one[0] / other[0] for one, other in zip(each, took[peer], strict=True))
                for peer in PEERS
            ]
            cells = [*(f"{figure:.1f}" for figure in figures), *(f"{ratio:.2f}" for ratio in ratios)]
            yield f"| {kind} | {size} | {name} | {' | '.join(cells)} |"
        for here, beside in WINDOWS if clients else ():
            pairs = [*zip(took[beside], took[here], strict=True)]
            elapsed = statistics.median(one[0] / other[0] for one, other in pairs)
            processor = statistics.median(sum(one[2:]) / sum(other[2:]) for one, other in pairs)
            cells = ["", "", "", f"{processor:.2f} of processor", f"{elapsed:.2f} of least", "", ""]
            yield f"| {kind} | {size} | {beside}, to in place | {' | '.join(cells)} |"


def throughput(server: str, gateway: str, seconds: float) -> Iterator[str]:
    """Yield rows of the throughput for fifty clients, and of its ratio to plain searches."""
    path = f"/{INDEX}/_search"
    plain_requests = [(path, orjson.dumps(search(query, 10))) for query in WORDS]
    plugin_requests = [(path, orjson.dumps(search(query, 10) | asked_of_plugin("near"))) for query in WORDS]
    gateway_requests = [(path, orjson.dumps(search(query, 10) | options("near"))) for query in WORDS]
    kinds = {"plain": (server, plain_requests), "plugin, near": (server, plugin_requests)}
    kinds |= {"gateway, near": (gateway, gateway_requests)} if gateway else {}
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

    def prepare(folder: Path) -> Launch:
        launch = NODE[kind](folder, *free_ports(2))
        shutil.copytree(built(kind), folder / "home" / "plugins" / "ibidem")
        return launch

    node = Process(f"{kind}-measured", prepare)
    try:
        yield node.wait()
    finally:
        node.stop()


def load_apart(url: str, stories: Sequence[Record], folder: Path) -> None:
    """Write the stories into an index of others, and sign them beside it."""
    mapping = {"properties": {"title": {"type": "text"}, "text": {"type": "text"}}}
    settings = {"number_of_shards": 1, "number_of_replicas": 0}
    ask(url, "PUT", f"/{APART}", json.dumps({"settings": settings, "mappings": mapping}))
    for at in range(0, len(stories), 1_000):
        documents = [each.document for each in stories[at : at + 1_000]]
        lines = [
            json.dumps(line)
            for each in documents
            for line in ({"index": {"_id": each.id}}, {"title": each.title, "text": each.text})
        ]
        ask(url, "POST", f"/{APART}/_bulk?refresh=true", "\n".join([*lines, ""]))
    backfill_in_place(Settings(engine=url, index=APART, fields="meta=", tables=folder), beside="index")


def report(part: str, stories: Sequence[Record], rounds: int, seconds: float) -> Iterator[str]:
    kind, shards, size = PARTS[part]
    is_whole = shards == 1 and size is None
    with ExitStack() as stack:
        url = stack.enter_context(run_node(kind))
        load(url, generations(stories, size, words=None) if size else stories, INDEX, shards)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address, gateway, processes, gateway_client = url.partition("+")[2], "", [*node_processes(url)], None
        server_client = stack.enter_context(CLIENTS[kind][0](address))
        if is_whole:
            load_apart(url, stories, folder)
            gateway, process = stack.enter_context(serve(url, INDEX, folder))
            gateway_client = stack.enter_context(CLIENTS[kind][0](gateway))
            processes.append(process)
        list(throughput(address, gateway, seconds))  # warm up the servers
        yield f"{size or len(stories):,} newswire stories, {shards} shard{'s' * (shards > 1)}. `collapse` with three"
        yield "duplicates of a group shown; elapsed milliseconds of a whole search, and the processor's of client and"
        yield from ("servers. `benchmarks/search.py` says how each figure is taken.", "")
        yield (
            "| query | groups a page | way | least ms | median ms | own ms | server's ms | to plain | to collapse "
            "| to collapse with inner_hits |"
        )
        yield "|---|---|---|---|---|---|---|---|---|---|"
        fresh = f"/{INDEX}/_doc/fresh?refresh=true"
        refresh = partial(ask, url, "PUT", fresh, json.dumps({"text": "a fresh document"}))
        yield from table(server_client, gateway_client, processes, rounds, draw_words(stories), refresh)
        yield from ("", f"{CLIENTS_AT_ONCE} clients at once, ten hits or groups, {seconds:.0f} s each:", "")
        yield "| asked | answers a second | median ms | 95 % within ms | errors | to plain |"
        yield "|---|---|---|---|---|---|"
        yield from throughput(address, gateway, seconds)
        yield from (
            "",
            f"The load of the machine was {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors at the end.",
        )


def main() -> None:
    parser = parse_options(__doc__, rounds=20, seconds=15.0, write=False)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part of the page")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stories = signed_records(arguments.collections / NEWSWIRE, Tables(Path(folder)))
    for part in arguments.part or PARTS:
        lines = [*show(report(part, stories, arguments.rounds, arguments.seconds))]
        if arguments.write:
            write_part("search", "How long a search with dedupe takes", [*PARTS], part, lines)


if __name__ == "__main__":
    main()
