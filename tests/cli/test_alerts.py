"""`ibidem alerts`: saved searches report a text once, whatever its copies are called."""

import json
from pathlib import Path

import pytest

from support.command_line import Answer, Run
from support.leases import LEASE


def new_ids(answer: Answer, name: str = "rents") -> list[str]:
    return [each["id"] for each in answer("alerts", "run", name)["new"][name]]


def ingest(answer: Answer, **texts: str) -> None:
    lines = (json.dumps({"id": name, "text": text, "title": f"About {name}"}) for name, text in texts.items())
    Path("more.jsonl").write_text("\n".join(lines), encoding="utf-8")
    answer("ingest", "more.jsonl")


@pytest.mark.slow
def test_a_run_reports_each_text_once_and_no_copy_of_one_reported_before(answer: Answer) -> None:
    answer("alerts", "add", "rents", "rent")
    first = new_ids(answer)
    assert len({"lease", "copy", "draft"} & set(first)) == 1
    assert {"letter", "blank"} <= set(first)
    assert new_ids(answer) == []
    ingest(answer, again=LEASE.replace("London", "Leeds"), other="The rent of the mill was raised on Monday.")
    assert new_ids(answer) == ["other"]


def test_what_was_deleted_stays_reported(answer: Answer, run: Run) -> None:
    answer("alerts", "add", "rents", "drains")
    (hit,) = new_ids(answer)
    run("delete", hit, "--yes")
    assert new_ids(answer) == []


def test_an_alert_is_listed_replaced_and_removed_with_what_it_reported(answer: Answer, run: Run) -> None:
    answer("alerts", "add", "rents", "rent", "--level", "identical", "--filter", "source=Chambers")
    (alert,) = answer("alerts", "list")["alerts"]
    assert alert["filters"] == ["source=Chambers"]
    assert alert["dedupe"] == {"dedupe_level": "identical"}
    assert set(new_ids(answer)) == {"lease", "draft"}
    assert run("alerts", "remove", "rents")[0] == 0
    assert "No alerts" in run("alerts", "list")[1]
    answer("alerts", "add", "rents", "drains", "--level", "identical")
    assert len(new_ids(answer)) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "a:b", "rent"),
        ("add", "rents", "--filter", "colour=red", "rent"),
        ("add", "rents", "--level", "nearly", "rent"),
        ("add", "rents", "--", "-rent"),
        ("run", "nosuch"),
        ("remove", "nosuch"),
    ],
)
def test_what_could_not_be_run_is_a_wrong_use(run: Run, arguments: tuple[str, ...]) -> None:
    assert run("alerts", *arguments)[0] == 2
