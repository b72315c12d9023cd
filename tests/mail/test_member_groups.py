"""A list that is grouped by stored threads or works."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ibidem.grouped_search.api import EngineBackend, search_index
from ibidem_dedupe.request import parse_request
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_engines.signing import records
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_mail.memberships import write_threads, write_works
from support.general_tables import general_tables

QUESTION = "Is the roof of the barn tight, or does the rain come in where the slates were taken off in spring?"
ANSWER = f"The roof is tight since the slaters came on Monday.\n\nAnn wrote:\n> {QUESTION}\n"
QUOTED = "".join(f"> {line}\n" for line in ANSWER.splitlines())
THANKS = f"Thank you, then the roof can wait until autumn at the least, and the hay is dry.\n\nBen wrote:\n{QUOTED}"
BILL = "Slates for the roof, 400 pieces at two marks each, and the work of three men for a day, payable in June."
LEASE = "The rent of {} marks for the house is due on the first of May, and the roof of it is the landlord's to mend."

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
    Document("draft", LEASE.format(30), "Lease v1"),
    Document("final", LEASE.format(60), "Lease v2"),
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


def test_another_document_may_lead(engine: Engine) -> None:
    latest = ask(engine, "thread", dedupe_keep="latest")
    assert any(
        group[0] == ("thanks", 0) and {name for name, _ in group} == {name for name, _ in THREAD}
        for group in groups(latest)
    )
    earliest = ask(engine, "version", dedupe_keep="current")
    assert (("final", 0), ("draft", 1)) in groups(earliest)


def test_the_current_mail_of_a_thread_is_the_last_one(engine: Engine) -> None:
    (group,) = [group for group in groups(ask(engine, "thread", dedupe_keep="current")) if len(group) == len(THREAD)]
    assert group[0] == ("thanks", 0)


def test_no_document_is_read_for_the_order_of_versions_that_is_stored(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    versioned = EngineBackend.versioned

    def note(self: EngineBackend, hits: Sequence[Hit]) -> object:
        read.extend(hit.id for hit in hits)
        return versioned(self, hits)

    monkeypatch.setattr(EngineBackend, "versioned", note)
    ask(engine, "version", dedupe_keep="current")
    assert set(read).isdisjoint({"draft", "final"})


def test_where_few_are_shown_the_inclusive_ones_are(engine: Engine) -> None:
    response = ask(engine, "thread", dedupe_max_per_group="1")
    (group,) = [group for group in groups(response) if group[0] == ("question", 0)]
    assert group == (("question", 0), ("answer", 1))  # its attachment was dropped by the next mail
    assert marks(response)["answer"]["inclusive"]
    assert marks(response)["question"]["hidden"] == 2


def test_a_collapsed_thread_carries_its_mails_inside(engine: Engine) -> None:
    hits = ask(engine, "thread", "collapse")["hits"]["hits"]
    (lead,) = [hit for hit in hits if hit["_id"] == "question"]
    inner = lead["inner_hits"]["duplicates"]["hits"]
    assert inner["total"]["value"] == 3
    assert {hit["_id"] for hit in inner["hits"]} == {"answer", "thanks", "bill"}


def test_pages_show_each_document_once(engine: Engine) -> None:
    whole = [hit["_id"] for hit in ask(engine, "thread")["hits"]["hits"]]
    pages = [hit["_id"] for page in range(1, 6) for hit in ask(engine, "thread", page=page, size=1)["hits"]["hits"]]
    assert pages == whole


def test_where_nothing_is_stored_the_command_is_named(tmp_path: Path) -> None:
    account = ask(index(tmp_path, stored=False), "thread")["dedupe"]
    assert account["placed"] == 0
    assert account["remedy"].endswith("ibidem regroup --threads")


@pytest.mark.parametrize(("name", "value"), [("dedupe_by", "stored"), ("dedupe_scope", "matches")])
def test_what_does_not_go_with_it_is_refused(engine: Engine, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{name}={value} cannot be combined with dedupe_level=thread"):
        ask(engine, "thread", **{name: value})
