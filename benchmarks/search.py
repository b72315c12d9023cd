"""What a search with dedupe takes beside the servers' own `collapse`, on OpenSearch and Elasticsearch.

    python benchmarks/search.py [--collections FOLDER] [--stories N] [--rounds N] [--write]

The servers are those in IBIDEM_TEST_OPENSEARCH and IBIDEM_TEST_ELASTICSEARCH, or started as the tests start them, with
small heaps. Both ways go through one official client: plain with `collapse` on the content hash and `inner_hits` of
size 10, and wrapped with `dedupe="indent"`, window 500. They take turns, query by query. Of each query counts the least
of all rounds, which other work on the machine lengthens least; a figure is the median over the queries, a ratio the
median of the queries' ratios. Own is the median of the processor's milliseconds in this process.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import elasticsearch
import opensearchpy

import ibidem
from ibidem_engines.cluster import dsl
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_engines.fields import Fields
from ibidem_engines.query import parse_query
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

from measured import write
from servers.indices import ask, remove_indices
from servers.session import Servers

BATCH = 500
INDEX = "measured-search"
QUERIES = ("bank", "trade", "oil prices", "shares", "dlrs", "export", "said year", "market")
CLIENTS: Mapping[str, Callable[..., Any]] = {
    "opensearch": opensearchpy.OpenSearch,
    "elasticsearch": elasticsearch.Elasticsearch,
}
SIZES = (10, 25)
WINDOW: Mapping[str, Any] = {"dedupe": "indent", "dedupe_window": 500}
WAYS: Mapping[str, Mapping[str, Any]] = {
    "identical": {"dedupe_level": "identical"},
    "near": {"dedupe_level": "near"},
    "near, scope=matches": {"dedupe_level": "near", "dedupe_scope": "matches"},
}


def body(typed: str, size: int) -> dict[str, Any]:
    """Ask for some words, as the command line does."""
    return {"query": dsl.clause(parse_query(typed), Fields()), "size": size, "track_total_hits": True}


def collapsed(client: Any, typed: str, size: int) -> None:
    """Search with the server's own collapse."""
    collapse = {"field": "ibidem.content", "inner_hits": {"name": "copies", "size": 10}}
    client.search(index=INDEX, body=body(typed, size) | {"collapse": collapse})


def ways(client: Any, size: int) -> dict[str, Callable[[str], object]]:
    """Name the ways that are compared."""
    wrapped = ibidem.wrap(client)

    def grouped(typed: str, asked: Mapping[str, Any]) -> object:
        return wrapped.search(index=INDEX, body=body(typed, size), **WINDOW, **asked)

    return {
        "native collapse": lambda typed: collapsed(client, typed, size),
        "plain, no duplicates": lambda typed: client.search(index=INDEX, body=body(typed, size)),
        **{name: lambda typed, asked=asked: grouped(typed, asked) for name, asked in WAYS.items()},
    }


def least_ms(asked: Mapping[str, Callable[[str], object]], rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Measure the least elapsed and own milliseconds of each query, the ways taking turns; the first round warms up."""
    took: dict[str, list[list[tuple[float, float]]]] = {name: [[] for _ in QUERIES] for name in asked}
    for number in range(rounds + 1):
        for at, typed in enumerate(QUERIES):
            for name, way in asked.items():
                begin, own = time.perf_counter(), time.process_time()
                way(typed)
                spent = (time.perf_counter() - begin) * 1e3, (time.process_time() - own) * 1e3
                took[name][at] += [spent] if number else []
    return {
        name: [(min(each[0] for each in one), min(each[1] for each in one)) for one in every]
        for name, every in took.items()
    }


def figures(client: Any, size: int, rounds: int) -> Iterator[str]:
    """Yield a row of a table for each way."""
    took = least_ms(ways(client, size), rounds)
    for name, each in took.items():
        elapsed, own = (statistics.median(part) for part in zip(*each, strict=True))
        ratio = statistics.median(one[0] / other[0] for one, other in zip(each, took["native collapse"], strict=True))
        more = statistics.median(one[0] - other[0] for one, other in zip(each, took["near"], strict=True))
        added = f"{more:+.1f} ms beside near" if "scope" in name else ""
        yield f"| {size} | {name} | {elapsed:.1f} | {own:.1f} | {ratio:.2f} | {added} |"


def load(url: str, stories: Sequence[Record], index: str = INDEX) -> None:
    """Make the index anew, in one segment as it is after a while."""
    remove_indices(url, index)
    engine = open_engine(url, index)
    engine.create()
    for at in range(0, len(stories), BATCH):
        engine.write(stories[at : at + BATCH])
    engine.refresh()
    engine.close()
    ask(url, "POST", f"/{index}/_forcemerge?max_num_segments=1")


def signed(source: Path, count: int | None) -> list[Record]:
    """Read and sign stories."""
    documents = [each for each in islice(read([source]), count) if isinstance(each, Document)]
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(Path(folder))
        return [one for at in range(0, len(documents), 400) for one in records(documents[at : at + 400], tables)]


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"))
    parser.add_argument("--stories", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures")
    options = parser.parse_args()
    stories = signed(options.collections / "reuters21578" / "docs.jsonl.xz", options.stories)
    servers = Servers(["opensearch", "elasticsearch"])
    lines = [f"{len(stories):,} newswire stories, window 500, `indent`; elapsed milliseconds of a whole search.", ""]
    try:
        for kind, make in CLIENTS.items():
            url = servers.url(kind)
            load(url, stories)
            lines += [
                f"## {kind}",
                "",
                "| groups a page | way | ms | own ms | of native | |",
                "|---|---|---|---|---|---|",
            ]
            with make(url.partition("+")[2]) as client:
                lines += [row for size in SIZES for row in figures(client, size, options.rounds)]
            lines.append("")
            remove_indices(url, INDEX)
    finally:
        servers.stop()
    print("\n".join(lines))
    if options.write:
        write("search", "How long a search with dedupe takes", lines)


if __name__ == "__main__":
    main()
