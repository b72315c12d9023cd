"""Cost of a billion documents, computed from the pages of figures; `stored` prints it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import measured
from backfill import REGROUP
from ibidem_workers.groups.stored_columns import ROW_BYTES

BILLION = 1_000_000_000
SHARD_GB = 40
WORKERS = 16

Row = Mapping[str, str]


def tables(path: Path) -> Iterator[Row]:
    """Yield the rows of all tables of a page, by their heads."""
    heads: Sequence[str] = ()
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [each.strip() for each in line.strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            heads = ()
        elif not heads:
            heads = cells
        elif not set(cells[0]) <= {"-"}:
            yield dict(zip(heads, cells, strict=False))


def number(text: str) -> float:
    """Read the first number of a cell."""
    match = re.search(r"-?[\d,]+(?:\.\d+)?", text)
    return float(match[0].replace(",", "")) if match else 0.0


def plan() -> Iterator[str]:
    """Yield the rows of the table: quantity, value, and the figures that it is computed from."""
    size = next(
        row for row in tables(measured.FIGURES / "sizing.md") if "packed" in row and "stories" in row["documents"]
    )
    cost = [
        row
        for row in tables(measured.FIGURES / "stored.md")
        if row.get("processes") == "1" and row["engine"] != "SQLite"
    ]
    text, full_bytes, lean_bytes = (
        number(size[name]) for name in ("text", "opensearch, full, more", "opensearch, lean, more")
    )
    for name, growth in (("full", full_bytes), ("lean", lean_bytes)):
        yield f"bytes that signatures add, layout `{name}` | {growth / 1e3:.1f} TB | {growth:,.0f} bytes a story"
        shards = (text + growth) * BILLION / 1e9 / SHARD_GB
        yield f"shards of {SHARD_GB} GB for texts and signatures, `{name}` | {shards:,.0f} | {text + growth:,.0f} bytes"
    yield f"signing | {number(size['signing']) * BILLION / 3.6e6:.0f} h of one processor | {size['signing']} a story"
    for row in cost:
        documents = number(row["documents"])
        write_s = number(row["signed and written, s"]) / documents
        load, wrote = write_s * BILLION / 3_600, f"{1e3 * write_s:.1f} ms"
        yield f"signing and writing to {row['engine']}, {WORKERS} workers | {load / WORKERS:,.0f} h | {wrote} a story"
    yield from settling()


def settling() -> Iterator[str]:
    """Yield the rows on settling."""
    figures = list(tables(measured.FIGURES / "stored.md"))
    backfill = tables(measured.FIGURES / "backfill.md")
    rate = next(number(row["documents a second"]) for row in backfill if row.get("work") == REGROUP)
    hours = BILLION / rate / 3_600
    yield f"settling groups, leads looked up, by one process | {hours:,.0f} h | {rate:,.0f} documents a second"
    shares = [number(row["share"]) / 100 for row in figures if row.get("they match", "0") != "0"]
    share = max(shares)
    serial = f"the most of {len(shares)} runs: {share:.0%} of the processor time"
    yield f"of it what no worker can do | {hours * share:,.0f} h | {serial}"
    shared_hours = hours * (share + (1 - share) / WORKERS)
    yield f"settling groups, {WORKERS} workers help | {shared_hours:,.0f} h | both of these"
    grown = [row for row in figures if "ms a document" in row][-1]
    columns_hours = number(grown["ms a document"]) * BILLION / 3.6e6
    of = f"{grown['ms a document']} ms a document of {grown['documents']}"
    yield f"settling groups, leads in columns, one processor | {columns_hours:,.0f} h | {of}"
    gigabytes = ROW_BYTES * BILLION / 1e9
    yield f"memory and temporary files of that | {gigabytes:,.0f} GB and more | {ROW_BYTES} bytes a document"
