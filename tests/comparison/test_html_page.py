"""The page about two documents: whole, harmless and on its own."""

from html.parser import HTMLParser

import pytest

from ibidem.comparison.compare import compare
from ibidem.comparison.html_page import SharedPage, render, shared_page
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE

HOSTILE = '<script>alert(1)</script><img src="https://evil.example/x" onerror=alert(2)> &amp; "\'>\x07'


class Elements(HTMLParser):
    """Parser that collects tags, attributes and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        return [value for each, value in self.attributes if each == name]


def make_page(tables: Tables, a: Document, b: Document) -> SharedPage:
    return shared_page(compare(a, b, tables))


def read(page: SharedPage) -> Elements:
    elements = Elements()
    elements.feed(render(page))
    return elements


def test_a_page_needs_nothing_from_elsewhere_and_runs_no_script(tables: Tables) -> None:
    lines = read(
        make_page(tables, Document("a", LEASE, HOSTILE, source=HOSTILE), Document("b", LEASE + HOSTILE, HOSTILE))
    )
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(lines.tags)
    assert not [name for name, _ in lines.attributes if name.startswith("on") or name in {"src", "style"}]
    assert all(value.startswith("#") for value in lines.values("href"))
    assert HOSTILE[:-1] in lines.text
    assert "\x07" not in lines.text


def test_every_link_of_a_page_leads_to_a_place_in_it(tables: Tables) -> None:
    book = "\f".join(f"{LEASE} This is page {number}." for number in range(5))
    lines = read(make_page(tables, Document("a", book), Document("b", f"{LEASE}\f{LEASE}")))
    ids = lines.values("id")
    assert len(set(ids)) == len(ids)
    assert {value[1:] for value in lines.values("href")} <= set(ids)
    assert "page 5" in lines.text


def test_a_page_tells_what_the_two_are_and_how_much_they_share(tables: Tables) -> None:
    page = make_page(tables, Document("a", LEASE), Document("b", LEASE))
    assert page.verdict == "identical: the same words in the same order"
    assert page.summary == f"They share {len(LEASE.split())} words in 1 passage."
    assert [side.share for side in page.sides] == ["100 % of it is in B", "100 % of it is in A"]


@pytest.mark.parametrize("text", ["", "* * *", "entirely other words"])
def test_texts_that_share_nothing_have_a_page_too(tables: Tables, text: str) -> None:
    lines = read(make_page(tables, Document("a", text), Document("b", LEASE)))
    assert "They share no passage of eight words." in lines.text
    assert "svg" not in lines.tags
