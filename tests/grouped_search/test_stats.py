"""The account counts the documents and groups of a page (that the counts add up is a separate law)."""

from ibidem.grouped_search.stats import count_other_tables, count_short, response_stats
from ibidem.grouped_search.window import Window
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import parse_request
from support.windows import TABLES, SampleWindow, signatures, value

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
