"""Leads that share rare terms are found in memory, the same as by reading every lead."""

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.sqlite import rare_postings
from ibidem_engines.sqlite.rare_postings import RarePostings
from ibidem_ingest.signatures.lookup_keys import rare_batch
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.signed_records import make_record

TEXTS = [" ".join(f"word{at}" for at in range(start, start + 70)) for start in range(0, 60, 6)]
PACKED = [make_record(f"d{at}", text).packed for at, text in enumerate(TEXTS)] + [make_record("short", "few").packed]
FULL, KEYS = rare_batch(PackedColumns.of(PACKED))
TERMS = dict(zip([at for at, full in enumerate(FULL.tolist()) if full], KEYS, strict=True))

LEADS = st.lists(st.sampled_from(range(len(PACKED))), max_size=25)
ASKING = st.lists(st.tuples(st.sampled_from(sorted(TERMS)), st.integers(1, 6)), max_size=6)


class _Leads:
    """Answers as the file does; the document at each place is a lead."""

    def __init__(self, documents: Sequence[int]) -> None:
        self._rows = [(place, PACKED[at]) for place, at in enumerate(documents, 1)]
        self.reads = 0

    def run(self, statement: str, values: tuple[int, int, int]) -> SimpleNamespace:
        after, last, most = values
        rows = [row for row in self._rows if after < row[0] <= last][:most]
        self.reads += len(rows)
        return SimpleNamespace(fetchall=lambda: rows)


def shared(lead: int, other: int) -> int:
    return len(set(TERMS.get(lead, ())) & set(TERMS[other]))


@given(LEADS, ASKING, st.lists(st.integers(0, 25), max_size=4), st.integers(1, 40), st.integers(0, 3))
def test_leads_that_share_enough_terms_are_found_however_they_were_read(
    documents: list[int], asking: list[tuple[int, int]], stops: list[int], at_once: int, spare: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rare_postings, "AT_ONCE", at_once)
        patch.setattr(rare_postings, "SPARE", spare)
        patch.setattr(rare_postings, "_SLICE", 3)
        patch.setattr(rare_postings, "LONGEST", 150)
        postings = RarePostings(_Leads(documents))  # type: ignore[arg-type]
        for last in [*sorted(min(stop, len(documents)) for stop in stops), len(documents)]:
            postings.catch_up(last, 1)
        answers = postings.sharing([TERMS[one] for one, _ in asking], [least for _, least in asking])
        assert [places.tolist() for places in answers] == [
            [place for place, lead in enumerate(documents, 1) if shared(lead, one) >= least] for one, least in asking
        ]


def test_leads_are_read_once_and_only_where_look_ups_would_cost_more() -> None:
    file = _Leads([0] * 100)
    postings = RarePostings(file)  # type: ignore[arg-type]
    postings.catch_up(100, 1)
    assert (postings.last, file.reads) == (0, 0)
    for _ in range(3):
        postings.catch_up(100, 100 // rare_postings.WORTH)
    assert (postings.last, file.reads) == (100, 100)


def test_an_index_that_begins_again_is_read_again() -> None:
    postings = RarePostings(_Leads([0, 0]))  # type: ignore[arg-type]
    for last in (2, 1):
        postings.catch_up(last, 1)
        (places,) = postings.sharing([TERMS[0]], [5])
        assert places.tolist() == list(range(1, last + 1))


def test_no_more_is_held_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rare_postings, "MOST", 100)
    monkeypatch.setattr(rare_postings, "_SLICE", 2)
    postings = RarePostings(_Leads([0] * 20))  # type: ignore[arg-type]
    postings.catch_up(20, 1)
    assert postings.last == 4
    (places,) = postings.sharing([TERMS[0]], [5])
    assert places.tolist() == [1, 2, 3, 4]
