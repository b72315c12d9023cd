"""Cost of ten million documents, and of a billion, computed from pages of figures that were measured on fewer.

    python benchmarks/plan.py

The page has ten million; `stored` prints a billion.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from backfill import REGROUP
from benchmark import publish
from ibidem_workers.groups.stored_columns import ROW_BYTES
from measured import FIGURES

TEN_MILLION = 10_000_000
BILLION = 1_000_000_000
HOUR = 3_600
STORIES = "newswire stories"
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


def billion() -> Iterator[str]:
    """Yield the rows of the table: quantity, value, and the figures that it is computed from."""
    size = next(row for row in tables(FIGURES / "sizing.md") if "packed" in row and "stories" in row["documents"])
    cost = [row for row in tables(FIGURES / "stored.md") if row.get("processes") == "1" and row["engine"] != "SQLite"]
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
    figures = list(tables(FIGURES / "stored.md"))
    backfill = tables(FIGURES / "backfill.md")
    rate = next(number(row["documents a second"]) for row in backfill if row.get("work") == REGROUP)
    hours = BILLION / rate / 3_600
    yield f"settling groups, leads looked up, by one process | {hours:,.0f} h | {rate:,.0f} documents a second"
    grown = [row for row in figures if "ms a document" in row][-1]
    columns_hours = number(grown["ms a document"]) * BILLION / 3.6e6
    of = f"{grown['ms a document']} ms a document of {grown['documents']}"
    yield f"settling groups, leads in columns, one processor | {columns_hours:,.0f} h | {of}"
    gigabytes = ROW_BYTES * BILLION / 1e9
    yield f"memory and temporary files of that | {gigabytes:,.0f} GB and more | {ROW_BYTES} bytes a document"


def ten_million() -> Iterator[str]:
    """Yield the page."""
    works = {row["work"]: number(row["documents a second"]) for row in tables(FIGURES / "backfill.md") if "work" in row}
    size = next(row for row in tables(FIGURES / "sizing.md") if "packed" in row and STORIES in row["documents"])
    columns_ms = number([row for row in tables(FIGURES / "stored.md") if "ms a document" in row][-1]["ms a document"])
    hours, gigabytes = TEN_MILLION / HOUR, TEN_MILLION / 1e9
    yield f"{TEN_MILLION:,} {STORIES}, by what was measured on fewer: [how long signing takes](backfill.md) and"
    yield "[what a document costs](sizing.md). Servers and workers on one machine with two cores; more take less time."
    yield ""
    yield "| what | takes |\n|---|---|"
    yield f"| `ibidem backfill`, reading, signing and writing | {hours / works['`ibidem backfill`: signing']:.1f} h |"
    yield f"| settling their groups after that, by one process, each lead looked up | {hours / works[REGROUP]:.1f} h |"
    yield f"| the same in SQLite, leads in columns, one processor | {hours * columns_ms / 1e3:.1f} h |"
    yield f"| signing alone, one processor | {hours * number(size['signing']) / 1e3:.1f} h |"
    yield f"| a plain load of all documents by `_bulk` | {hours / works['plain load by `_bulk`']:.1f} h |"
    for layout in ("full", "lean"):
        added = number(size[f"opensearch, {layout}, more"])
        yield f"| signatures in the layout `{layout}` | {gigabytes * added:.0f} GB |"


if __name__ == "__main__":
    publish("plan", "Ten million documents", ten_million())
