"""`ibidem groups` and `regroup` with `--threads` or `--versions`."""

import json
from hashlib import md5
from pathlib import Path

import pytest

from support.command_line import Answer, Run

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


LEASE = "The rent of {} marks for the house at the harbour is due on the first of May, and the roof is the landlord's."


@pytest.mark.slow
def test_a_row_is_written_for_each_document_and_counts_add_up(run: Run) -> None:
    folder = Path("leases")
    folder.mkdir()
    for name, rent in (("lease (2).txt", 60), ("lease.txt", 30)):
        (folder / name).write_text(f"Lease\n\n{LEASE.format(rent)}", encoding="utf-8")
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
