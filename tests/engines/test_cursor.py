"""A cursor comes back as it was written, for its list alone; any other text is refused."""

import json
from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.query import VERSION, Cursor, CursorCodec, Place, ReadView
from ibidem_ingest.errors import UsageError

CODEC = CursorCodec("news", "grain", "near")
WHOLE = st.integers(-(2**53), 2**53)
POINTS = st.text(st.characters(codec="utf-8"))
VIEWS = WHOLE.map(ReadView) | POINTS.map(lambda point: ReadView(point=point))
PAGES = st.none() | st.builds(Place, st.integers(0, 10**6), st.lists(WHOLE | st.none() | st.text("a\u00e9 ")))
CURSORS = st.builds(Cursor, VIEWS, PAGES)
FORGED = "no search of this index has issued it"


def write(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


@given(CURSORS)
def test_a_cursor_comes_back_as_it_was_from_a_text_for_urls(cursor: Cursor) -> None:
    text = CODEC.encode(cursor)
    assert CODEC.decode(text) == cursor
    assert text.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    "parts",
    [
        [None, ["a point in time"], None],
        *([number, "", None] for number in ("17", 17.5, True, 2**64)),
        [17, None, None],
        *([17, "", page] for page in ([1], ["1", []], [2**64, []], [1, {"a": 1}])),
        [17, ""],
        [17, "", None, None],
    ],
)
def test_parts_of_another_form_are_refused(parts: list[object]) -> None:
    with pytest.raises(UsageError, match=FORGED):
        CODEC.decode(write(json.dumps([VERSION, "", "", "", *parts]).encode()))


@given(st.text(min_size=1) | st.binary(min_size=1).map(lambda content: urlsafe_b64encode(content).decode()))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=FORGED):
        CODEC.decode(text)


@given(CURSORS, st.data())
def test_a_cursor_that_was_cut_off_is_refused(cursor: Cursor, data: st.DataObject) -> None:
    text = CODEC.encode(cursor)
    with pytest.raises(UsageError, match=FORGED):
        CODEC.decode(text[: data.draw(st.integers(1, len(text) - 1))])
