"""The stored thread of a mail."""

from pathlib import Path

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import records
from ibidem_ingest.document import Document
from ibidem_mail.memberships import write_threads
from ibidem_mail.report import describe, read, read_thread
from support.general_tables import general_tables
from support.mail_thread import MAILS, RENT
from support.some import some

BILL = Document(
    "bill", "Slates, 400 pieces at two marks each, for the barn.", title="bill.txt", meta={"family": "last"}
)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "mail")
    engine.create()
    engine.write(list(records([*MAILS, BILL, Document("letter", RENT)], general_tables())))
    engine.refresh()
    write_threads(engine)
    return engine


def test_a_thread_is_a_tree_with_inclusive_answers_first_and_attachments_below_their_mail(engine: Engine) -> None:
    thread = some(read_thread(engine, "bill"))
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


def test_ancestors_holders_and_altered_quotations_are_known(engine: Engine) -> None:
    thread = some(read_thread(engine, "last"))
    assert [each.id for each in thread.ancestors("last")] == ["faithful", "question"]
    assert [each.document.id for each in thread.entries if each.alters] == ["altered", "evil"]
    assert {each.document.id: set(each.holders) for each in thread.entries if each.holders} == {
        "question": {"faithful", "last"},
        "faithful": {"last"},
    }


def test_an_inspection_says_why_a_mail_is_in_its_thread_and_which_mails_hold_it(engine: Engine) -> None:
    lines = {name: describe(read(engine, name)) for name in ("question", "faithful", "altered")}
    assert lines["question"] == [
        "Thread of 7 documents that begins with question: it answers no mail; faithful and last hold all of it."
    ]
    assert lines["faithful"][0].endswith("answers question, according to its header; last holds all of it.")
    assert lines["altered"][0].endswith("no other mail holds all of it.")
    assert read(engine, "question")["thread"]["contained_in"] == ["faithful", "last"]
