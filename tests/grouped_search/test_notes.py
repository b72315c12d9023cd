"""An answer notes what its query did not find out for itself."""

from ibidem.grouped_search.api import count_lacking, query_notes
from ibidem_engines.cursor import NOW
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query


def test_documents_without_a_language_are_counted_where_a_filter_leaves_them_out(library: Engine) -> None:
    query = parse_query("said", ["language=fr"])
    every = library.search(parse_query("said"), 1).total
    own = library.search(parse_query("said", ["language=en"]), 1).total
    assert count_lacking(library, query, "language", NOW) == every - own
    assert query_notes(library, query, NOW, 0)["without_language"] == every - own


def test_without_such_a_filter_nothing_is_counted(library: Engine) -> None:
    assert "without_language" not in query_notes(library, parse_query("said"), NOW, 7)


def test_a_word_that_nothing_holds_gets_a_suggestion_where_nothing_matches(library: Engine) -> None:
    assert query_notes(library, parse_query("saidd"), NOW, 0)["did_you_mean"]
    assert query_notes(library, parse_query("said"), NOW, 7)["did_you_mean"] == ""
