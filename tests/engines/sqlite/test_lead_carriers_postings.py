"""Rare terms of leads are read from the file once, as far as there is room for them."""

from types import SimpleNamespace

import pytest

from ibidem_engines.sqlite import lead_carriers
from ibidem_engines.sqlite.lead_carriers import LeadPostings
from ibidem_ingest.signatures.lookup_keys import rare_batch
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.signed_records import make_record

PACKED = make_record("d", " ".join(f"word{at}" for at in range(70))).packed
_, (TERMS,) = rare_batch(PackedColumns.decode([PACKED]))


class _Leads:
    """Answers as the file does; the same text is a lead at each place."""

    def __init__(self, count: int) -> None:
        self._rows = [(place, PACKED) for place in range(1, count + 1)]
        self.reads = 0

    def run(self, statement: str, values: tuple[int, int, int]) -> SimpleNamespace:
        after, last, most = values
        rows = [row for row in self._rows if after < row[0] <= last][:most]
        self.reads += len(rows)
        return SimpleNamespace(fetchall=lambda: rows)


def test_leads_are_read_once_and_only_where_look_ups_would_cost_more() -> None:
    file = _Leads(100)
    postings = LeadPostings(file)  # type: ignore[arg-type]
    postings.catch_up(100, 1)
    assert (postings.last, file.reads) == (0, 0)
    for _ in range(3):
        postings.catch_up(100, 100 // lead_carriers.WORTH)
    assert (postings.last, file.reads) == (100, 100)


def test_an_index_that_begins_again_is_read_again() -> None:
    postings = LeadPostings(_Leads(2))  # type: ignore[arg-type]
    for last in (2, 1):
        postings.catch_up(last, 1)
        (places,) = postings.sharing([TERMS], [5])
        assert places.tolist() == list(range(1, last + 1))


def test_no_more_is_held_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lead_carriers, "MAX_TERMS", 100)
    monkeypatch.setattr(lead_carriers, "_SLICE", 2)
    postings = LeadPostings(_Leads(20))  # type: ignore[arg-type]
    postings.catch_up(20, 1)
    assert postings.last == 4
    (places,) = postings.sharing([TERMS], [5])
    assert places.tolist() == [1, 2, 3, 4]
