"""`ibidem tags`: a group is tagged in one step, and copies that were tagged differently are shown."""

import csv
import json
from pathlib import Path

import pytest

from support.command_line import Answer, Run


def tag_differently(answer: Answer) -> None:
    answer("tags", "add", "relevant", "lease", "--group", "--author", "Ada", "--reason", "=1+1")
    answer("tags", "add", "not-relevant", "copy", "--author", "Bo")


def test_a_group_is_tagged_in_one_step_and_a_tag_is_taken_back(run: Run, answer: Answer) -> None:
    (entry,) = answer("tags", "add", "Relevant", "lease", "--group", "--author", "Ada")["entries"]
    assert sorted(each["id"] for each in entry["documents"]) == ["copy", "draft", "lease"]
    assert "no longer tagged relevant" in run("tags", "remove", "relevant", "draft")[1]
    entries = answer("tags", "list")["entries"]
    assert [(each["action"], each["tag"], len(each["documents"])) for each in entries] == [
        ("add", "relevant", 3),
        ("remove", "relevant", 1),
    ]
    assert "group lease" in run("tags", "list")[1]


def test_at_another_level_a_group_is_a_smaller_one(answer: Answer) -> None:
    (entry,) = answer("tags", "add", "relevant", "lease", "--group", "--level", "identical")["entries"]
    assert [each["id"] for each in entry["documents"]] == ["lease", "copy"]


def test_copies_that_were_tagged_differently_are_shown(run: Run, answer: Answer) -> None:
    tag_differently(answer)
    found = answer("tags", "report")
    assert found["counts"]["inconsistent"] == 1
    (group,) = found["inconsistent"]
    assert (group["copies"], group["differing"]) == (True, ["not-relevant", "relevant"])
    shown = run("tags", "report")[1]
    assert "not-relevant, relevant differ among copies" in shown
    assert "copy: not-relevant (Bo" in shown
    answer("delete", "copy", "--yes")
    assert answer("tags", "report")["counts"] | {"gone": 1, "inconsistent": 0} == answer("tags", "report")["counts"]


def test_what_is_not_yet_tagged_is_counted_and_listed(run: Run, answer: Answer) -> None:
    answer("tags", "add", "privileged", "lease")
    counts = answer("tags", "report")["counts"]
    assert (counts["open"], counts["tagged"], counts["untagged"]) == (1, 1, 2)
    shown = run("tags", "report")[1]
    assert "2 not yet tagged" in shown
    assert "Open groups" in shown


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_ledger_and_report_are_written_as_tables_that_no_spreadsheet_runs(
    answer: Answer, tmp_path: Path, ending: str
) -> None:
    tag_differently(answer)
    answer("tags", "list", "--export", f"ledger.{ending}")
    answer("tags", "report", "--export", f"report.{ending}")
    ledger, report = (read(tmp_path / f"{name}.{ending}") for name in ("ledger", "report"))
    assert [(row["id"], row["tag"], row["state"]) for row in ledger] == [
        ("lease", "relevant", "current"),
        ("copy", "relevant", "replaced"),
        ("draft", "relevant", "current"),
        ("copy", "not-relevant", "current"),
    ]
    assert {row["status"] for row in report} == {"inconsistent"}
    if ending == "csv":
        assert ledger[0]["reason"] == "'=1+1"
        assert report[0]["differing"] == "not-relevant, relevant"
    else:
        assert report[0]["differing"] == ["not-relevant", "relevant"]


def read(path: Path) -> list[dict[str, object]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file)) if path.suffix == ".csv" else [json.loads(line) for line in file]


def test_without_tags_list_and_report_say_so(run: Run) -> None:
    assert "No tags" in run("tags", "list")[1]
    assert "0 groups with tags" in run("tags", "report")[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("add", "relevant", "nosuch"),
        ("add", "relevant", "lease", "nosuch"),
        ("add", "a,b", "lease"),
        ("add", " ", "lease"),
        ("add", "relevant", "lease", "--group", "--thread"),
        ("add", "relevant", "lease", "--level", "identical"),
        ("add", "relevant", "lease", "--thread"),
        ("add", "relevant", "blank", "nosuch", "--group"),
        ("list", "--export", "ledger.xls"),
        ("report", "--export", "report"),
        ("report", "--threads", "--stored"),
        ("report", "--stored", "--level", "identical"),
    ],
)
def test_a_wrong_use_is_refused_and_tags_nothing(run: Run, answer: Answer, arguments: tuple[str, ...]) -> None:
    code, _, message = run("tags", *arguments)
    assert code == 2
    assert message
    assert answer("tags", "list") == {"entries": []}
