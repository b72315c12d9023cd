"""Submitting: every document travels once with a version, and what cannot be read is noted."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import orjson
import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document, read_record
from ibidem_ingest.errors import Refusal
from ibidem_workers.batches import SerializedBatch
from ibidem_workers.ingest import REFUSALS_A_SLICE, Submission, record, summary


class Sent(list[dict[str, object]]):
    def send(self, _: str, batch: SerializedBatch) -> None:
        self.extend(orjson.loads(each.json) for each in batch.documents)


@pytest.fixture
def sent() -> Sent:
    return Sent()


def test_documents_without_a_version_get_one_that_grows_with_the_lines_and_in_a_later_run(
    engine: Engine, settings: Settings, sent: Sent
) -> None:
    total = [Document(str(number), "x") for number in range(500)]
    Submission(engine, settings, sent).send([Document("b", "x", version=7), *total])
    Submission(engine, settings, sent).send([Document("0", "y")])
    given, *versions = [int(str(record["version"])) for record in sent]
    assert given == 7
    assert versions == sorted(set(versions))
    assert versions[0] > 10**15


def test_what_cannot_be_read_is_noted_in_slices_and_listed_whole(
    engine: Engine, settings: Settings, sent: Sent
) -> None:
    total = 2 * REFUSALS_A_SLICE + 3
    run = Submission(engine, settings, sent).send(Refusal(f"f:{at}", "", "", "not JSON") for at in range(total)).run
    counts = summary(engine, run)
    assert (counts["read"], counts["refused"], counts["state"]) == (total, total, "done")
    refusals = counts["refusals"]
    assert isinstance(refusals, list)
    assert [record["where"] for record in refusals] == [f"f:{at}" for at in range(total)]


def test_a_value_that_json_cannot_carry_is_refused_before_it_travels(
    engine: Engine, settings: Settings, sent: Sent
) -> None:
    run = Submission(engine, settings, sent).send([Document("a", "x", meta={"n": 2**70}), Document("b", "x")]).run
    assert [record["id"] for record in sent] == ["b"]
    (refusal,) = summary(engine, run)["refusals"]  # type: ignore[misc] # a list, as the test above shows
    assert (refusal["id"], refusal["field"]) == ("a", "meta")


def test_documents_whose_date_cannot_be_read_are_counted(engine: Engine, settings: Settings, sent: Sent) -> None:
    dates = ["circa 1787", "03/04/2024", "March 4, 2024", "1787", None]
    documents = [read_record({"id": f"d{n}", "text": "x", "date": date}, "f") for n, date in enumerate(dates)]
    run = Submission(engine, settings, sent).send([*documents, Document("hand", "x", date="44 BC")]).run
    assert summary(engine, run)["unread_dates"] == 3


def test_a_note_that_the_engine_carries_out_late_undoes_no_later_one(
    engine: Engine, settings: Settings, sent: Sent
) -> None:
    """A node that nobody heard had it in hand: the run was `reading` for ever, and its command never ended."""
    kind, late = type(engine), list[Callable[[], object]]()

    def noted(name: str) -> Callable[..., object]:
        do = getattr(kind, name)

        def request(*arguments: object) -> object:
            late.append(partial(do, *arguments))
            return do(*arguments)

        return request

    with ExitStack() as stack:
        for name in ("put_records", "replace_record"):
            stack.enter_context(patch.object(kind, name, noted(name)))
        run = Submission(engine, settings, sent).send([Document("a", "x")]).run
    late[0]()
    assert record(engine, run).state == "submitted"
