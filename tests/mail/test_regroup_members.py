"""`ibidem regroup --threads` and `--versions`: threads and works that are stored with the documents."""

import json
from pathlib import Path

import pytest

from mail.test_groups_threads import write_mailbox
from support.command_line import Run


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


def test_they_go_with_no_figures(run: Run) -> None:
    for other in (("--all",), ("--preset", "law")):
        code, _, err = run("regroup", "--threads", *other)
        assert code == 2
        assert "--threads and --versions cannot be combined with --similarity, --preset, --window-days or --all" in err
