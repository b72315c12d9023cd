"""A cell of an exported table is never run as a formula by a spreadsheet."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from ibidem.cli.groups import write_csv
from support.command_line import Run


@dataclass(frozen=True)
class Row:
    """A row of an export."""

    id: str
    others: list[str]
    score: float


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "\n=1",
    "\N{FULLWIDTH EQUALS SIGN}1",
    "\N{FULLWIDTH PLUS SIGN}1",
    " =1",
    "\ufeff=1",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_string_that_looks_like_a_formula_begins_with_an_apostrophe(formula: str, tmp_path: Path) -> None:
    write_csv(tmp_path / "rows.csv", [Row(formula, [formula, "a"], -1.5)], Row)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["id", "others", "score"], [f"'{formula}", f"'{formula} a", "-1.5"]]


def test_other_strings_are_exported_as_they_are(tmp_path: Path) -> None:
    write_csv(tmp_path / "rows.csv", [Row("a=b", ["c-d"], 0.5)], Row)
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines() == ["id,others,score", "a=b,c-d,0.5"]


def test_an_exported_group_of_a_document_named_as_a_formula_is_text(run: Run, tmp_path: Path) -> None:
    name, text = "=HYPERLINK(A1)", "The lease of the cellar ends on the last day of June, unless it is renewed."
    lines = [json.dumps({"id": id_, "text": text}) for id_ in (name, "copy of it")]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert run("ingest", str(tmp_path / "rows.jsonl"))[0] == 0
    assert run("groups", "--export", str(tmp_path / "groups.csv"))[0] == 0
    with (tmp_path / "groups.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert f"'{name}" in [row["id"] for row in rows]
    assert name not in [value for row in rows for value in row.values()]
