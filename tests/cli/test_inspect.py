"""`ibidem inspect`: one document's duplicates in the whole index."""

import json
from pathlib import Path

import pytest

from support.command_line import Answer, Run


def test_inspect_shows_the_duplicates_of_one_document_in_the_whole_index(run: Run, answer: Answer) -> None:
    code, out, _ = run("inspect", "copy")
    assert code == 0
    assert "└ Lease: rent, roof, drains\n  lease\n  identical: the same words in the same order, 1 day apart" in out
    assert out.endswith("2 duplicates\nIts stored group of 3 documents is led by lease; joined by: content.\n")
    output = answer("inspect", "copy")
    assert [duplicate["level"] for duplicate in output["duplicates"]] == ["identical", "near"]
    assert [duplicate["id"] for duplicate in answer("inspect", "copy", "--level", "identical")["duplicates"]] == [
        "lease"
    ]


def test_inspect_shows_the_stored_group_and_what_joined_the_document_to_it(answer: Answer) -> None:
    lead, draft = answer("inspect", "lease")["group"], answer("inspect", "draft")["group"]
    assert lead["name"] == draft["name"]
    assert (lead["lead"], lead["documents"], lead["signature"]) == ("lease", 3, None)
    assert (draft["lead"], draft["documents"], draft["signature"]) == ("lease", 3, "minhash")


def test_inspect_of_what_is_not_there_is_a_wrong_use(run: Run) -> None:
    assert run("inspect", "nosuch")[0] == 2


@pytest.mark.slow
def test_inspect_prints_fifty_duplicates_and_all_as_json(run: Run, answer: Answer) -> None:
    text = "the tenant shall keep the roof and the drains in repair and pay the rent on quarter days"
    lines = [json.dumps({"id": f"copy{at}", "text": text}) for at in range(53)]
    Path("copies.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert run("ingest", "copies.jsonl")[0] == 0
    excerpt = run("inspect", "copy0")[1]
    assert excerpt.count("identical:") == 50
    assert "+ 2 more duplicates; --json shows them" in excerpt
    assert "52 duplicates" in excerpt
    assert len(answer("inspect", "copy0")["duplicates"]) == 52


@pytest.mark.slow
def test_inspect_explains_why_the_group_has_another_number_of_documents(run: Run) -> None:
    assert "The two numbers differ" not in run("inspect", "copy")[1]
    assert "The two numbers differ because" in run("inspect", "copy", "--level", "identical")[1]
