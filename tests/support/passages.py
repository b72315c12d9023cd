"""Passages of a lease as a sliding window cuts them, with copies in other documents."""

from ibidem_engines.engine import Record
from support.signed_records import make_record

WORDS = [f"w{number}" for number in range(160)]
RENT = ["rent", "rent", "rent", "rent"]
BEST = " ".join([*WORDS[:25], *RENT, *WORDS[25:50]])
NEXT = " ".join([*WORDS[44:90], "rent", "rent"])


def cut_lease() -> list[Record]:
    """Passages: the best, a copy of it, the next of its document, a copy of that, and one far from both."""
    return [
        passage("best", BEST, "lease", "2020-01-01"),
        passage("copy of best", BEST, "scan", "2021-01-01"),
        passage("next", NEXT, "lease", "2022-01-01"),
        passage("copy of next", NEXT, "scan of next", "2019-01-01"),
        passage("far", " ".join([*WORDS[100:150], "rent"]), "lease", "2020-01-01"),
    ]


def passage(name: str, text: str, document: str, date: str) -> Record:
    return make_record(name, text, date=date, meta={"document": document})
