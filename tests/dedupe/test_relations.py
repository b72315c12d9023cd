"""Long texts are the same, contain each other or overlap; the table of evidence decides, looks up and explains."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.api import reason
from ibidem.index.groups import IndexGroups
from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import Portion, keys_of
from ibidem_dedupe.column_rules import Bools, Pairs
from ibidem_dedupe.evidence import KINDS, Kind, Table
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import Overrides
from ibidem_dedupe.pair_evidence import Evidence, Guards, build_evidence
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy, min_equal_slots, min_shared_terms
from ibidem_dedupe.relations import match_parts, relate
from ibidem_ingest.document import Document, read_record
from ibidem_ingest.signatures.long_text import MIN_EQUAL_SLOTS, PART_SLOTS, LongSignatures, sign_long
from ibidem_ingest.signatures.packed import Packed, PackedColumns
from ibidem_workers.groups.settle import Row, Rules
from support.some import some
from support.windows import pack_signatures, signatures, value

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY = [f"{a}{b}{c}{d}" for a in "bcdfgklmnprstv" for b in "aeiou" for c in LETTERS for d in ("ne", "ta", "rig")]


def prose(seed: int, words: int) -> list[str]:
    """Make words as frequent as in real text, with rare ones among them."""
    lot = np.random.default_rng(seed)
    return [VOCABULARY[int(at) % len(VOCABULARY)] for at in lot.zipf(1.25, words)]


def paged(words: list[str], size: int, first: int = 0) -> LongSignatures:
    starts = [0, *range(first or size, len(words), size)]
    texts = [" ".join(words[a:b]) for a, b in zip(starts, [*starts[1:], len(words)], strict=True)]
    return some(sign_long(read_record({"id": "book", "pages": texts}, "a test")))


BOOK = prose(1, 30_000)


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_an_article_is_a_contiguous_subset_of_its_journal_in_this_direction(turned: bool) -> None:
    journal, article = paged(BOOK, 300), paged(BOOK[6_000:9_000], 300)
    relation = some(relate(article, journal)) if turned else some(relate(journal, article))
    relation = relation.swap() if turned else relation
    assert (relation.name, relation.contains) == ("contiguous_subset", "a")
    assert (relation.a, relation.b) == ((21, 30), (1, 10))


@pytest.mark.slow
def test_books_that_share_a_publishers_catalogue_alone_are_nothing_to_each_other() -> None:
    catalogue = prose(9, 2_400)
    assert relate(paged([*prose(2, 30_000), *catalogue], 300), paged([*prose(3, 30_000), *catalogue], 300)) is None


@pytest.mark.parametrize("count", [2, 20])
def test_pages_in_reverse_order_are_not_the_same_pages(count: int) -> None:
    leaves = [BOOK[at : at + 300] for at in range(0, 300 * count, 300)]
    book, turned = (paged(list(chain(*each)), 300) for each in (leaves, leaves[::-1]))
    assert [some(relate(book, each)).name for each in (book, turned)] == ["same_pagination", "different_pagination"]


@pytest.mark.slow
def test_books_of_empty_pages_or_of_one_word_are_nothing_to_each_other() -> None:
    texts = "one\f" + "\f" * 4_998 + "two", "same " * 30_000
    empty, repetition = (some(sign_long(Document("a", text))) for text in texts)
    assert relate(empty, empty) is None
    assert relate(repetition, paged(BOOK, 300)) is None


def test_matching_parts_are_those_that_comparing_all_with_all_finds() -> None:
    lot = np.random.default_rng(5)
    misread = [f"{word}x" if lot.random() < 0.05 else word for word in BOOK[1_000:7_000]]
    a, b = paged(BOOK[:6_000], 300), paged(misread, 250)
    equal = (a.sketches[:, None, :] == b.sketches[None, :, :]).sum(axis=2)
    expected = {(x, y) for x, y in np.argwhere(equal >= MIN_EQUAL_SLOTS).tolist()}
    parts = match_parts(a, b, None)
    assert set(zip(parts.a.tolist(), parts.b.tolist(), strict=True)) == expected
    assert parts.similar.tolist() == pytest.approx(
        [equal[x, y] / PART_SLOTS for x, y in zip(parts.a, parts.b, strict=True)]
    )


@pytest.mark.slow
def test_a_stray_page_does_not_widen_the_part_that_is_reported() -> None:
    novel, part = prose(3, 60_000), BOOK[:6_000]
    stray = [*novel[:300], *part[:40], *novel[340:45_000], *part, *novel[45_000:]]
    relation = some(relate(paged(part, 300), paged(stray, 300)))
    assert (relation.contains, relation.b[0] in range(149, 152)) == ("b", True)


def same_count(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near where two texts have as many words: good for a test alone."""
    del policy
    return build_evidence("near", "count", 1.0, {"words": a.length}, guards) if a.length == b.length else None


