"""Tags of an index, in SQLite and in both clusters: given to a group in one step, kept whatever becomes of it."""

from collections.abc import Iterator
from itertools import count
from os import getpid
from pathlib import Path
from typing import Any

import pytest

from ibidem.index.documents import delete
from ibidem.index.tag_report import TagReport, report_tags
from ibidem.index.tags import (
    TagTarget,
    change_tag,
    find_duplicates,
    find_named,
    find_thread,
    ledger_rows,
    read_states,
    readable_tags,
)
from ibidem_dedupe.tags import MAX_DOCUMENTS
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.records import records
from ibidem_engines.stored_tags import load_tags
from ibidem_ingest.document import Document
from ibidem_ingest.errors import MissingDocument, UsageError
from ibidem_workers.groups.service import settle_all
from servers.indices import remove_indices
from support.leases import LEASE_WORDS, english_tables, rank_counts
from support.signed_records import make_record

SERVERS = [pytest.param(name, marks=pytest.mark.server(name)) for name in ("opensearch", "elasticsearch")]
GRAIN = "grain prices rose in chicago after the frost of early may had hurt the winter wheat of the plains"
STRIKE = "dock workers in the port of rotterdam went on strike on monday over pay and the length of the night shift"
NUMBERS = count(1)


@pytest.fixture(params=["sqlite", *SERVERS])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A story that is told three times, and another one."""
    index = f"tags-{getpid()}-{next(NUMBERS)}"
    kind: str = request.param
    address = f"sqlite:///{tmp_path}/index.sqlite" if kind == "sqlite" else request.getfixturevalue(kind)
    engine = open_engine(address, index)
    engine.create()
    engine.write([*(make_record(id_, GRAIN) for id_ in "abc"), make_record("x", STRIKE)])
    engine.refresh()
    yield engine
    engine.close()
    if kind != "sqlite":
        remove_indices(address, index)


def tags_of(engine: Engine, *ids: str) -> list[tuple[str, ...]]:
    """The tags of documents that hold."""
    states = read_states(engine, [(engine.index, id_) for id_ in ids])
    return [states[engine.index, id_].tags if (engine.index, id_) in states else () for id_ in ids]


def write(engine: Engine, id_: str, text: str, version: int = 2) -> None:
    engine.write([make_record(id_, text, version=version)])
    engine.refresh()


def report(engine: Engine, by: Any = "groups") -> TagReport:
    return report_tags(engine, load_tags(engine), by=by)


def check_sums(engine: Engine, found: TagReport) -> None:
    """Every document that has a tag is counted once."""
    counts = found.counts
    assert counts["groups"] == counts["inconsistent"] + counts["open"] + counts["complete"]
    assert counts["documents"] == counts["tagged"] + counts["untagged"] + counts["changed"]
    assert len(load_tags(engine).tagged) <= counts["documents"] + counts["outside"] + counts["gone"]


def test_a_group_is_tagged_in_one_entry_that_says_who_when_which_and_in_what(engine: Engine) -> None:
    entry = change_tag(engine, find_duplicates(engine, "b"), "Relevant", author="Ada", reason="the frost")
    assert load_tags(engine).entries == [entry]
    assert (entry.tag, entry.author, entry.reason, entry.kind) == ("relevant", "Ada", "the frost", "group")
    assert entry.lead == (engine.index, "b")
    assert sorted(each.id for each in entry.documents) == ["a", "b", "c"]
    assert all(each.content.startswith("ch") for each in entry.documents)
    assert entry.date.endswith("+00:00")
    assert tags_of(engine, "a", "b", "c", "x") == [("relevant",)] * 3 + [()]


def test_a_document_that_joins_a_group_later_is_not_yet_tagged(engine: Engine) -> None:
    change_tag(engine, find_duplicates(engine, "a"), "privileged")
    write(engine, "d", GRAIN)
    assert tags_of(engine, "d") == [()]
    found = report(engine)
    check_sums(engine, found)
    (group,) = found.having("open")
    assert {each.name[1]: each.state.state for each in group.documents} == {
        "a": "tagged", "b": "tagged", "c": "tagged", "d": "untagged",
    }  # fmt: skip


def test_a_document_that_is_deleted_keeps_its_rows_in_the_ledger(engine: Engine) -> None:
    change_tag(engine, find_duplicates(engine, "a"), "relevant")
    delete(engine, ["b"])
    rows = {row["id"]: row["state"] for row in ledger_rows(engine, load_tags(engine))}
    assert rows == {"a": "current", "b": "gone", "c": "current"}
    found = report(engine)
    assert (found.counts["complete"], found.counts["tagged"], found.counts["gone"]) == (1, 2, 1)
    check_sums(engine, found)


def test_a_text_that_has_changed_is_to_be_tagged_again(engine: Engine) -> None:
    change_tag(engine, find_named(engine, ["a", "x"]), "relevant")
    write(engine, "x", f"{STRIKE} and the ships waited")
    assert tags_of(engine, "a", "x") == [("relevant",), ()]
    assert read_states(engine, [(engine.index, "x")])[engine.index, "x"].state == "changed"
    assert [row["state"] for row in ledger_rows(engine, load_tags(engine))] == ["current", "changed"]
    change_tag(engine, find_named(engine, ["x"]), "relevant")
    assert tags_of(engine, "x") == [("relevant",)]
    assert [row["state"] for row in ledger_rows(engine, load_tags(engine))] == ["current", "replaced", "current"]


def test_a_group_from_which_every_tag_was_taken_back_is_as_one_that_never_had_any(engine: Engine) -> None:
    before = report(engine)
    group = find_duplicates(engine, "a")
    change_tag(engine, group, "privileged")
    assert report(engine).counts["complete"] == 1
    change_tag(engine, group, "privileged", action="remove")
    assert report(engine) == before
    assert len(list(ledger_rows(engine, load_tags(engine)))) == 6


@pytest.mark.parametrize("by", ["groups", "stored"])
def test_copies_that_were_tagged_differently_are_reported_with_who_said_what(engine: Engine, by: str) -> None:
    settle_all(engine)
    change_tag(engine, find_duplicates(engine, "a"), "relevant", author="Ada")
    change_tag(engine, find_named(engine, ["c"]), "not-relevant", author="Bo")
    change_tag(engine, find_named(engine, ["x"]), "relevant")
    found = report(engine, by)
    check_sums(engine, found)
    assert (found.counts["groups"], found.counts["inconsistent"], found.counts["complete"]) == (2, 1, 1)
    (group,) = found.having("inconsistent")
    assert group.is_of_copies
    assert group.differing == ["not-relevant", "relevant"]
    rows = {row["id"]: (row["tags"], row["author"]) for row in found.rows()}
    assert rows == {"a": (["relevant"], "Ada"), "b": (["relevant"], "Ada"), "c": (["not-relevant"], "Bo")}
    change_tag(engine, find_named(engine, ["c"]), "relevant", author="Bo")
    assert report(engine, by).counts["inconsistent"] == 0


def test_versions_that_were_tagged_differently_are_told_from_copies(engine: Engine) -> None:
    write(engine, "draft", f"{GRAIN} it was said")
    change_tag(engine, find_named(engine, ["a", "b", "c"]), "privileged")
    change_tag(engine, find_named(engine, ["draft"]), "relevant")
    (group,) = report(engine).having("inconsistent")
    assert not group.is_of_copies


def test_stored_groups_are_reported_only_where_there_are_some(engine: Engine) -> None:
    with pytest.raises(UsageError, match="ibidem backfill --groups"):
        report(engine, "stored")


def test_entries_are_in_the_order_of_time_and_none_replaces_another(engine: Engine) -> None:
    for number in range(30):
        change_tag(engine, find_named(engine, ["a"]), f"number {number}")
    assert [entry.tag for entry in load_tags(engine).entries] == [f"number {number}" for number in range(30)]


@pytest.mark.parametrize("ids", [["a", "nosuch"], ["nosuch"]])
def test_nothing_is_tagged_where_one_document_is_not_there(engine: Engine, ids: list[str]) -> None:
    with pytest.raises(MissingDocument, match="nosuch"):
        change_tag(engine, find_named(engine, ids), "relevant")
    with pytest.raises(MissingDocument, match="nosuch"):
        change_tag(engine, TagTarget([(engine.index, id_) for id_ in ids]), "relevant")
    assert not load_tags(engine).entries


def test_a_group_is_not_tagged_when_it_is_not_the_one_that_was_shown(engine: Engine) -> None:
    target = find_duplicates(engine, "a")
    target.check_count(3)
    with pytest.raises(UsageError, match="3 documents now, and had 2"):
        target.check_count(2)


@pytest.mark.parametrize("size", [0, MAX_DOCUMENTS + 1])
def test_a_step_of_too_many_or_no_documents_is_refused(engine: Engine, size: int) -> None:
    with pytest.raises(UsageError, match="from one to 10,000"):
        change_tag(engine, TagTarget([(engine.index, str(number)) for number in range(size)]), "relevant")


def test_documents_without_signatures_are_tagged_too(engine: Engine) -> None:
    write(engine, "blank", "* * *")
    change_tag(engine, find_named(engine, ["blank"]), "relevant")
    assert tags_of(engine, "blank") == [("relevant",)]


def test_every_entry_is_readable_where_every_document_is(engine: Engine) -> None:
    change_tag(engine, find_duplicates(engine, "a"), "relevant", reason="the frost")
    assert readable_tags(engine).entries == load_tags(engine).entries
    delete(engine, ["b"])
    (entry,) = readable_tags(engine).entries
    assert (sorted(each.id for each in entry.documents), entry.reason) == (["a", "c"], "")


MAILS = [
    Document("m1", "Is the rent of May due on Monday or may it wait until the bank opens again?",
             title="Rent", date="2026-05-01", meta={"type": "mail", "message-id": "<1@x>"}, version=1),
    Document("m2", "It may wait.", title="Rent", date="2026-05-02", version=1,
             meta={"type": "mail", "message-id": "<2@x>", "in-reply-to": "<1@x>"}),
    Document("m3", "The roof leaks.", title="Roof", date="2026-05-03", meta={"type": "mail", "message-id": "<3@x>"},
             version=1),
]  # fmt: skip


@pytest.fixture
def mails(tmp_path: Path) -> Iterator[Engine]:
    """Three mails, of which one answers another."""
    engine = open_engine(f"sqlite:///{tmp_path}/mails.sqlite", "mails")
    engine.create()
    engine.write(list(records(MAILS, english_tables(tmp_path / "tables", rank_counts(LEASE_WORDS)))))
    yield engine
    engine.close()


def test_a_thread_is_tagged_in_one_step_and_reported_where_its_mails_differ(mails: Engine) -> None:
    entry = change_tag(mails, find_thread(mails, "m2"), "privileged")
    assert [each.id for each in entry.documents] == ["m1", "m2"]
    assert (entry.kind, entry.lead) == ("thread", ("mails", "m1"))
    assert report(mails, "threads").counts["complete"] == 1
    change_tag(mails, find_named(mails, ["m1"]), "privileged", action="remove")
    change_tag(mails, find_named(mails, ["m1"]), "relevant")
    found = report(mails, "threads")
    check_sums(mails, found)
    assert [group.lead[1] for group in found.having("inconsistent")] == ["m1"]
    assert found.groups[0].kind == "thread"


def test_a_document_that_is_no_mail_has_no_thread(engine: Engine) -> None:
    with pytest.raises(UsageError, match="is not a mail"):
        find_thread(engine, "a")
