"""Facets count the documents and groups of a window."""

from collections import Counter, defaultdict

from ibidem.dedupe.window import Window
from ibidem.grouped_search.facets import by_source, by_table, by_year
from ibidem_engines.engine import Hit, Record
from ibidem_ingest.pairs.decision import Policy


def window_of(records: list[Record]) -> Window:
    hits = [Hit("i", each.document.id, 1.0, each.packed) for each in records]
    return Window.of([*hits, Hit("i", "unsigned", 1.0, None)], Policy())


def test_each_source_has_its_documents_and_the_groups_that_they_belong_to(records: list[Record]) -> None:
    window = window_of(records)
    expected: dict[str, list[int]] = defaultdict(list)
    for row, each in enumerate(records):
        if each.document.source:
            expected[each.document.source].append(int(window.grouping.lead[row]))
    found = {records[facet.row].document.source: facet for facet in by_source(window, 100)}
    assert {name: (each.documents, each.groups) for name, each in found.items()} == {
        name: (len(leads), len(set(leads))) for name, leads in expected.items()
    }
    assert len(by_source(window, 1)) == min(1, len(expected))


def test_each_year_has_its_documents_and_groups_the_latest_first(records: list[Record]) -> None:
    window = window_of(records)
    expected: dict[int, list[int]] = defaultdict(list)
    for row, each in enumerate(records):
        if each.document.date:
            expected[int(each.document.date[:4])].append(int(window.grouping.lead[row]))
    found = by_year(window)
    assert [year for year, _ in found] == sorted(expected, reverse=True)
    assert [(each.documents, each.groups) for _, each in found] == [
        (len(leads), len(set(leads))) for _, leads in sorted(expected.items(), reverse=True)
    ]


def test_each_idf_table_has_the_documents_that_it_signed(records: list[Record]) -> None:
    window = window_of(records)
    expected = Counter(each.signatures.idf for each in records if each.signatures.idf)
    found = {records[facet.row].signatures.idf: facet.documents for facet in by_table(window)}
    assert found == expected


def test_an_empty_window_has_none() -> None:
    window = Window.of([], Policy())
    assert (by_source(window, 5), by_table(window), by_year(window)) == ([], [], [])
