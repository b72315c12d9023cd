"""Cost of a billion documents, computed from the pages of figures; `stored` prints it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import measured
from backfill import REGROUP

BILLION = 1_000_000_000
SHARD_GB = 40
WORKERS = 16
INDEXES = 16

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
    rate = next(
        number(row["documents a second"])
        for row in tables(measured.FIGURES / "backfill.md")
        if row.get("work") == REGROUP
    )
    settle = BILLION / rate / 3_600
    yield f"settling groups, more leads than memory holds | {settle:,.0f} h | {rate:,.0f} documents a second"
    yield f"the same in {INDEXES} indexes, each by a process of its own | {settle / INDEXES:,.0f} h | the same"
