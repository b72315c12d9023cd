"""Threads and works of an index, stored with its documents, and the stored thread of a mail."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_mail.memberships import ThreadMember, write_threads
from ibidem_mail.report import read_thread
from ibidem_workers.batches import records
from mail.letters import LEASE as RENT
from mail.letters import answer, mail
from mail.test_thread_places import places
from support import mail_thread
from support.general_tables import general_tables
from support.some import some

QUESTION = "Is the roof of the barn tight, or does the rain come in where the slates were taken off in spring?"
ANSWER = f"It is tight since the slaters came on Monday.\n\nAnn wrote:\n> {QUESTION}\n"
BILL = "Slates, 400 pieces at two marks each, and the work of three men for a day, to be paid by the end of June."

MAILS = (
    Document("1", QUESTION, meta={"message-id": "<1@x>", "family": "1", "attachments": ["bill.txt"]}),
    Document("1/1", BILL, meta={"family": "1"}),
    Document("2", ANSWER, meta={"message-id": "<2@x>", "in-reply-to": "<1@x>", "attachments": ["bill.txt"]}),
)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "mail")
    engine.create()
    write(engine, *MAILS)
    return engine


def write(engine: Engine, *documents: Document) -> None:
    engine.write(list(records(documents, general_tables())))
    engine.refresh()


def test_only_what_has_changed_is_written_again(engine: Engine) -> None:
    seen: list[int] = []
    write_threads(engine, seen.append)
    assert seen == [3]
    assert write_threads(engine).written == 0
    write(engine, Document("2", QUESTION[::-1], meta={"type": "mail"}))
    assert places(engine)["2"] is None
    written = write_threads(engine)
    assert written.as_json("threads") == {"documents": 3, "threads": 2, "written": 3, "changed": 0, "ambiguous": 0}
    assert places(engine)["1"] == ThreadMember("1", "", "", inclusive=True)


def test_an_attachment_whose_mail_is_gone_is_of_no_thread(engine: Engine) -> None:
    write_threads(engine)
    engine.delete(["1"], 2)
    write_threads(engine)
    assert places(engine)["1/1"] is None


@pytest.mark.slow
def test_a_quotation_that_is_two_hundred_deep_is_one_thread_with_one_inclusive_mail(tmp_path: Path) -> None:
    texts = [RENT]
    for at in range(1, 201):
        texts.append(answer(f"answer number {at} about the house and rent {at}", texts[-1]))
    mails = [mail(f"{at}", text, hour=at) for at, text in enumerate(texts)]
    (signed,) = records([MAILS[0]], general_tables())  # threads read no signatures
    with closing(open_engine(f"sqlite:///{tmp_path}/mailbox.sqlite", "mail")) as mailbox:
        mailbox.create()
        mailbox.write([replace(signed, document=each, digest=each.id) for each in mails])
        written = write_threads(mailbox)
        found = {name: thread for name, thread in places(mailbox).items() if thread}
    assert (written.documents, written.sets, written.written) == (201, 1, 201)
    assert [name for name, place in found.items() if place.inclusive] == ["200"]
    assert {place.by for place in found.values()} == {"", "quotation"}


ATTACHED = Document(
    "bill", "Slates, 400 pieces at two marks each, for the barn.", title="bill.txt", meta={"family": "last"}
)


@pytest.fixture
def threads(tmp_path: Path) -> Engine:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "mail")
    engine.create()
    engine.write(list(records([*mail_thread.MAILS, ATTACHED, Document("letter", mail_thread.RENT)], general_tables())))
    engine.refresh()
    write_threads(engine)
    return engine


def test_a_thread_is_a_tree_with_inclusive_answers_first_and_attachments_below_their_mail(threads: Engine) -> None:
    thread = some(read_thread(threads, "bill"))
    assert [(each.document.id, each.depth) for each in thread.entries] == [
        ("question", 0),
        ("altered", 1),
        ("inline", 1),
        ("evil", 1),
        ("faithful", 1),
        ("last", 2),
        ("bill", 3),
    ]
    assert (thread.total, thread.families, thread.inclusive) == (7, 6, 4)
