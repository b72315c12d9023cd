"""One corpus for tests: a lease, its copy, its draft, a letter and a page without words; small idf tables."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table

LEASE = (
    "The tenant shall pay the rent on the first day of each month, in advance and without demand. The landlord shall "
    "keep the roof, the outer walls and the drains of the house in good repair. Neither party may assign this lease "
    "without the written consent of the other. This lease is governed by the law of England and Wales, and the courts "
    "of London have sole jurisdiction over every dispute that arises from it."
)
LEASES = [
    Document("lease", LEASE, title="Lease: rent, roof, drains", date="2001-05-01", source="Chambers", version=1),
    Document("copy", LEASE.upper(), title="Lease (copy)", date="2001-05-02", source="Registry", version=1),
    Document("draft", LEASE.replace("London", "York"), title="Lease (draft)", source="Chambers", version=1),
    Document("letter", "Dear Sir, the rent of last month has not arrived.", title="A reminder", version=1),
    Document("blank", "* * *", title="A page of stars about the rent", version=1),
]
LEASE_WORDS = sorted({word.strip(".,").lower() for word in LEASE.split() if len(word) > 4})


def lease_records() -> list[Mapping[str, object]]:
    """Return the leases as lines of a file hold them, without a version."""
    fields = ("id", "text", "title", "date", "source")
    return [{name: value for name in fields if (value := getattr(each, name))} for each in LEASES]


def english_tables(folder: Path, counts: dict[str, float]) -> Tables:
    """Return tables with a small English one, since the general one takes a second to build."""
    tables = Tables(folder)
    tables.use(Table.build("en", 10_000, counts, "a test"))
    return tables


def rank_counts(words: Iterable[str]) -> dict[str, float]:
    """Return counts by which the first word is the rarest."""
    return {word: 10.0 * at for at, word in enumerate(words, 1)}
