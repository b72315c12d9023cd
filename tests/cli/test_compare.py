"""`ibidem compare`: two documents side by side."""

import json
from pathlib import Path

import pytest

from support.command_line import Answer, Run


def test_compare_of_two_ids_shows_every_signal_and_the_text_they_share(run: Run, answer: Answer) -> None:
    code, out, _ = run("compare", "lease", "draft")
    assert code == 0
    assert "[London → York]" in out
    output = answer("compare", "lease", "draft")
    assert output["level"] == "near"
    assert output["signals"]["content"] == {"equal": False}
    assert [region["words"] for region in output["shared"]] == sorted(
        (region["words"] for region in output["shared"]), reverse=True
    )


def test_compare_tells_differences_only_of_texts_that_share_enough_to_read_them(run: Run) -> None:
    assert "differs" in run("compare", "lease", "draft")[1]
    assert "differs" not in run("compare", "lease", "letter")[1]


def test_compare_takes_two_files_too(answer: Answer) -> None:
    Path("a.txt").write_text("The appeal is dismissed with costs.", encoding="utf-8")
    Path("b.txt").write_text("the appeal IS dismissed,\nwith costs", encoding="utf-8")
    assert answer("compare", "a.txt", "b.txt")["level"] == "identical"


def test_files_of_unknown_suffixes_are_compared_in_the_format_that_is_named(run: Run, answer: Answer) -> None:
    for name in ("a.js", "b.js"):
        Path(name).write_text(
            "// The level is read from a file, and a level without stones is refused.", encoding="utf-8"
        )
    code, _, err = run("compare", "a.js", "b.js")
    assert (code, "--format" in err) == (2, True)
    for format_ in ("text", ".js=text"):
        assert answer("compare", "a.js", "b.js", "--format", format_)["level"] == "identical"


def test_an_id_is_compared_though_a_file_has_its_name(run: Run, answer: Answer) -> None:
    for name in ("lease", "draft"):
        Path(name).write_text("Quite another text, which nobody means.", encoding="utf-8")
    assert answer("compare", "lease", "draft", "--format", "text")["level"] == "identical"
    assert answer("compare", "lease", "draft", "--id")["level"] == "near"
    code, _, err = run("compare", "lease", "draft", "--id", "--format", "text")
    assert (code, "cannot be combined" in err) == (2, True)


@pytest.mark.parametrize(("a", "b"), [("lease", "nosuch"), ("docs.jsonl", "docs.jsonl")])
def test_compare_of_what_is_not_two_documents_is_a_wrong_use(run: Run, a: str, b: str) -> None:
    assert run("compare", a, b)[0] == 2


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
