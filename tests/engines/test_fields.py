"""A user's own index keeps its names; ours are found through a list of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.fields import Fields, parse_fields, put_at, value_at
from ibidem_ingest.errors import UsageError

PATHS = st.lists(st.text("abc", min_size=1), min_size=1, max_size=3).map(".".join)


def test_what_is_not_named_keeps_our_name() -> None:
    assert parse_fields("title=headline, text=article.body,meta=") == Fields(
        title="headline", text="article.body", meta=""
    )


def test_nothing_named_is_an_index_of_our_own() -> None:
    assert parse_fields("").own
    assert not parse_fields("text=body").own


@pytest.mark.parametrize("text", ["heading=h", "title", "title=", "=h", "text=a,text=b", "text=ibidem.content"])
def test_a_name_that_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_fields(text)


@given(PATHS, st.text())
def test_what_is_put_at_a_path_is_found_there(path: str, value: str) -> None:
    source: dict[str, object] = {}
    put_at(source, path, value)
    assert value_at(source, path) == value


def test_a_name_with_a_dot_is_found_as_it_is_written() -> None:
    assert value_at({"article.body": "text"}, "article.body") == "text"


def test_nothing_is_found_where_nothing_stands() -> None:
    assert value_at({"article": "text"}, "article.body") is None
