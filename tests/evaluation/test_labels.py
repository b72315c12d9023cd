"""Labels: clusters or pairs with a condition, read or refused.

Figures of agreement with labels.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.evaluation.labels import PairFigures, SetFigures, adjusted_rand, components, parse_condition, read_pairs
from ibidem_ingest.errors import UsageError

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
    with pytest.raises(UsageError, match="not understood"):
        parse_condition(typed)


PARTITIONS = st.lists(st.integers(0, 4), min_size=1, max_size=12)


def test_precision_recall_and_f1_are_those_of_the_books() -> None:
    measured = PairFigures.measure({("a", "b"), ("a", "c"), ("c", "d"), ("e", "f")}, {("a", "b"), ("x", "y")})
    assert measured == PairFigures(4, 2, 0.5, 0.25, 0.3333)


@pytest.mark.parametrize(
    ("true", "pairs", "figures"),
    [(set(), set(), (1.0, 1.0, 0.0)), ({("a", "b")}, set(), (1.0, 0.0, 0.0)), (set(), {("a", "b")}, (0.0, 1.0, 0.0))],
)
def test_nothing_found_is_never_wrong_and_nothing_to_find_is_never_missed(
    true: set[tuple[str, str]], pairs: set[tuple[str, str]], figures: tuple[float, float, float]
) -> None:
    measures = PairFigures.measure(true, pairs)
    assert (measures.precision, measures.recall, measures.f1) == figures


def test_sets_agree_only_when_they_hold_the_same_documents() -> None:
    assert SetFigures.measure([0, 0, 2, 2, 4, 4, 4], [0, 0, 2, 3, 4, 4, 6]) == SetFigures(agree=1, missed=2, over=1)


def test_components_join_what_pairs_connect() -> None:
    assert components(["a", "b", "c", "d", "e"], [("d", "e"), ("b", "d"), ("a", "c")]) == [0, 1, 0, 1, 1]


def pairs_together(parts: list[int]) -> set[tuple[int, int]]:
    return {(a, b) for a in range(len(parts)) for b in range(a) if parts[a] == parts[b]}


@given(PARTITIONS, st.data())
def test_the_adjusted_rand_index_is_that_of_counting_all_pairs(a: list[int], data: st.DataObject) -> None:
    b = data.draw(st.lists(st.integers(0, 4), min_size=len(a), max_size=len(a)))
    left, right, every = pairs_together(a), pairs_together(b), len(a) * (len(a) - 1) / 2
    expected = len(left) * len(right) / every if every else 0.0
    highest = (len(left) + len(right)) / 2
    index = 1.0 if highest == expected else (len(left & right) - expected) / (highest - expected)
    assert adjusted_rand(a, b) == pytest.approx(index, abs=1e-4)


@given(PARTITIONS)
def test_the_same_partition_under_other_names_agrees_wholly(a: list[int]) -> None:
    assert adjusted_rand(a, [part + 7 for part in a]) == 1.0


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
