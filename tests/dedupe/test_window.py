"""A window of hits with its groups, and what can be said of a row in it."""

from ibidem.dedupe.overrides import Override
from ibidem.dedupe.window import Window
from ibidem_ingest.pairs.decision import Policy
from support.windows import Made, made, signatures, value, with_slots

BASE = signatures(1)
NEAR = with_slots(signatures(2, slots=BASE.slots), 60)
HITS = Made([value(BASE, "0"), value(NEAR, "1"), value(signatures(3), "2"), None]).hits


def word(a: int, b: int, verdict: str) -> Override:
    return Override((HITS[a].index, HITS[a].id), (HITS[b].index, HITS[b].id), verdict)  # type: ignore[arg-type]


def test_evidence_is_the_strongest_of_the_pair_or_none() -> None:
    window = Window.of(HITS, Policy())
    evidence = window.evidence(1, 0)
    assert evidence is not None
    assert evidence.signature == "minhash"
    assert window.evidence(2, 0) is None
    assert window.evidence(3, 0) is None


def test_not_beats_every_evidence_and_same_stands_where_there_is_none() -> None:
    window = Window.of(HITS, Policy(), [word(0, 1, "not"), word(2, 3, "same")])
    assert window.grouping.lead.tolist() == [0, 1, 2, 2]
    assert window.evidence(1, 0) is None
    evidence = window.evidence(3, 2)
    assert evidence is not None
    assert evidence.signature == "override"


def test_same_joins_only_when_one_of_the_two_is_the_first_occurrence() -> None:
    window = Window.of(HITS, Policy(), [word(1, 2, "same")])
    assert window.grouping.lead.tolist() == [0, 0, 2, 3]


def test_words_about_hits_behind_the_page_s_steps_are_not_told_of_those_on_it() -> None:
    window = Window.of(HITS, Policy(), [word(0, 1, "not"), word(0, 3, "same")])
    assert [other for other, _, _ in window.first(2).spoken.about(0)] == [1]


def test_a_group_s_name_is_made_of_index_level_and_first_occurrence() -> None:
    window = Window.of(HITS, Policy())
    assert window.group_id(0) == Window.of(HITS[:1], Policy()).group_id(0)
    assert len({window.group_id(0), window.group_id(1), Window.of(HITS, Policy("identical")).group_id(0)}) == 3


def test_a_window_cut_short_has_the_groups_of_its_rows() -> None:
    hits = made(4, 40).hits
    for rows in (0, 1, 17, 40, 50):
        cut, short = Window.of(hits, Policy()).first(rows), Window.of(hits[:rows], Policy())
        assert cut.grouping.lead.tolist() == short.grouping.lead.tolist()
        assert (cut.ranked, cut.unsigned) == (short.ranked, short.unsigned)


def test_hits_without_signatures_or_words_count_as_unsigned() -> None:
    empty = signatures(4, length=0, shingles=0, slots=(), terms=(), full=False, content="ch2:none:x")
    damaged = Made([value(BASE, "0"), None, b"damaged", value(empty, "x")])
    assert Window.of(damaged.hits, Policy()).unsigned == 3
