"""The account counts the documents and groups of a page (that the counts add up is a separate law)."""

from ibidem.grouped_search.stats import response_stats
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
