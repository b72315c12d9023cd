"""Whom a mail answers: by its head, by what it quotes, or by subject, people and time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.grouped_search.api import search_index
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_mail.forest import Forest
from ibidem_mail.memberships import write_threads, write_works
from ibidem_mail.parents import Parents, break_circles, thread_mails
from ibidem_workers.batches import records
from mail.letters import LEASE, PAID, ROOF, answer, mail
from support.examples import examples
from support.general_tables import general_tables


def find(documents: Sequence[Document]) -> dict[str, tuple[str | None, str | None]]:
    return {row.id: (row.parent, row.by) for row in Forest.grow(Parents.find(thread_mails(documents))).rows()}


@given(st.lists(st.integers(-1, 7), min_size=8, max_size=8), st.permutations(range(8)), st.booleans())
@settings(max_examples=examples(100))
def test_mails_have_one_place_in_whatever_order_they_are_read(
    answered: list[int], order: list[int], quotes: bool
) -> None:
    """Heads name earlier mails, later ones, the mail itself, or (`-1`) none; each quotes the one before it, or none."""
    texts = [LEASE]
    for at in range(1, 8):
        texts.append(answer(f"{ROOF if at % 2 else PAID} {at}", texts[at - 1]) if quotes else f"{LEASE} {at}")
    mails = [
        mail(f"{at}", text, number=f"{at}", parent=f"{parent}" if parent >= 0 else "", hour=at, subject=f"house {at}")
        for at, (parent, text) in enumerate(zip(answered, texts, strict=True))
    ]
    assert find([mails[at] for at in order]) == find(mails)


@given(st.lists(st.integers(0, 11), min_size=12, max_size=12))
@settings(max_examples=examples(200))
def test_no_mail_answers_itself_once_circles_are_cut(parents: list[int]) -> None:
    trees: list[int | None] = list(parents)
    for each in break_circles(trees):
        trees[each] = None
    for start in range(12):
        at: int | None = start
        for _ in range(13):
            at = at if at is None else trees[at]
        assert at is None


QUESTION = "Is the roof of the barn tight, or does the rain come in where the slates were taken off in spring?"
ANSWER = f"The roof is tight since the slaters came on Monday.\n\nAnn wrote:\n> {QUESTION}\n"
QUOTED = "".join(f"> {line}\n" for line in ANSWER.splitlines())
THANKS = f"Thank you, then the roof can wait until autumn at the least, and the hay is dry.\n\nBen wrote:\n{QUOTED}"
BILL = "Slates for the roof, 400 pieces at two marks each, and the work of three men for a day, payable in June."
TENANCY = "The rent of {} marks for the house is due on the first of May, and the roof of it is the landlord's to mend."

DOCUMENTS = (
    Document("thanks", THANKS, "Re: roof", "2004-05-05", meta={"message-id": "<3@x>", "in-reply-to": "<2@x>"}),
    Document("question", QUESTION, "roof", "2004-05-03", meta={"message-id": "<1@x>"}),
    Document(
        "answer",
        ANSWER,
        "Re: roof",
        "2004-05-04",
        meta={"message-id": "<2@x>", "in-reply-to": "<1@x>", "attachments": ["bill.txt"], "family": "answer"},
    ),
    Document("bill", BILL, "Bill", meta={"family": "answer"}),
    Document("copy", BILL, "Bill of the roof"),
    Document("draft", TENANCY.format(30), "Lease v1"),
    Document("final", TENANCY.format(60), "Lease v2"),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return index(tmp_path_factory.mktemp("mail"))


def index(folder: Path, *, stored: bool = True) -> Engine:
    engine = open_engine(f"sqlite:///{folder}/index.sqlite", "mail")
    engine.create()
    engine.write(list(records(DOCUMENTS, general_tables())))
    if stored:
        write_threads(engine)
        write_works(engine)
    return engine


def ask(engine: Engine, level: str, mode: str = "indent", page: int = 1, size: int = 10, **options: str) -> Any:
    given = {"dedupe": mode, "dedupe_level": level, "dedupe_explain": "true"}
    return search_index(engine, parse_query("roof"), parse_request(given | options), page, size)


def groups(response: Any) -> set[tuple[tuple[str, int], ...]]:
    """Return each group: ids with how deep they are indented."""
    found: list[list[tuple[str, int]]] = []
    for hit in response["hits"]["hits"]:
        found += [] if hit["_dedupe"]["indent"] else [[]]
        found[-1].append((hit["_id"], hit["_dedupe"]["indent"]))
    return set(map(tuple, found))


def marks(response: Any) -> dict[str, Any]:
    return {hit["_id"]: hit["_dedupe"] for hit in response["hits"]["hits"]}


THREAD = (("question", 0), ("answer", 1), ("thanks", 2), ("bill", 2))


def test_mails_are_below_what_they_answer_and_other_documents_are_grouped_by_their_text(engine: Engine) -> None:
    response = ask(engine, "thread")
    shown = groups(response)
    assert {(name, depth) for name, depth in THREAD} in [set(group) for group in shown]
    assert (("copy", 0),) in shown
    account = response["dedupe"]
    assert account["level"] == "thread"
    assert (account["placed"], account["families"]) == (4, 6)
    assert account["documents"]["in_window"] == account["groups"]["in_window"] + account["duplicates"] == 7


def test_each_mail_says_what_it_answers_and_whether_it_is_inclusive(engine: Engine) -> None:
    found = marks(ask(engine, "thread"))
    assert found["question"]["families"] == 3
    assert (found["question"]["inclusive"], found["question"]["parent"], found["question"]["level"]) == (
        False,
        None,
        None,
    )
    assert (found["thanks"]["inclusive"], found["thanks"]["of"]) == (True, "answer")
    assert found["thanks"]["why"] == {
        "signature": "thread",
        "by": "headers",
        "parent": "answer",
        "phrase": "answers answer, according to its header",
    }
    assert (found["bill"]["why"]["by"], found["bill"]["level"]) == ("family", "thread")
    assert len({found[name]["group"] for name, _ in THREAD}) == 1
    assert "inclusive" not in found["copy"]


def test_the_last_version_is_on_top_of_the_others(engine: Engine) -> None:
    response = ask(engine, "version")
    assert (("final", 0), ("draft", 1)) in groups(response)
    found = marks(response)
    assert (found["final"]["edition"], found["final"]["current"]) == (2, True)
    assert found["draft"]["why"] == {"signature": "version", "by": None, "edition": 1, "phrase": "version 1"}
    assert (found["draft"]["level"], found["draft"]["of"]) == ("version", "final")


def test_where_nothing_is_stored_the_command_is_named(tmp_path: Path) -> None:
    account = ask(index(tmp_path, stored=False), "thread")["dedupe"]
    assert account["placed"] == 0
    assert account["remedy"].endswith("ibidem regroup --threads")


@pytest.mark.parametrize(("name", "value"), [("dedupe_by", "stored"), ("dedupe_scope", "matches")])
def test_what_does_not_go_with_it_is_refused(engine: Engine, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{name}={value} cannot be combined with dedupe_level=thread"):
        ask(engine, "thread", **{name: value})
