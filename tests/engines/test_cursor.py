"""A cursor comes back as it was written, with its key and for its list alone; any other text is refused."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from hashlib import sha256
from hmac import digest

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.cursor import Cursor, CursorCodec, NextPage, ReadView
from ibidem_ingest.errors import UsageError

KEY = bytes(range(32))
CODEC = CursorCodec(KEY, "news", "grain", "near")
WHOLE = st.integers(-(2**53), 2**53)
VIEWS = st.builds(ReadView, WHOLE) | st.builds(ReadView, point=st.text(st.characters(codec="utf-8")))
PAGES = st.none() | st.builds(NextPage, st.integers(0, 10**6), st.lists(WHOLE | st.none() | st.text("a\u00e9 ")))
CURSORS = st.builds(Cursor, VIEWS, PAGES)
FORGED = "no search of this index has issued it"


def read_parts(text: str) -> list[object]:
    """The parts of a cursor, which anybody can read."""
    content = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    parts: list[object] = orjson.loads(content[32:])
    return parts


def write_with(code: bytes, parts: object) -> str:
    return urlsafe_b64encode(code + orjson.dumps(parts)).decode().rstrip("=")


@given(CURSORS)
def test_a_cursor_comes_back_as_it_was_from_a_text_for_urls(cursor: Cursor) -> None:
    text = CODEC.encode(cursor)
    assert CODEC.decode(text) == cursor
    assert text.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    ("codec", "why"),
    [
        (replace(CODEC, key=bytes(32)), FORGED),
        (replace(CODEC, index="law"), "another index"),
        (replace(CODEC, query="wheat"), "another query"),
        (replace(CODEC, parameters="identical"), "another query, level, window or preset"),
        (replace(CODEC, key=b""), "has no signing key"),
    ],
)
def test_the_cursor_of_another_list_or_another_key_is_refused(codec: CursorCodec, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        codec.decode(CODEC.encode(Cursor(ReadView(17))))


def test_who_writes_a_point_in_time_into_a_cursor_is_refused() -> None:
    parts = read_parts(CODEC.encode(Cursor(ReadView(17))))
    forged = [*parts[:4], None, "a point in time of another index", None]
    body = orjson.dumps(forged)
    for code in (
        sha256(body).digest(),
        digest(b"", body, "sha256"),
        digest(b"guessed", body, "sha256"),
        b"",
        bytes(32),
    ):
        with pytest.raises(UsageError, match=FORGED):
            CODEC.decode(write_with(code, forged))


@given(st.text(min_size=1) | st.binary(min_size=1).map(lambda content: urlsafe_b64encode(content).decode()))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=FORGED):
        CODEC.decode(text)


@given(CURSORS, st.data())
def test_one_changed_byte_makes_it_invalid(cursor: Cursor, data: st.DataObject) -> None:
    text = CODEC.encode(cursor)
    content = bytearray(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(UsageError, match=FORGED):
        CODEC.decode(urlsafe_b64encode(content).decode())
