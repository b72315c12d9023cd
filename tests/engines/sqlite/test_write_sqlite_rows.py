"""Records as rows, and which are refused before anything is written."""

from dataclasses import replace

import pytest

from ibidem_engines.engine import WriteStatus
from ibidem_engines.sqlite import write
from ibidem_engines.sqlite.write import prepare
from support.signed_records import make_record


def test_each_id_has_one_row_and_the_rest_an_outcome() -> None:
    records = [make_record("a"), make_record("b"), make_record("a", version=2), make_record("a", version=1)]
    ready, outcomes = prepare(records)
    assert [(each.position, each.id) for each in ready] == [(1, "b"), (2, "a")]
    assert sorted(outcomes) == [0, 3]
    assert all(outcome.status is WriteStatus.STALE for outcome in outcomes.values())


@pytest.mark.parametrize("version", [1 << 63, -(1 << 63) - 1])
def test_a_version_beyond_64_bits_is_refused(version: int) -> None:
    _, outcomes = prepare([make_record("a", version=version)])
    assert (outcomes[0].status, outcomes[0].field) == (WriteStatus.REFUSED, "version")
    assert str(version) in outcomes[0].why


def test_a_text_that_sqlite_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write, "MAX_CHARACTERS", 10)
    ready, outcomes = prepare([make_record("a", "0123456789"), make_record("b", "0123456789 ")])
    assert [each.id for each in ready] == ["a"]
    assert (outcomes[1].status, outcomes[1].field) == (WriteStatus.REFUSED, "text")


@pytest.mark.parametrize("field", ["id", "text", "title", "source", "language", "url"])
def test_half_a_character_is_refused_by_field_and_place(field: str) -> None:
    record = make_record("a")
    document = replace(record.document, **{field: "ab\udfff"})
    _, outcomes = prepare([replace(record, document=document)])
    assert (outcomes[0].status, outcomes[0].field) == (WriteStatus.REFUSED, field)
    assert outcomes[0].why.endswith("at 2")
