"""Long texts are the same, contain each other or overlap."""

from itertools import chain

import numpy as np
import pytest

from ibidem_dedupe.relations import match_parts, relate
from ibidem_ingest.document import Document, read_record
from ibidem_ingest.signatures.long_text import MIN_EQUAL_SLOTS, PART_SLOTS, LongSignatures, sign_long
from support.some import some

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


def misread_words(words: list[str], share: float) -> list[str]:
    lot = np.random.default_rng(5)
    return [f"{word}x" if lot.random() < share else word for word in words]


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
    a, b = paged(BOOK[:6_000], 300), paged(misread_words(BOOK[1_000:7_000], 0.05), 250)
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
