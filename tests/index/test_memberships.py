"""Threads and works of an index, stored with its documents."""

from pathlib import Path

import pytest

from ibidem.index.memberships import write_threads, write_works
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.records import records
from ibidem_engines.stored_memberships import Memberships, ThreadMember, WorkMember
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables

QUESTION = "Is the roof of the barn tight, or does the rain come in where the slates were taken off in spring?"
ANSWER = f"It is tight since the slaters came on Monday.\n\nAnn wrote:\n> {QUESTION}\n"
LEASE = "The rent of {} marks for the house at the harbour is due on the first of May, and the roof is the landlord's."
BILL = "Slates, 400 pieces at two marks each, and the work of three men for a day, to be paid by the end of June."

MAILS = (
    Document("1", QUESTION, meta={"message-id": "<1@x>", "family": "1", "attachments": ["bill.txt"]}),
    Document("1/1", BILL, meta={"family": "1"}),
    Document("2", ANSWER, meta={"message-id": "<2@x>", "in-reply-to": "<1@x>", "attachments": ["bill.txt"]}),
)
LEASES = (Document("draft", LEASE.format(30), "Lease v1"), Document("final", LEASE.format(60), "Lease v2"))


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "mail")
    engine.create()
    write(engine, tmp_path, *MAILS, *LEASES)
    return engine


def write(engine: Engine, folder: Path, *documents: Document) -> None:
    engine.write(list(records(documents, Tables(folder / "tables"))))
    engine.refresh()


def stored(engine: Engine) -> dict[str, Memberships]:
    names = [(hit.index, hit.id) for hits in engine.scan() for hit in hits]
    return {name: each for (_, name), each in engine.run(engine.searching().memberships(names)).items()}


def test_mails_and_what_is_attached_to_them_are_of_a_thread(engine: Engine) -> None:
    seen: list[int] = []
    written = write_threads(engine, seen.append)
    assert written.as_json("threads") == {"documents": 3, "threads": 1, "written": 3, "changed": 0, "ambiguous": 0}
    assert stored(engine) == {
        "1": Memberships(ThreadMember("1", "", "", inclusive=False)),
        "1/1": Memberships(ThreadMember("1", "1", "family", inclusive=False)),
        "2": Memberships(ThreadMember("1", "1", "headers", inclusive=True)),
        "draft": Memberships(),
        "final": Memberships(),
    }
    assert seen == [5]


def test_versions_are_of_a_work(engine: Engine) -> None:
    assert write_works(engine).as_json("works") == {
        "documents": 3,
        "works": 2,
        "written": 3,
        "changed": 0,
        "ambiguous": 0,
    }
    found = stored(engine)
    assert found["draft"].work == WorkMember("draft", 1, "", current=False)
    assert found["final"].work == WorkMember("draft", 2, "name", current=True)
    assert found["1"] == Memberships()


def test_only_what_has_changed_is_written_again(engine: Engine, tmp_path: Path) -> None:
    write_threads(engine)
    assert write_threads(engine).written == 0
    write(engine, tmp_path, Document("2", QUESTION[::-1], meta={"type": "mail"}))
    assert stored(engine)["2"] == Memberships()
    assert write_threads(engine).as_json("threads") == {
        "documents": 3,
        "threads": 2,
        "written": 3,
        "changed": 0,
        "ambiguous": 0,
    }
    assert stored(engine)["1"] == Memberships(ThreadMember("1", "", "", inclusive=True))


def test_an_attachment_whose_mail_is_gone_is_of_no_thread(engine: Engine) -> None:
    write_threads(engine)
    engine.delete(["1"], 2)
    write_threads(engine)
    assert stored(engine)["1/1"] == Memberships()
