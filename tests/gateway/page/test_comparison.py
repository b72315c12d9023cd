"""The page about two documents tells what they share; its dot plot has a dot for each pair of pages that share text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.comparison.compare import compare
from ibidem.comparison.matches import passages, runs
from ibidem.comparison.word_places import PageNumbers, token_offsets
from ibidem_gateway.page.comparison import MAX_DOTS, ComparedPair, DotPlot, dot_plot, span
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE

PAGES = [" ".join(f"p{page}w{word}" for word in range(20)) for page in range(4)]


def plotted(a: str, b: str) -> DotPlot:
    left, right = token_offsets(a), token_offsets(b)
    common = passages(runs(left.tokens, right.tokens))
    return dot_plot(common, PageNumbers.read(a, left), PageNumbers.read(b, right))


def test_pages_in_the_same_order_are_a_diagonal() -> None:
    plot = plotted("\f".join(PAGES), "\f".join(PAGES))
    assert [(dot.column, dot.row, dot.share) for dot in plot.dots] == [(page, page, 1.0) for page in range(4)]


def test_a_part_is_where_the_whole_holds_it() -> None:
    plot = plotted("\f".join(PAGES[2:]), "\f".join(PAGES))
    assert [(dot.column, dot.row) for dot in plot.dots] == [(0, 2), (1, 3)]
    assert [plot.pages(dot) for dot in plot.dots] == [((1, 1), (3, 3)), ((2, 2), (4, 4))]


def test_texts_that_share_nothing_have_no_dot() -> None:
    assert list(plotted(PAGES[0], PAGES[1]).dots) == []


def test_a_very_long_text_has_no_more_dots_than_can_be_seen() -> None:
    book = "\f".join(" ".join(f"p{page}w{word}" for word in range(10)) for page in range(400))
    plot = plotted(book, book)
    assert (plot.columns, plot.rows, len(plot.dots)) == (MAX_DOTS, MAX_DOTS, MAX_DOTS)


@given(st.integers(1, 200), st.integers(1, 2_000))
def test_the_dots_of_a_side_stand_for_all_its_pages_once(dots: int, pages: int) -> None:
    dots = min(dots, pages)
    spans = [span(number, dots, pages) for number in range(dots)]
    assert [page for first, last in spans for page in range(first, last + 1)] == list(range(1, pages + 1))
    assert all((page - 1) * dots // pages == number for number, (page, _) in enumerate(spans))


def test_a_page_tells_what_the_two_are_and_how_much_they_share(tables: Tables) -> None:
    page = ComparedPair.build(compare(Document("a", LEASE), Document("b", LEASE), tables))
    assert page.verdict == "identical: the same words in the same order"
    assert page.summary == f"They share {len(LEASE.split())} words in 1 passage."
    assert [side.share for side in page.sides] == ["100 % of it is in B", "100 % of it is in A"]


@pytest.mark.parametrize("text", ["", "* * *", "entirely other words"])
def test_texts_that_share_nothing_have_a_page_too(tables: Tables, text: str) -> None:
    page = ComparedPair.build(compare(Document("a", text), Document("b", LEASE), tables))
    assert page.summary == "They share no passage of eight words."
    assert not page.plot.dots
