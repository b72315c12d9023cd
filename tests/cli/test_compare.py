"""`ibidem compare` and `inspect`: two documents, one document's duplicates, with the figures of a search."""

import json
import random
from pathlib import Path

import pytest

from support.command_line import Answer, Run
from support.leases import LEASE


def test_compare_tells_differences_only_of_texts_that_share_enough_to_read_them(run: Run) -> None:
    assert "differs" in run("compare", "lease", "draft")[1]
    assert "differs" not in run("compare", "lease", "letter")[1]


def test_compare_applies_a_manual_decision_on_the_pair(run: Run, answer: Answer) -> None:
    assert run("overrides", "add", "lease", "draft", "--reason", "another town", "--author", "ann")[0] == 0
    assert "no duplicates, by manual decision (ann · " in run("compare", "draft", "lease")[1]
    output = answer("compare", "draft", "lease")
    assert (output["level"], output["decision"]["verdict"], output["decision"]["stale"]) == (None, "not", False)
    assert run("overrides", "add", "lease", "letter", "--as", "same")[0] == 0
    assert answer("compare", "lease", "letter")["why"]["signature"] == "override"


@pytest.mark.slow
def test_compare_does_not_apply_a_decision_on_an_earlier_text(run: Run, answer: Answer) -> None:
    assert run("overrides", "add", "lease", "draft", "--author", "ann")[0] == 0
    changed = json.dumps({"id": "draft", "text": "A text that has nothing in common with the draft that was judged."})
    Path("changed.jsonl").write_text(changed, encoding="utf-8")
    assert run("ingest", "changed.jsonl")[0] == 0
    assert "is not applied: a text has changed since." in run("compare", "lease", "draft")[1]
    assert answer("compare", "lease", "draft")["decision"]["stale"] is True


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


NEWS = ["--preset", "news"]  # dates at most 42 days apart

FAR = ["--preset", "law"]  # a quarter of the five-word runs suffices


@pytest.mark.slow
def test_inspect_and_compare_take_the_figures_of_a_search(run: Run, answer: Answer, tmp_path: Path) -> None:
    """Two versions of a text share a third of their five-word runs, and a third of a later date."""
    rng = random.Random(1)  # noqa: S311 - made-up data keeps no secret
    words = [f"clause{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(40)]
    first = [rng.choice(words) for _ in range(300)]
    second = [rng.choice(words) if at % 9 == 0 else word for at, word in enumerate(first)]
    documents = [
        {"id": "first", "text": " ".join(first), "date": "2001-01-01"},
        {"id": "second", "text": " ".join(second), "date": "2001-01-02"},
        {"id": "later", "text": " ".join(first[:-1]), "date": "2003-01-01"},
    ]
    (tmp_path / "pair.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    assert run("ingest", "pair.jsonl")[0] == 0
    for options, ids in (([], {"later"}), (FAR, {"later", "second"}), (NEWS, set())):
        assert {each["id"] for each in answer("inspect", "first", *options)["duplicates"]} == ids
    levels = [answer("compare", "first", "second", *options)["level"] for options in ([], FAR, ["--level", "near"])]
    assert levels == [levels[0], "near", None]
    assert levels[0] != "near"
    assert answer("compare", "first", "later", *NEWS, "--level", "near")["level"] is None


def test_an_id_is_compared_though_a_file_has_its_name(run: Run, answer: Answer) -> None:
    for name in ("lease", "draft"):
        Path(name).write_text("Quite another text, which nobody means.", encoding="utf-8")
    assert answer("compare", "lease", "draft", "--format", "text")["level"] == "identical"
    assert answer("compare", "lease", "draft", "--id")["level"] == "near"
    assert "no document 'nosuch'" in run("compare", "lease", "nosuch")[2]
    assert "cannot be combined" in run("compare", "lease", "draft", "--id", "--format", "text")[2]


def test_inspect_of_a_file_finds_what_it_repeats(run: Run, answer: Answer, tmp_path: Path) -> None:
    file = tmp_path / "draft.txt"
    file.write_text(LEASE)
    found = answer("inspect", "--file", str(file))
    assert ({"lease", "copy"} <= {each["id"] for each in found["duplicates"]}, found["id"]) == (True, str(file))
    for wrong in (["inspect"], ["inspect", "lease", "--file", str(file)], ["inspect", "--file", str(tmp_path)]):
        assert run(*wrong)[0] == 2
