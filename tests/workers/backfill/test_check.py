"""Documents changed since they were signed are found."""

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers.backfill.run import backfill_in_place, check
from ibidem_workers.runs import summary
from workers.backfill.conftest import FIRST, Theirs, stories, story
from workers.conftest import fill


def test_what_others_changed_is_listed_and_what_no_signature_looks_at_is_not(theirs: Theirs) -> None:
    theirs.make(stories(8))
    backfill_in_place(theirs.settings)
    assert check(theirs.settings).as_json() == {
        "read": 8,
        "unchanged": 8,
        "changed": 0,
        "unsigned": 0,
        "outdated": 0,
        "due": 0,
        "refused": 0,
        "documents": [],
        "refusals": [],
    }
    theirs.write({"t2": {"body": {"content": "another people"}}, "t3": {"published": "1990/01/01"}}, verb="update")
    theirs.write({"t4": {"views": 7}, "t5": {"body": {"content": story(5)["body"]["content"].upper()}}}, verb="update")
    theirs.write({"t6": {"headline": "another"}, "t7": {"body": {"content": None}}}, verb="update")
    theirs.write({"t9": story(9)})
    report = check(theirs.settings)
    assert sorted(report.first_changed) == [(FIRST, "t2"), (FIRST, "t3"), (FIRST, "t6"), (FIRST, "t7")]
    assert (report.read, report.unchanged, report.changed, report.unsigned, report.refused) == (9, 4, 4, 1, 0)
    assert report.due == 7  # with the new one, the one in capitals, and the one with another `views`
    again = backfill_in_place(theirs.settings)
    assert summary(theirs.engine, again)["indexed"] == report.due
    assert (check(theirs.settings).changed, check(theirs.settings).due) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "xx"])
def test_what_was_ingested_and_never_touched_is_unchanged(settings: Settings, engine: Engine, language: str) -> None:
    documents = [
        Document(
            f"d{at}", story(at)["body"]["content"], "Title", date="1787-09", meta={"court": "9th", "pages": [1, 2.5]}
        )
        for at in range(30)
    ]
    fill([*documents, Document("blank", "* * *"), Document("other", "populus", language=language)], settings)
    report = check(settings)
    assert (report.read, report.unchanged, report.changed, report.unsigned) == (32, 31, 0, 1)
