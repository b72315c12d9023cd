"""Leads that share rare terms are found in memory, the same as by reading every lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines import rare_postings
from ibidem_engines.rare_postings import RarePostings
from ibidem_ingest.signatures.lookup_keys import rare_batch
from ibidem_ingest.signatures.packed_columns import PackedColumns
from support.signed_records import make_record

TEXTS = [" ".join(f"word{at}" for at in range(start, start + 70)) for start in range(0, 60, 6)]
PACKED = [make_record(f"d{at}", text).packed for at, text in enumerate(TEXTS)] + [make_record("short", "few").packed]
FULL, KEYS = rare_batch(PackedColumns.decode(PACKED))
TERMS = dict(zip([at for at, full in enumerate(FULL.tolist()) if full], KEYS, strict=True))

LEADS = st.lists(st.sampled_from(range(len(PACKED))), max_size=25)
ASKING = st.lists(st.tuples(st.sampled_from(sorted(TERMS)), st.integers(1, 6)), max_size=6)


def shared(lead: int, other: int) -> int:
    return len(set(TERMS.get(lead, ())) & set(TERMS[other]))


@given(LEADS, ASKING, st.lists(st.integers(0, 25), max_size=4), st.integers(1, 40), st.integers(0, 3))
def test_leads_that_share_enough_terms_are_found_however_they_were_read(
    documents: list[int], asking: list[tuple[int, int]], stops: list[int], at_once: int, spare: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rare_postings, "AT_ONCE", at_once)
        patch.setattr(rare_postings, "SPARE", spare)
        patch.setattr(rare_postings, "MAX_RUN", 150)
        postings, last = RarePostings(), 0
        for stop in [*sorted(stops), len(documents)]:
            postings.learn(
                range(last + 1, len(documents[:stop]) + 1), [TERMS.get(at, []) for at in documents[last:stop]]
            )
            last = len(documents[:stop])
        answers = postings.sharing([TERMS[number] for number, _ in asking], [least for _, least in asking])
        assert [places.tolist() for places in answers] == [
            [place for place, lead in enumerate(documents, 1) if shared(lead, number) >= least]
            for number, least in asking
        ]
