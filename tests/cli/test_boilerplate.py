"""What unlike documents share is left out, listed and explained; `ibidem idf` counts, chooses and shows tables."""

import json
import os
from pathlib import Path

import pytest

from ingest.text.test_layout import OPENING, TALKS
from servers.indices import ask
from support.command_line import Answer, Run

PLAIN = {"id": "plain", "text": TALKS[0].text.removeprefix(OPENING).split(".")[0]}


@pytest.fixture
def talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of talks in one frame, and the first of them without it; commands use a new index and folder of tables."""
    monkeypatch.setenv("IBIDEM_INDEX", "talks")
    monkeypatch.setenv("IBIDEM_TABLES", str(tmp_path / "own-tables"))
    records = [*({"id": each.id, "text": each.text} for each in TALKS), PLAIN]
    (tmp_path / "talks.jsonl").write_text("".join(json.dumps({**each, "language": "en"}) + "\n" for each in records))
    return str(tmp_path / "talks.jsonl")


@pytest.mark.slow
def test_a_new_index_is_grouped_by_what_is_its_documents_own(run: Run, answer: Answer, talks: str) -> None:
    assert run("ingest", talks)[0] == 0
    groups = answer("groups")
    assert (groups["duplicates"], groups["largest"][0]["lead"]) == (1, "bees")
    shared = answer("groups", "--boilerplate")
    assert run("groups", "--boilerplate", "--export", "passages.csv")[0] == 2
    assert ([each["documents"] for each in shared["left_out"]], shared["found"]) == ([6, 6], [])
    left_out = answer("compare", "bees", "sleep")["signals"]["left_out"]
    assert (left_out["a"], left_out["b"], len(left_out["passages"])) == (110, 110, 2)
    assert "60 words that 6 documents share: openingaa" in " ".join(run("compare", "bees", "sleep")[1].split())


@pytest.mark.server("opensearch")
def test_an_index_that_is_there_is_signed_without_its_frame(
    run: Run, answer: Answer, talks: str, on_opensearch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = f"{on_opensearch}-2"
    monkeypatch.setenv("IBIDEM_INDEX", index)
    for line in Path(talks).read_text(encoding="utf-8").splitlines():
        ask(os.environ["IBIDEM_ENGINE"], "PUT", f"/{index}/_doc/{json.loads(line)['id']}?refresh=true", line)
    found = answer("backfill", "--dry-run")["passages"]
    assert [each["documents"] for each in found] == [6, 6]
    assert run("backfill")[0] == 0
    assert answer("groups", "--boilerplate") == {"left_out": found, "found": []}
    assert answer("groups")["duplicates"] == 1
    assert answer("search", "openingaa")["dedupe"]["mixed_tables"] == 0
    assert answer("backfill", "--check")["due"] == 0


@pytest.mark.slow
def test_what_is_found_later_is_listed_with_the_remedy(run: Run, answer: Answer, talks: str) -> None:
    lines = Path(talks).read_text(encoding="utf-8").splitlines(keepends=True)
    for number, text in enumerate((lines[0], "".join(lines[1:]))):
        path = Path(talks).with_name(f"{number}.jsonl")
        path.write_text(text, encoding="utf-8")
        run("ingest", str(path))
    assert [len(each) for each in answer("groups", "--boilerplate").values()] == [0, 2]
    assert "sign them again with" in run("groups", "--boilerplate")[1]


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


@pytest.fixture
def own_folder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IBIDEM_TABLES", "own-tables")


@pytest.mark.usefixtures("own_folder")
def test_a_table_is_counted_kept_and_current_only_once_it_is_used(answer: Answer) -> None:
    built = answer("idf", "build", stories("news"))
    assert (built["language"], built["documents"], built["terms"]) == ("en", 1_200, 100)
    assert [table["current"] for table in answer("idf", "show")["tables"]] == [False]
    answer("idf", "use", str(built["name"]))
    assert [table["current"] for table in answer("idf", "show")["tables"]] == [True]
    assert answer("idf", "show", str(built["name"]))["rarest"]


@pytest.mark.usefixtures("own_folder")
def test_too_few_documents_are_refused_and_other_languages_named(run: Run) -> None:
    code, _, message = run("idf", "build", stories("few", 10))
    assert (code, "at least 1,000" in message) == (1, True)
    code, _, message = run("idf", "build", stories("french", 10, language="fr"))
    assert (code, "'fr'" in message, "--language fr" in message) == (1, True, True)


@pytest.mark.usefixtures("own_folder")
def test_documents_in_another_language_are_left_out_and_said(run: Run) -> None:
    code, out, message = run("idf", "build", stories("news"), stories("french", 30, language="fr"))
    assert (code, "1,200 documents" in out, "30 documents in 'fr' left out" in message) == (0, True, True)
