"""Facets count the documents and groups of a window.

The account counts the documents and groups of a page (that the counts add up is a separate law).
"""

from collections import Counter, defaultdict

from ibidem.grouped_search.stats import (
    count_other_tables,
    count_short,
    count_sources,
    count_tables,
    count_years,
    response_stats,
)
from ibidem.grouped_search.window import Window
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import parse_request
from ibidem_engines.engine import Hit, Record
from support.windows import TABLES, SampleWindow, signatures, value


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


LENGTHS = [200, 4, 5, 1]
TABLE_OF = [TABLES[0], TABLES[0], TABLES[1], ""]
VALUES = [
    value(signatures(at, length=length, idf=table), f"{at}")
    for at, (length, table) in enumerate(zip(LENGTHS, TABLE_OF, strict=True))
]
WINDOW = Window.group(SampleWindow([*VALUES, None]).hits, Policy())


def test_texts_of_fewer_than_five_words_are_too_short() -> None:
    assert count_short(WINDOW.columns, 5) == 2
    assert count_short(WINDOW.columns, 2) == 1


def test_documents_of_another_table_than_the_current_ones_are_mixed() -> None:
    assert count_other_tables(WINDOW.columns, 5, [TABLES[1]]) == 2
    assert count_other_tables(WINDOW.columns, 5, TABLES) == 0


def test_without_a_current_table_the_most_common_one_counts_as_current() -> None:
    assert count_other_tables(WINDOW.columns, 5, []) == 1


def test_a_total_below_what_was_read_is_raised_to_it() -> None:
    statistics = response_stats(WINDOW, [], parse_request({"dedupe": "indent"}), 3)
    assert statistics["documents"] == {"matched": 5, "in_window": 5, "beyond_window": 0, "on_page": 0}


def test_a_window_that_cannot_grow_further_says_so() -> None:
    deep_window = Window.group(WINDOW.hits * 2_000, Policy("identical"))
    assert response_stats(deep_window, [], parse_request({"dedupe": "indent"}), 10_001)["limited"] is True
    assert response_stats(deep_window, [], parse_request({"dedupe": "indent"}), 10_000)["limited"] is False


def test_every_part_that_the_response_promises_is_there() -> None:
    statistics = response_stats(WINDOW, [], parse_request({"dedupe": "indent", "dedupe_keep": "source:AP"}), 5)
    assert statistics["keep"] == "source:AP"
    assert statistics.keys() >= {
        "mode",
        "level",
        "keep",
        "window",
        "scope",
        "documents",
        "groups",
        "duplicates",
        "unsigned",
        "too_short",
        "capped",
        "only_counted",
        "mixed_tables",
        "late",
        "cursor",
        "took_ms",
    }
