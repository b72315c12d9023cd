"""Facets count the documents and groups of a window."""

from collections import Counter, defaultdict

from ibidem.grouped_search.stats import count_sources, count_tables, count_years
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


def test_each_year_has_its_documents_and_groups_the_latest_first(records: list[Record]) -> None:
    window = make_window(records)
    expected: dict[int, list[int]] = defaultdict(list)
    for row, each in enumerate(records):
        if each.document.date:
            expected[int(each.document.date[:4])].append(int(window.grouping.lead[row]))
    facets = count_years(window)
    assert [year for year, _ in facets] == sorted(expected, reverse=True)
    assert [(each.documents, each.groups) for _, each in facets] == [
        (len(leads), len(set(leads))) for _, leads in sorted(expected.items(), reverse=True)
    ]


def test_each_idf_table_has_the_documents_that_it_signed(records: list[Record]) -> None:
    window = make_window(records)
    expected = Counter(each.signatures.idf for each in records if each.signatures.idf)
    counts = {records[facet.row].signatures.idf: facet.documents for facet in count_tables(window)}
    assert counts == expected


def test_an_empty_window_has_none() -> None:
    window = Window.group([], Policy())
    assert (count_sources(window, 5), count_tables(window), count_years(window)) == ([], [], [])
