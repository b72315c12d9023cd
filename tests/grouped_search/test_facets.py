"""Facets count the documents and groups of a window."""

from collections import defaultdict

from ibidem.grouped_search.stats import count_sources
from ibidem.grouped_search.window import Window
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Record
from ibidem_engines.stored_groups import Hit


def make_window(records: list[Record]) -> Window:
    hits = [Hit("i", each.document.id, 1.0, each.packed) for each in records]
    return Window.group([*hits, Hit("i", "unsigned", 1.0, None)], Policy())


def test_each_source_has_its_documents_and_the_groups_that_they_belong_to(records: list[Record]) -> None:
    window = make_window(records)
    expected: dict[str, list[int]] = defaultdict(list)
    for row, each in enumerate(records):
        if each.document.source:
            expected[each.document.source].append(int(window.grouping.lead[row]))
    facets = {records[facet.row].document.source: facet for facet in count_sources(window, 100)}
    assert {name: (each.documents, each.groups) for name, each in facets.items()} == {
        name: (len(leads), len(set(leads))) for name, leads in expected.items()
    }
    assert len(count_sources(window, 1)) == min(1, len(expected))
