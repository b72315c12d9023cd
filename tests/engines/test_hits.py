"""The codec of cursors: parts come back as they were, and any other text is refused."""

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_digest

from ibidem_engines.hits import (
    LONGEST,
    decode_cursor,
    encode_cursor,
    query_digest,
    read_ranking_cursor,
    write_ranking_cursor,
)
from ibidem_engines.query import Query, parse_query
from ibidem_ingest.errors import UsageError

NO_CURSOR = "damaged|too long|base64|ASCII|padd"
GRAIN = parse_query("grain")
PARTS = st.lists(st.none() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])))


@given(PARTS)
def test_parts_come_back_from_a_text_for_urls(parts: list[object]) -> None:
    cursor = encode_cursor(parts)
    assert decode_cursor(cursor) == parts
    assert cursor.replace("-", "").replace("_", "").isalnum()


@given(st.text() | st.just("A" * (LONGEST + 1)))
def test_a_text_without_the_checksum_is_no_cursor(text: str) -> None:
    with pytest.raises(ValueError, match=NO_CURSOR):
        decode_cursor(text)


def test_json_that_is_no_list_is_no_cursor_in_spite_of_its_checksum() -> None:
    with pytest.raises(ValueError, match="no list"):
        decode_cursor(urlsafe_b64encode(xxh3_64_digest(b"1") + b"1").decode())


@given(st.integers(0, 200), st.characters())
def test_one_changed_character_makes_it_none(at: int, letter: str) -> None:
    cursor = encode_cursor(["grain", 17])
    damaged = cursor[: at % len(cursor)] + letter + cursor[at % len(cursor) + 1 :]
    if damaged != cursor:
        with pytest.raises(ValueError, match=NO_CURSOR):
            decode_cursor(damaged)


def test_a_ranking_cursor_of_another_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="none that a search has given"):
        read_ranking_cursor(write_ranking_cursor([17], "news", GRAIN), "news", GRAIN, 2)


def test_queries_that_mean_the_same_have_one_digest() -> None:
    assert query_digest(parse_query("  grain ")) == query_digest(GRAIN) != query_digest(Query(native={"match": {}}))
