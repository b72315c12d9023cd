"""Threads: counts that add up, mails that hold others, what is altered, and groups beside them."""

import json
from collections.abc import Sequence
from hashlib import md5
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem_ingest.document import Document
from ibidem_mail.forest import MAX_COMPARED, BodySection, Forest, ThreadedMail, altered_words, body_sections, holds
from ibidem_mail.parents import Parents, ThreadMail, thread_mails
from mail.letters import LEASE, PAID, ROOF, answer, mail
from support.command_line import Answer, Run
from support.examples import examples
from support.mail_thread import FAITHFUL, RENT, WROTE, quote


def grow(documents: Sequence[Document]) -> Forest:
    return Forest.grow(Parents.find(thread_mails(documents)))


def rows(*documents: Document) -> dict[str, ThreadedMail]:
    return {row.id: row for row in grow(documents).rows()}


FIRST = mail("a", LEASE, hour=1)
SECOND = mail("b", answer(ROOF, LEASE), hour=2, subject="Re: lease")


def test_a_dropped_attachment_and_a_cut_quotation_make_a_mail_inclusive() -> None:
    with_file = mail("a", LEASE, hour=1, attachments=["lease.pdf"])
    assert rows(with_file, SECOND)["a"].inclusive
    cut = mail("b", answer(ROOF, LEASE[:60]), hour=2)
    assert rows(FIRST, cut)["a"].inclusive
    assert rows(FIRST, cut)["b"].parent == "a"


def test_an_altered_quotation_is_named_and_what_it_alters_stays_inclusive() -> None:
    forest = grow([FIRST, mail("b", answer(ROOF, LEASE.replace("first of May", "tenth of May")), hour=2)])
    ((quoted, answering, changes),) = forest.altered()
    assert (quoted, answering) == ("a", "b")
    start, end = changes[0].words
    assert "first" in LEASE.split()[start:end]
    assert all(row.inclusive for row in forest.rows())
    assert not list(grow([FIRST, mail("b", answer(ROOF, LEASE[:60]), hour=2)]).altered())


@given(st.permutations(range(6)))
@settings(max_examples=examples(50))
def test_threads_and_their_first_mails_are_the_same_in_whatever_order_mails_are_read(order: list[int]) -> None:
    """A copy, a circle and answers to a missing mail, of one time or of none: of these the ids decide."""
    mails = [
        mail("in#9", LEASE, number="a", hour=1),
        mail("in#10", LEASE, number="a", hour=1),
        mail("x", ROOF, number="x", parent="y"),
        mail("y", PAID, number="y", parent="x"),
        mail("p", answer(ROOF, LEASE), number="p", parent="gone"),
        mail("q", answer(PAID, LEASE), number="q", parent="gone"),
    ]
    found = rows(*(mails[at] for at in order))
    assert list(found.values()) == list(rows(*mails).values())
    others = {name: row.thread for name, row in found.items() if row.thread != name}
    assert others == {"in#10": "in#9", "y": "x", "p": "in#9", "q": "in#9"}
    assert found["x"].parent is None
    assert "in#9" in found["in#10"].contained_in


def read(text: str) -> ThreadMail:
    (found,) = thread_mails([mail("a", text)])
    return found


def test_a_mail_is_held_where_damaged_marks_change_the_depth_of_its_lines() -> None:
    damaged = quote(answer(ROOF, LEASE)).replace("> > The rent", "> The rent").replace("> I shall", "I shall")
    assert holds(read(f"{damaged}\n{PAID}"), read(answer(ROOF, LEASE)))


def test_a_few_words_between_quoted_lines_are_not_held_by_an_answer_that_drops_them() -> None:
    mail = f"{quote(LEASE)}Yes, it is.\n{quote(PAID)}No."
    assert holds(read(f"{quote(mail)}\n{ROOF}"), read(mail))
    assert not holds(read(f"{quote(mail.replace('No.', ''))}\n{ROOF}"), read(mail))
    assert not holds(read(f"{quote(mail.replace('Yes, it is.', ''))}\nYes, it is. {ROOF}"), read(mail))