def same_counts(pairs: Pairs, policy: Policy) -> Bools:
    del policy
    return pairs.has_equal(pairs.columns.length)


def count_keys(columns: PackedColumns, policy: Policy, words: Bools) -> Iterator[Portion]:
    del policy
    yield keys_of(columns.length[:, None].astype(np.uint64), words)


TOLD = "both have {words} words".format_map
TOY = Kind("count", "as many words", TOLD, decide=same_count, verify=same_counts, keys=count_keys)


def test_a_new_kind_of_evidence_is_a_module_and_a_row_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "TABLE", Table((*KINDS, TOY)))
    one, other = signatures(1), replace(signatures(2), length=signatures(1).length)
    values = [value(one, "a"), value(other, "b"), value(replace(other, length=other.length + 1), "c")]
    columns = PackedColumns.decode(values)
    grouping = group(columns, Policy())
    found = decide(pack_signatures(one), pack_signatures(other), Policy())
    assert found
    assert grouping.lead.tolist() == [0, 0, 2]
    assert reason({**found.why, "days_apart": None}).startswith(f"both have {one.length} words")
    groups = IndexGroups("near", [("news", name) for name in "abc"], grouping, 0, {})
    assert groups.kinds == {"count": 1}
    rows = [Row(("news", name), at, packed or b"") for at, (name, packed) in enumerate(zip("abc", values, strict=True))]
    (join,) = Rules(Policy(), Overrides()).joins([], rows)
    assert (join.name[1], join.lead[1], join.level) == ("b", "a", "near")


def test_two_thirds_in_common_are_the_default_figures() -> None:
    terms, default = some(Policy().similar(66).terms), some(Policy().terms)
    for size in (20, 35, 60):
        assert min_shared_terms(terms.share, size) == min_shared_terms(default.share, size)
    assert Policy().similar(66).slots == Policy().slots


def test_the_percentage_printed_is_one_that_similarity_takes() -> None:
    for shared in range(100):
        said = int(evidence.shared_text({"shared": shared, "of": 100}).split()[1])
        assert min_equal_slots(said) <= shared < min_equal_slots(said + 1)


PAGE = (Path(__file__).parents[2] / "docs" / "levels.md").read_text(encoding="utf-8")


def test_the_page_tells_the_default_figures() -> None:
    policy = Policy()
    assert (some(policy.slots).equal, policy.profile) == (50, None)
    assert "half of 100 samples equal" in PAGE
    terms, printed = some(policy.terms), some(policy.fingerprint)
    rare = f"{round(terms.share * terms.smallest)} of the {terms.smallest} rarest terms shared"
    assert f"| {rare}, lengths within {100 - round(100 * terms.lengths)} %, numbers that agree |" in PAGE
    length = f"lengths within {100 - round(100 * printed.lengths)} %"
    assert f"| equal, {length}, equal numbers, at least {printed.shortest} words |" in PAGE


@given(st.integers(20, 100))
def test_another_level_or_window_leaves_all_figures_as_they_are(percent: int) -> None:
    policy = Policy(window_days=42).similar(percent)
    assert policy.at("partial").at("near") == policy
    assert policy.within(3).within(42) == policy
