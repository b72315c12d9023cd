"""Dead letters: listed, read again, dropped, and noted of a document that nobody can write down."""

import pytest

from ibidem_engines.engine import Engine
from ibidem_ingest.document import ORIGIN
from ibidem_ingest.errors import Refusal
from ibidem_workers.tasks import MAX_RECORD, RECORD_EXCERPT, DeadLetter, add_dead_letters, forget, letters, writable


def letter(name: str, run: str = "run-1", when: float = 1.0, **record: object) -> DeadLetter:
    refusal = Refusal("message run/0", name, "text", "it crashed its worker")
    return DeadLetter(run, refusal, 4, when, {"id": name, "text": "some text", "version": 3} | record)


def test_two_files_that_gave_one_id_fail_each_by_itself(engine: Engine) -> None:
    of_two_files = [letter("a", **{ORIGIN: origin}) for origin in ("/x/a", "/y/a")]
    add_dead_letters(engine, of_two_files)
    assert letters(engine) == of_two_files
    assert letters(engine, ["a"]) == of_two_files
    forget(engine, of_two_files[:1])
    assert letters(engine) == of_two_files[1:]


@pytest.mark.slow
def test_a_very_large_record_is_kept_by_its_beginning() -> None:
    record = writable({"id": "a", "text": "x" * MAX_RECORD})
    assert (record["id"], len(str(record["unwritable"]))) == ("a", RECORD_EXCERPT)
