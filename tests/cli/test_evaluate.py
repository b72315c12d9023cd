"""`ibidem evaluate`: the duplicates that are found, against labels."""

from pathlib import Path

from .conftest import Answer, Run


def test_evaluate_measures_against_labels(run: Run, answer: Answer) -> None:
    Path("good.jsonl").write_text(
        "".join(line for line in Path("docs.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[:5]),
        encoding="utf-8",
    )
    Path("labels.csv").write_text("id,cluster\nlease,1\ncopy,1\ndraft,1\nletter,2\n", encoding="utf-8")
    found = answer("evaluate", "good.jsonl", "labels.csv")
    assert found["pairs"] == {"true": 3, "found": 3, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert "F1 1.000" in run("evaluate", "good.jsonl", "labels.csv")[1]
    assert answer("evaluate", "good.jsonl", "labels.csv", "--level", "identical")["pairs"]["found"] == 1
