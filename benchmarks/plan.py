"""Cost of signing ten million documents, computed from pages of figures that were measured on fewer.

python benchmarks/plan.py
"""

from collections.abc import Iterator

from backfill import REGROUP
from measured import FIGURES, write
from stored_plan import tables

DOCUMENTS = 10_000_000
HOUR = 3_600
STORIES = "newswire stories"


def number(text: str) -> float:
    """Read a number of a page."""
    return float(text.replace(",", ""))


def table(name: str) -> list[list[str]]:
    """Read the cells of the tables of a page."""
    page = (FIGURES / f"{name}.md").read_text(encoding="utf-8")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]


def rates() -> list[float]:
    """Read the documents a second of a load without signatures, of a backfill, and of settling with too many leads."""
    rows = {row[0]: row for row in table("backfill")}
    works = ("plain load by `_bulk`", "`ibidem backfill`: signing", REGROUP)
    return [number(rows[work][2]) for work in works]


def read_sizes() -> tuple[float, float, float]:
    """Read the bytes that signatures add to a story in each layout of OpenSearch, and the time of signing, in ms."""
    rows = table("sizing")
    cells = dict(zip(rows[0], next(row for row in rows if row[0].startswith(STORIES)), strict=True))
    full_bytes, lean_bytes = (number(cells[f"opensearch, {layout}, more"]) for layout in ("full", "lean"))
    return full_bytes, lean_bytes, number(cells["signing"].split()[0])


def columns_ms() -> float:
    """Read the time of settling a document with leads in columns, of the most documents that were measured, in ms."""
    growth = [row for row in tables(FIGURES / "stored.md") if "ms a document" in row]
    return number(growth[-1]["ms a document"])


def lines() -> Iterator[str]:
    """Yield the page."""
    plain_rate, sign_rate, group_rate = rates()
    full_bytes, lean_bytes, sign_ms = read_sizes()
    yield f"{DOCUMENTS:,} {STORIES}, by what was measured on fewer: [how long signing takes](backfill.md) and"
    yield "[what a document costs](sizing.md). Servers and workers on one machine with two cores; more take less time."
    yield ""
    yield "| what | takes |"
    yield "|---|---|"
    yield f"| `ibidem backfill`, reading, signing and writing | {DOCUMENTS / sign_rate / HOUR:.1f} h |"
    look_ups = DOCUMENTS / group_rate / HOUR
    yield f"| settling their groups after that, by one process, each lead looked up | {look_ups:.1f} h |"
    yield f"| the same in SQLite, leads in columns, one processor | {DOCUMENTS * columns_ms() / 1e3 / HOUR:.1f} h |"
    yield f"| signing alone, one processor | {DOCUMENTS * sign_ms / 1e3 / HOUR:.1f} h |"
    yield f"| a plain load of all documents by `_bulk` | {DOCUMENTS / plain_rate / HOUR:.1f} h |"
    yield f"| signatures in the layout `full` | {DOCUMENTS * full_bytes / 1e9:.0f} GB |"
    yield f"| signatures in the layout `lean` | {DOCUMENTS * lean_bytes / 1e9:.0f} GB |"


if __name__ == "__main__":
    write("plan", "Ten million documents", lines())
