"""Cost of signatures in OpenSearch compared with the engine's own filter; written to docs/figures/min_hash.md.

    python benchmarks/min_hash.py [--collections FOLDER] [--stories N] [--rounds N]

Newswire, signed before. *Filter*: `min_hash` over runs of five words with 100 buckets, indexed and not stored, the
choice of a user without ibidem; it finds documents that share a bucket and decides nothing. Each index is filled in
turn, round after round; processor time for each document, of client and server, the median of the rounds, and of the
ratios to the filter of the same round. Bytes: of the last round, after a merge into one segment.

The server is the one in IBIDEM_TEST_OPENSEARCH, or started as the tests start it; requests of others count too.
"""

import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice

from benchmark import introduction, options, publish, run_servers
from clusters import BARE, disk_bytes, load, load_bare, make_engine
from ibidem_engines.engine import Record
from ibidem_engines.records import records
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.sign import batches
from processor import TimeCost, measure_cost
from servers.indices import remove_indices
from stories import NEWSWIRE, stories

INDEXES = {
    "the documents alone": BARE,
    "with the filter": "measured-filter",
    "signed, full": "measured-full",
    "signed, lean": "measured-lean",
}
FILTER = "with the filter"


def fill(url: str, kind: str, signed_records: Sequence[Record]) -> None:
    """Fill an index."""
    name = INDEXES[kind]
    if kind.startswith("signed"):
        with closing(make_engine(url, name.rpartition("-")[2], name)) as engine:
            load(engine, signed_records)
    else:
        load_bare(url, signed_records, name, min_hash=kind == FILTER)


def rows(costs: Mapping[str, Sequence[TimeCost]], sizes: Mapping[str, int], count: int) -> Iterator[str]:
    """Write a row for each index."""
    yield f"| {count:,} stories | bytes more | client | server | server / filter | spread |\n|---|---|---|---|---|---|"
    for kind, name in INDEXES.items():
        ratios = [cost.server / peer.server for cost, peer in zip(costs[kind], costs[FILTER], strict=True)]
        client, server = (
            f"{statistics.median(getattr(each, side) for each in costs[kind]) / count * 1e3:.2f} ms"
            for side in ("client", "server")
        )
        added_bytes = (sizes[name] - sizes[BARE]) / count
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        yield f"| {kind} | {added_bytes:,.0f} | {client} | {server} | {statistics.median(ratios):.2f} | {spread} |"


def main() -> None:
    """Print the figures and write the page."""
    arguments = options(__doc__, stories=5_000, rounds=5).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        several = list(islice(stories(arguments.collections / NEWSWIRE), arguments.stories))
        signed_records = [record for batch in batches(several) for record in records(batch, Tables(folder))]
    costs: defaultdict[str, list[TimeCost]] = defaultdict(list)
    with run_servers("opensearch") as servers:
        url = servers.url("opensearch")
        for _ in range(arguments.rounds):
            for kind in INDEXES:
                costs[kind].append(measure_cost(lambda kind=kind: fill(url, kind, signed_records), url))
        lines = rows(costs, disk_bytes(url, list(INDEXES.values())), len(signed_records))
        for name in INDEXES.values():
            remove_indices(url, name)
    title = "Cost of signatures compared with the engine's own filter"
    publish("min_hash", title, lines, introduction(__doc__, "Newswire, signed"))


if __name__ == "__main__":
    main()