def test_changed_words_are_found_at_both_ends_and_between() -> None:
    for old, new in (("The", "This"), ("house", "home"), ("before", "after")):
        assert altered_words(read(LEASE).words[0], read(answer(ROOF, LEASE.replace(old, new))).words[1]), old


ALTERED = f"Look.\n\n{WROTE}{quote(RENT.replace('thirty', 'twenty'))}"


def changed(body: str, section: BodySection) -> list[tuple[str, str]]:
    return [(each.original, body[each.start : each.end]) for each in section.changes]


def test_the_words_that_a_quotation_has_in_place_of_others_are_named_with_both() -> None:
    own, quotation = body_sections(ALTERED, [RENT])
    assert changed(ALTERED, quotation) == [("thirty", "twenty")]
    assert (list(own.changes), quotation.lines, quotation.kind) == ([], 3, "quoted")
    assert not [each.changes for each in body_sections(FAITHFUL, [RENT]) if each.changes]


@pytest.mark.parametrize(
    ("heading", "author"),
    [
        (WROTE, "On 3 May 2004 at 10:00, Ann Landlord <ann@example.org> wrote"),
        ("-----Original Message-----\nFrom: Ann Landlord\nSent: 3.5.2004\nTo: Bob\nSubject: lease\n\n", "Ann Landlord"),
        ("", ""),
    ],
)
def test_an_author_is_the_sender_of_a_copied_head_or_the_line_above(heading: str, author: str) -> None:
    assert body_sections(f"Yes.\n\n{heading}{quote(RENT)}")[-1].author == author


