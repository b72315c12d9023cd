"""`ibidem groups`: all groups of the index."""

from pathlib import Path

import pytest
from rich.text import Text

from ibidem.cli.groups import report
from support.command_line import Answer, Run


def test_groups_count_the_whole_index_and_say_what_joined_the_duplicates(run: Run, answer: Answer) -> None:
    code, out, _ = run("groups")
    assert code == 0
    assert "5 documents: 2 duplicates, 3 groups (level near); 1 without words or signatures" in out
    assert "3  Lease: rent, roof, drains · lease" in out
    output = answer("groups")
    assert output["sizes"] == {"3": 1}
    assert output["kinds"] == {"content": 1, "minhash": 1}


def test_values_that_too_many_long_texts_carry_are_named(answer: Answer) -> None:
    output = answer("groups")
    assert output["capped"] == {}
    printed = [part.plain for part in report(output | {"capped": {"page_bands": 11}}) if isinstance(part, Text)]
    assert "Values shared by over 100 long texts were skipped as forms: 11 page_bands" in printed


def test_stored_groups_are_those_that_the_whole_index_falls_into(answer: Answer) -> None:
    stored_groups, groups = answer("groups", "--stored"), answer("groups")
    assert {name: stored_groups[name] for name in ("documents", "groups", "duplicates", "sizes")} == {
        name: groups[name] for name in ("documents", "groups", "duplicates", "sizes")
    }
    assert stored_groups["largest"] == groups["largest"]


def test_stored_groups_go_with_no_figures_of_their_own(run: Run) -> None:
    code, _, err = run("groups", "--stored", "--level", "partial")
    assert code == 2
    assert "--stored" in err


def test_stored_groups_are_exported_group_by_group_with_what_joined_each(run: Run) -> None:
    assert run("groups", "--stored", "--export", "stored.csv")[0] == 0
    head, *lines = Path("stored.csv").read_text(encoding="utf-8").splitlines()
    assert head == "lead,index,id,size,evidence"
    assert [line.split(",")[4] for line in lines] == ["", "content", "minhash"]


def test_regrouping_leaves_right_groups_as_they_are(answer: Answer) -> None:
    counts = answer("groups", "--stored")
    assert answer("regroup")["joined"] == 0
    assert answer("groups", "--stored") == counts
    assert answer("regroup", "--all")["groups"] == counts["groups"]


def test_other_figures_hold_for_all_groups_and_for_the_searches_that_use_them(run: Run, answer: Answer) -> None:
    code, _, err = run("regroup", "--preset", "law")
    assert (code, "add --all to start over: ibidem regroup --all" in err) == (2, True)
    assert answer("regroup", "--all", "--preset", "law")["groups"] == answer("groups", "--stored")["groups"]
    assert answer("search", "deed", "--by", "stored", "--preset", "law")["dedupe"]["grouping"] == "stored"
    code, _, err = run("search", "deed", "--by", "stored", "--preset", "news")
    assert (code, "groups are stored with different figures" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize("figures", [("--preset", "conrad2003"), ("--similarity", "30")])
def test_figures_by_which_no_index_looks_up_are_refused(run: Run, figures: tuple[str, str]) -> None:
    code, _, err = run("regroup", "--all", *figures)
    assert (code, "cannot be looked up" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize("name", ["groups.csv", "groups.jsonl"])
def test_groups_are_exported_a_document_a_line(run: Run, name: str) -> None:
    assert run("groups", "--export", name)[0] == 0
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3 + name.endswith("csv")
    assert "draft" in lines[-1]


def test_an_export_whose_name_tells_no_format_is_a_wrong_use(run: Run) -> None:
    code, _, err = run("groups", "--export", "groups.xls")
    assert code == 2
    assert ".csv" in err
