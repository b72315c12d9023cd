"""Answers are kept in a table of pairs, which is read again or refused with the line at fault."""

from pathlib import Path

import pytest

from ibidem.evaluation.answers import add_answer, read_answers
from ibidem_ingest.errors import UsageError


def test_answers_are_read_as_they_were_given(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    assert read_answers(path, ["a", "b", "c, d"]) == {}
    add_answer(path, ("a", "b"), is_duplicate=True)
    add_answer(path, ("a", "c, d"), is_duplicate=False)
    assert read_answers(path, ["a", "b", "c, d"]) == {("a", "b"): True, ("a", "c, d"): False}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("id,cluster\na,1\n", "not those of answers"),
        ("a,b,duplicate\na,b,yes\n", r"answers\.csv:2: duplicate is 'yes'"),
        ("a,b,duplicate\na,gone,1\n", "'gone'"),
        ("a,b,duplicate\na,b,1\nb,a,0\n", r"contradict.*'a' and 'b'.*:2 and .*:3"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path: Path, table: str, said: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        read_answers(path, ["a", "b"])
