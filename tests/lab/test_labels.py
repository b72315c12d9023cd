"""Labels: clusters or pairs with a condition, read or refused."""

from pathlib import Path

import pytest

from ibidem_ingest.errors import UsageError
from ibidem_lab.labels import parse_condition, read_pairs

PAIRS = "a\tb\tjac5\twords\n1\t2\t0.5\t60\n2\t1\t0.9\t60\n1\t3\t0.49\t80\n1\t9\t1.0\t80\n2\t2\t1.0\t9\n"


def labels(folder: Path, text: str) -> Path:
    path = folder / "labels.tsv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("condition", "pairs"),
    [
        ("", {("1", "2"), ("1", "3")}),
        ("jac5>=0.5", {("1", "2")}),
        ("jac5 < 0.5 and words >= 80", {("1", "3")}),
        ("words>80", set()),
    ],
)
def test_a_listed_pair_of_known_documents_counts_when_it_fulfils_the_condition(
    tmp_path: Path, condition: str, pairs: set[tuple[str, str]]
) -> None:
    assert read_pairs(labels(tmp_path, PAIRS), parse_condition(condition), ["1", "2", "3"]) == pairs


@pytest.mark.parametrize("separator", ["\t", ","])
def test_all_documents_of_a_cluster_are_duplicates_of_each_other(tmp_path: Path, separator: str) -> None:
    text = "id\tcluster\nx\tone\ny\tone\nz\tone\nw\ttwo\n".replace("\t", separator)
    assert read_pairs(labels(tmp_path, text), parse_condition(""), ["w", "x", "z"]) == {("x", "z")}


@pytest.mark.parametrize(
    ("text", "condition", "why"),
    [
        ("", "", "is empty"),
        ("name\tgroup\n", "", "are not those of labels"),
        ("a\tb\tjac5\n1\t2\n", "", r"labels.tsv:2: 2 columns"),
        ("a\tb\tjac5\n1\t2\thigh\n", "jac5>=0.5", "jac5 is 'high'"),
        (PAIRS, "jaccard>=0.5", "no column 'jaccard'; its columns are a, b, jac5, words"),
        ("id\tcluster\n1\tx\n", "jac5>=0.5", "leave --positive out"),
        ("a\tb\n7\t8\n", "", "none of these 2 documents"),
    ],
)
def test_labels_that_cannot_be_read_are_refused_with_what_is_wrong(
    tmp_path: Path, text: str, condition: str, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        read_pairs(labels(tmp_path, text), parse_condition(condition), ["1", "2"])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_pairs(tmp_path / "none.tsv", parse_condition(""), [])


@pytest.mark.parametrize("typed", ["jac5", "jac5 ~ 1", "jac5>=high", "jac5>=0.5 or words>1", "and"])
def test_a_condition_that_is_not_understood_is_refused(typed: str) -> None:
    with pytest.raises(UsageError, match="not valid"):
        parse_condition(typed)


@pytest.mark.parametrize(
    "table",
    ["a,b,duplicate\nx,y,1\ny,x,0\nx,z,1\n", "id,cluster\nx,1\ny,1\nx,2\nz,2\n"],
)
def test_labels_that_contradict_each_other_are_named(tmp_path: Path, table: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(table, encoding="utf-8")
    condition = parse_condition("duplicate>=1" if "duplicate" in table else "")
    with pytest.raises(UsageError, match=r"contradict each other about 'x'.*labels\.csv:2 and .*labels\.csv:[34]"):
        read_pairs(path, condition, ["x", "y", "z"])
