"""The lead is the member first in rank, the earliest, latest or longest, or of the first listed source."""

import pytest

from ibidem.grouped_search.response import choose_lead
from ibidem_dedupe.parameters import PARAMETERS
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.windows import signatures, value

MEMBERS = [
    ("1987-05", 200, "Globe"),
    ("1987-03-02", 190, "AP"),
    ("", 240, "Reuters"),
    ("1987", 240, ""),
    ("1987-12-31", 230, "AP"),
    ("1987-01-01", 210, "Globe"),
]
COLUMNS = PackedColumns.decode(
    [value(signatures(1, length=length), f"{at}", date, source) for at, (date, length, source) in enumerate(MEMBERS)]
)


@pytest.mark.parametrize(
    ("rule", "lead"),
    [
        ("rank", 0),
        ("earliest", 3),
        ("latest", 3),
        ("longest", 2),
        ("source:Reuters,AP", 2),
        ("source:Times,AP", 1),
        ("source:Times", 0),
    ],
    ids=[
        "the first in rank",
        "a year begins on its first day, ties by rank",
        "and ends on its last",
        "ties by rank",
        "the first listed source",
        "the next where the first is not there",
        "no listed source: by rank",
    ],
)
def test_the_member_that_was_asked_for_leads(rule: str, lead: int) -> None:
    keep = PARAMETERS["dedupe_keep"].read(rule)
    assert choose_lead(COLUMNS, range(6), keep) == lead  # type: ignore[arg-type] # the reader of dedupe_keep


@pytest.mark.parametrize("rule", ["earliest", "latest"])
def test_a_member_without_a_date_comes_last(rule: str) -> None:
    keep = PARAMETERS["dedupe_keep"].read(rule)
    assert choose_lead(COLUMNS, [1, 2], keep) == 1  # type: ignore[arg-type] # the reader of dedupe_keep
    assert choose_lead(COLUMNS, [2], keep) == 2  # type: ignore[arg-type] # the reader of dedupe_keep
