"""Commands that show duplicates agree with each other: all take the figures that a search takes."""

import json
import random
from pathlib import Path

import pytest

from support.command_line import Answer, Run

NEWS = ["--preset", "news"]  # dates at most 42 days apart

FAR = ["--preset", "law"]  # a quarter of the five-word runs suffices

ALIKE = ["--similarity", "40"]  # texts that have four tenths in common share a quarter of the runs of both together


@pytest.fixture(autouse=True)
def pair(run: Run, tmp_path: Path) -> None:
    """Two versions of a text that share a third of their five-word runs, and a third of a later date."""
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


def duplicates(answer: Answer, *options: str) -> set[str]:
    return {duplicate["id"] for duplicate in answer("inspect", "first", *options)["duplicates"]}


@pytest.mark.slow
def test_inspect_takes_the_figures_of_a_search(answer: Answer) -> None:
    assert duplicates(answer) == {"later"}
    assert duplicates(answer, *FAR) == duplicates(answer, *ALIKE) == {"later", "second"}
    assert duplicates(answer, *NEWS) == set()


@pytest.mark.slow
def test_compare_takes_the_figures_of_a_search(answer: Answer) -> None:
    levels = [answer("compare", "first", "second", *options)["level"] for options in ([], FAR, ["--level", "near"])]
    assert levels[1] == "near"
    assert levels[0] != "near"
    assert levels[2] is None
    assert answer("compare", "first", "later", *NEWS, "--level", "near")["level"] is None


@pytest.mark.slow
def test_groups_takes_the_figures_of_a_search(answer: Answer) -> None:
    output = [answer("groups", *options)["duplicates"] for options in ([], FAR, NEWS, ALIKE)]
    assert output == [3, 4, 2, 4]


@pytest.mark.slow
def test_a_dry_run_takes_the_figures_of_a_search(answer: Answer) -> None:
    output = [answer("backfill", "--dry-run", *options)["duplicates"] for options in ([], FAR, NEWS)]
    assert output == [3, 4, 2]


@pytest.mark.slow
@pytest.mark.parametrize("command", [["inspect", "first"], ["compare", "first", "second"], ["groups"]])
def test_a_preset_that_is_not_known_lists_those_that_are(run: Run, command: list[str]) -> None:
    code, _, err = run(*command, "--preset", "lawyers")
    assert code == 2
    assert "conrad2003" in err


@pytest.mark.slow
@pytest.mark.parametrize("command", [["inspect", "first"], ["groups"], ["search", "a"]])
def test_a_similarity_that_is_none_is_refused_with_the_right_ones(run: Run, command: list[str]) -> None:
    code, _, err = run(*command, "--similarity", "1.5")
    assert code == 2
    assert "--similarity '1.5' is not valid; allowed: an integer from 20 to 100 (percent)" in err
