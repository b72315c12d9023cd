"""`ibidem idf`: tables are counted, chosen, shown and compared."""

import json
from pathlib import Path

import pytest

from support.command_line import Answer, Run

WORDS = [f"{a}{b}ing" for a in "bcdfghklmn" for b in "aeiourstlp"]


def stories(name: str, count: int = 1_200, language: str = "en", shift: int = 0) -> str:
    lines = (
        {
            "id": f"{name}-{at}",
            "language": language,
            "text": " ".join(WORDS[(at * step + shift) % 100] for step in (1, 3, 7, 9)),
        }
        for at in range(count)
    )
    Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return f"{name}.jsonl"


@pytest.fixture(autouse=True)
def own_folder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBIDEM_TABLES", "own-tables")


def test_a_table_is_counted_kept_and_current_only_once_it_is_used(answer: Answer) -> None:
    built = answer("idf", "build", stories("news"))
    assert (built["language"], built["documents"], built["terms"]) == ("en", 1_200, 100)
    assert [table["current"] for table in answer("idf", "show")["tables"]] == [False]
    answer("idf", "use", str(built["name"]))
    assert [table["current"] for table in answer("idf", "show")["tables"]] == [True]
    assert answer("idf", "show", str(built["name"]))["rarest"]


def test_too_few_documents_are_refused_and_other_languages_named(run: Run) -> None:
    code, _, message = run("idf", "build", stories("few", 10))
    assert (code, "at least 1,000" in message) == (1, True)
    code, _, message = run("idf", "build", stories("french", 10, language="fr"))
    assert (code, "'fr'" in message, "--language fr" in message) == (1, True, True)


def test_documents_in_another_language_are_left_out_and_said(run: Run) -> None:
    code, out, message = run("idf", "build", stories("news"), stories("french", 30, language="fr"))
    assert (code, "1,200 documents" in out, "30 documents in 'fr' left out" in message) == (0, True, True)
