"""The cursor: it comes back whole, or is refused."""

from base64 import urlsafe_b64encode

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from ibidem.dedupe.request import DedupeRequest, parse_request
from ibidem.grouped_search import cursor
from ibidem_engines.cursor import query_digest
from ibidem_engines.query import Query, parse_query
from ibidem_ingest.errors import UsageError

QUERY = parse_query("export duty")
REQUEST = parse_request({"dedupe": "indent"})


def asked(written: str, **changes: object) -> DedupeRequest:
    return parse_request({"dedupe": "indent", "dedupe_cursor": written, **changes})


@given(st.text(max_size=200))
def test_the_engine_s_cursor_comes_back_as_it_was_and_may_stand_in_a_url(held: str) -> None:
    written = cursor.write(held, QUERY, REQUEST)
    assert cursor.read(QUERY, asked(written)) == held
    assert written.replace("-", "").replace("_", "").isalnum()


def test_no_cursor_is_an_empty_one() -> None:
    assert cursor.read(QUERY, REQUEST) == ""


@given(st.integers(0, 200), st.characters())
def test_a_damaged_cursor_is_refused(at: int, letter: str) -> None:
    written = cursor.write("place", QUERY, REQUEST)
    damaged = written[: at % len(written)] + letter + written[at % len(written) + 1 :]
    if damaged != written:
        with pytest.raises(UsageError, match="cursor"):
            cursor.read(QUERY, asked(damaged) if damaged.strip() == damaged else asked(f"x{damaged}"))


@pytest.mark.parametrize("damaged", ["x", "AAAA", "é", "A" * 20_000])
def test_what_is_no_cursor_is_refused(damaged: str) -> None:
    with pytest.raises(UsageError, match="damaged"):
        cursor.read(QUERY, asked(damaged))


def test_the_cursor_of_another_query_or_of_other_figures_is_refused() -> None:
    written = cursor.write("place", QUERY, REQUEST)
    with pytest.raises(UsageError, match="another query"):
        cursor.read(parse_query("export wheat"), asked(written))
    with pytest.raises(UsageError, match="another query"):
        cursor.read(QUERY, asked(written, dedupe_level="identical"))


def test_how_a_query_was_typed_and_which_lead_is_shown_do_not_matter() -> None:
    written = cursor.write("place", QUERY, REQUEST)
    typed = parse_query("export   duty")
    assert cursor.read(typed, asked(written, dedupe_keep="latest")) == "place"


def test_a_query_in_the_engine_s_own_language_has_a_hash_too() -> None:
    a, b = (Query(native={"match": {"text": word}}) for word in ("duty", "wheat"))
    assert query_digest(a) != query_digest(b)


@pytest.mark.parametrize("held", [b"1", b"null", b"[]", b'["c1"]'])
def test_who_knows_the_checksum_writes_no_cursor_that_is_taken(held: bytes) -> None:
    written = urlsafe_b64encode(xxhash.xxh3_64_digest(held) + held).decode().rstrip("=")
    with pytest.raises(UsageError, match="damaged"):
        cursor.read(QUERY, asked(written))
