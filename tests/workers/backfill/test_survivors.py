"""No document stays in a new index that was deleted from it, and none goes that was written since."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine, Outcome, Signed, SourceDocument, WriteStatus
from ibidem_engines.ledger import Tombstone
from ibidem_engines.stored_groups import Name
from ibidem_ingest.document import Document
from ibidem_workers.backfill.batch import delete_late_copies, find_survivors
from workers.conftest import fill

FIVE = {"version": 5}


@dataclass
class FirstIndex:
    tombstones: Mapping[str, Mapping[str, int]]

    def get_records(self, _: object) -> Iterator[tuple[str, object]]:
        return iter(self.tombstones.items())


@pytest.fixture
def news(settings: Settings, engine: Engine) -> Engine:
    """An index of documents, with a tombstone beside each that says nothing of the next version."""
    versions = {"old": 2, "same": 5, "new": 9}
    fill([Document(id_, f"a text of {id_}", version=number) for id_, number in versions.items()], settings)
    engine.put_records("tombstones", dict.fromkeys(versions, FIVE))
    return engine


def copy(id_: str, version: int) -> Signed:
    name = Name("news", id_, 1)
    document = Document(id_, "a text")
    return SourceDocument(name, document, "", version, "", "", "", packed=b"", state=(1, 1), order=1), None


def delete(engine: Engine, copies: list[Signed], outcomes: list[Outcome], *known: str) -> list[str]:
    """Delete survivors; returns the ids of those that are stale because of a deletion."""
    first = cast("Any", FirstIndex(dict.fromkeys(known, FIVE)))
    results = delete_late_copies(engine, first, copies, outcomes)
    return [each.id for each in results if each.why.startswith("it was deleted")]


@pytest.mark.slow
def test_a_document_that_is_no_newer_than_its_tombstone_has_survived_it(news: Engine) -> None:
    tombstones = dict.fromkeys(("old", "same", "new", "missing"), Tombstone(5))
    assert find_survivors(news, tombstones) == {"old", "same"}
    assert find_survivors(news, {}) == set()


@pytest.mark.slow
def test_what_was_copied_behind_its_deletion_goes_and_a_newer_document_stays(news: Engine) -> None:
    copies = [copy("old", 2), copy("new", 9)]
    assert delete(news, copies, [Outcome(each, WriteStatus.INDEXED, 1) for each in ("old", "new")]) == ["old"]
    news.refresh()
    assert {hit.id for hits in news.scan() for hit in hits} == {"same", "new"}


@pytest.mark.slow
def test_what_an_earlier_process_copied_goes_too_unless_another_document_has_its_id_since(news: Engine) -> None:
    copies = [copy("old", 2), copy("new", 3)]
    assert delete(news, copies, [Outcome(each, WriteStatus.STALE) for each in ("old", "new")]) == ["old"]
    news.refresh()
    assert {hit.id for hits in news.scan() for hit in hits} == {"same", "new"}


@pytest.mark.slow
def test_another_programs_document_goes_where_the_first_index_does_not_know_of_the_deletion(engine: Engine) -> None:
    ids = ["theirs", "theirs, deleted"]
    engine.put_records("tombstones", dict.fromkeys(ids, FIVE))
    outcomes = [Outcome(each, WriteStatus.INDEXED, at) for at, each in enumerate(ids, 1)]
    assert delete(engine, [copy(each, 0) for each in ids], outcomes, "theirs") == ["theirs, deleted"]