@pytest.mark.slow
def test_a_body_of_megabytes_is_not_compared() -> None:
    body = ALTERED + "> more\n" * (MAX_COMPARED // 7 + 1)
    assert not body_sections(body, [RENT])[1].changes


MAILS = (
    ("a", "", "The rent of the house at the harbour is due on the first of May."),
    ("b", "a", "It was paid.\n\nAnn wrote:\n> The rent of the house at the harbour is due on the first of May."),
)


def write_mailbox() -> None:
    mails = [
        f"From x\nFrom: Ann <ann@example.org>\nSubject: lease\nMessage-ID: <{name}>\n"
        + (f"In-Reply-To: <{parent}>\n" if parent else "")
        + f"Date: Mon, {3 + at} May 2004 09:00:00 +0000\n\n{text}\n\n"
        for at, (name, parent, text) in enumerate(MAILS)
    ]
    Path("in.mbox").write_text("".join(mails), encoding="utf-8")


@pytest.mark.slow
def test_a_row_is_written_for_each_mail_and_counts_add_up(run: Run, answer: Answer) -> None:
    write_mailbox()
    assert run("ingest", "in.mbox")[0] == 0
    code, out, _ = run("groups", "--threads", "--export", "threads.jsonl", "--json")
    assert code == 0
    counts = json.loads(out)
    rows = [json.loads(line) for line in Path("threads.jsonl").read_text(encoding="utf-8").splitlines()]
    one, two = "in.mbox#1", "in.mbox#2"
    first, second = (md5(each, usedforsecurity=False).hexdigest() for each in (b"<a>", b"<b>"))
    keys = "thread", "id", "parent", "by", "inclusive", "contained_in", "mih"
    assert rows == [
        dict(zip(keys, (one, one, None, None, False, [two], first), strict=True)),
        dict(zip(keys, (one, two, one, "headers", True, [], second), strict=True)),
    ]
    assert run("inspect", two)[1].count(second) == 1
    assert [each["_id"] for each in answer("search", "rent", "--filter", f"meta.mih={first}")["hits"]["hits"]] == [one]
    assert counts["mails"] == counts["inclusive"] + counts["contained"] == counts["roots"] + sum(counts["by"].values())
    assert "2 mails in 1 thread; 1 inclusive, 1 contained in others" in run("groups", "--threads")[1]
    assert run("groups", "--threads", "--export", "threads.csv")[0] == 0
    assert Path("threads.csv").read_text(encoding="utf-8").splitlines()[1] == f"{one},{one},,,False,{two},{first}"


RENTED = "The rent of {} marks for the house at the harbour is due on the first of May, and the roof is the landlord's."


@pytest.mark.slow
def test_a_row_is_written_for_each_document_and_counts_add_up(run: Run) -> None:
    folder = Path("leases")
    folder.mkdir()
    for name, rent in (("lease (2).txt", 60), ("lease.txt", 30)):
        (folder / name).write_text(f"Lease\n\n{RENTED.format(rent)}", encoding="utf-8")
    assert run("ingest", "leases")[0] == 0
    code, out, _ = run("groups", "--versions", "--export", "versions.jsonl", "--json")
    assert code == 0
    counts = json.loads(out)
    written = [json.loads(line) for line in Path("versions.jsonl").read_text(encoding="utf-8").splitlines()]
    first, second = "lease.txt", "lease (2).txt"
    rows = [row for row in written if row["id"] in (first, second)]
    changed = [row.pop("changed") for row in rows]
    assert changed[0] == ""
    assert "rent of [30 → 60] marks for" in changed[1]
    assert rows == [
        {"work": first, "id": first, "version": 1, "current": False, "replaces": None, "by": None},
        {"work": first, "id": second, "version": 2, "current": True, "replaces": first, "by": "name"},
    ]
    assert counts["documents"] == counts["current"] + counts["replaced"] == counts["works"] + sum(counts["by"].values())
    assert counts["documents"] == len(written)
    assert f"{len(written)} documents of {counts['works']} works; " in run("groups", "--versions")[1]
    assert run("groups", "--versions", "--export", "versions.csv")[0] == 0


@pytest.mark.slow
def test_threads_and_works_are_stored_and_searches_are_narrowed_by_them(run: Run) -> None:
    write_mailbox()
    Path("lease v1.txt").write_text(
        "The rent is due on the first of May, and the roof is the landlord's.", encoding="utf-8"
    )
    assert run("ingest", "in.mbox", "lease v1.txt")[0] == 0
    code, out, err = run("regroup", "--threads", "--versions")
    assert code == 0, err
    assert "2 documents in 1 thread; 2 written" in out
    assert "6 documents in 4 works; 6 written" in out
    code, out, _ = run("search", "--filter", "inclusive=true", "--json")
    assert [hit["_id"] for hit in json.loads(out)["hits"]["hits"]] == ["in.mbox#2"]
    inspected = json.loads(run("inspect", "in.mbox#2", "--json")[1])
    one = "in.mbox#1"
    place = {"name": one, "documents": 2, "parent": one, "by": "headers", "inclusive": True, "contained_in": []}
    assert inspected["thread"] == place
    assert inspected["work"] == {}
    assert "it answers no mail; in.mbox#2 holds all of it." in " ".join(run("inspect", one)[1].split())
    said = " ".join(run("inspect", "in.mbox#2")[1].split())
    assert (
        f"Thread of 2 documents that begins with {one}: it answers {one}, according to its header; no other mail"
        in said
    )
    code, out, _ = run("search", "rent", "--level", "thread")
    assert code == 0
    lines = [line.rstrip() for line in out.splitlines()]
    at = lines.index("    └ lease", 1)
    assert lines[at + 1].strip().endswith("inclusive · in.mbox#2")
    assert lines[at + 2].strip() == "thread: answers in.mbox#1, according to its header"
    assert "families of mails and attachments" in out
    code, _, err = run("groups", "--level", "thread")
    assert code == 2
    assert "only groups the list of a search; it cannot decide on a pair" in err
    written = json.loads(run("regroup", "--threads", "--json")[1])
    assert written.pop("took_s") > 0
    assert written == {"threads": {"documents": 2, "threads": 1, "written": 0, "changed": 0, "ambiguous": 0}}


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        *(
            (
                f"groups --versions {other}",
                "--versions cannot be combined with --level, --similarity, --preset or --stored",
            )
            for other in ("--level partial", "--stored")
        ),
        ("groups --versions --threads", "--threads cannot be combined with --versions; ask for one of them"),
        *(
            (f"regroup --threads {other}", "--threads and --versions cannot be combined with --similarity, --preset,")
            for other in ("--all", "--preset law")
        ),
    ],
)
def test_threads_and_versions_go_with_no_figures_and_not_with_each_other(run: Run, typed: str, message: str) -> None:
    code, _, err = run(*typed.split())
    assert (code, message in " ".join(err.split())) == (2, True), err
