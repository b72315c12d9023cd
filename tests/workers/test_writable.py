"""What is noted of a document that nobody can write down."""

import orjson
import pytest

from ibidem_ingest.errors import Refusal
from ibidem_workers.writable import BEGINNING, MOST, printable, writable


def nested(depth: int) -> object:
    """Return lists in lists."""
    value: object = "deep"
    for _ in range(depth):
        value = [value]
    return value


def test_a_record_that_can_be_written_stays_as_it_is() -> None:
    record = {"id": "a", "text": "x", "meta": {"a": [1, None]}}
    assert writable(record) is record


@pytest.mark.parametrize(
    "meta", [1 << 64, "\ud800", nested(400), float("nan")], ids=["number", "surrogate", "deep", "nan"]
)
def test_every_record_has_a_form_that_can_be_written_with_its_id(meta: object) -> None:
    kept = writable({"id": "a", "text": "We the People", "meta": meta})
    assert kept["id"] == "a"
    assert b"We the People" in orjson.dumps(kept)


def test_the_id_is_that_of_the_refusal() -> None:
    assert writable({"id": "a\ud800"})["id"] == "a\\ud800"


def test_a_very_large_record_is_kept_by_its_beginning() -> None:
    kept = writable({"id": "a", "text": "x" * MOST})
    assert (kept["id"], len(str(kept["unwritable"]))) == ("a", BEGINNING)


def test_half_a_character_in_a_reason_is_shown_by_its_number() -> None:
    assert printable(Refusal("a", "b", "c", "\ud800 é")) == Refusal("a", "b", "c", "\\ud800 é")
