"""`ibidem evaluate`: the duplicates that are found, against labels."""

import json
from pathlib import Path

import pytest

from support.command_line import Answer, Run


def test_labels_of_unknown_documents_are_listed_and_the_rest_is_measured(run: Run) -> None:
    Path("two.jsonl").write_text(
        '{"id": "a", "text": "a deed of gift"}\n{"id": "b", "text": "a deed of gift"}\n', encoding="utf-8"
    )
    Path("labels.csv").write_text("id,cluster\na,1\nb,1\nlost,1\n", encoding="utf-8")
    code, out, _ = run("evaluate", "two.jsonl", "labels.csv")
    assert code == 3
    assert "1 id in the labels that no document has: 'lost'" in out
    assert "F1 1.000" in out


def test_each_kind_of_evidence_tells_how_many_pairs_it_joins_and_how_many_rightly(run: Run, answer: Answer) -> None:
    words = " ".join(f"clause{chr(97 + at)}" for at in range(20))
    lines = [{"id": "a", "text": words}, {"id": "b", "text": words.upper()}, {"id": "c", "text": f"{words} more"}]
    Path("three.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    Path("labels.csv").write_text("id,cluster\na,1\nb,1\nc,2\n", encoding="utf-8")
    output = answer("evaluate", "three.jsonl", "labels.csv")["evidence"]
    assert output == {"minhash": {"found": 2, "right": 0}, "content": {"found": 1, "right": 1}}
    assert "five-word runs): 2 pairs, 0 right" in run("evaluate", "three.jsonl", "labels.csv")[1]


def test_the_worst_mistakes_are_shown(run: Run) -> None:
    Path("two.jsonl").write_text(
        '{"id": "a", "text": "a deed of gift"}\n{"id": "b", "text": "another letter"}\n', encoding="utf-8"
    )
    Path("labels.csv").write_text("id,cluster\na,1\nb,1\n", encoding="utf-8")
    assert "missed  a and b" in run("evaluate", "two.jsonl", "labels.csv")[1]


@pytest.mark.slow
@pytest.mark.parametrize("says", [{"language": "en"}, {}])
def test_documents_in_another_language_than_they_say_are_warned_about_and_a_missing_one_is_detected(
    run: Run, says: dict[str, str]
) -> None:
    words = "das gericht sagte dass die miete fällig war und der mieter sie seit einem jahr nicht bezahlt hatte"
    lines = [json.dumps({"id": f"d{at}", "text": f"{words} " * 9} | says) for at in range(6)]
    Path("german.jsonl").write_text("\n".join(lines), encoding="utf-8")
    Path("labels.csv").write_text("id,cluster\nd0,1\nd1,1\nd2,2\n", encoding="utf-8")
    code, out, message = run("evaluate", "german.jsonl", "labels.csv", "--json")
    foreign = [{"language": "en", "documents": 6, "sampled": 6}] if says else []
    warning = "6 of 6 sampled documents of language 'en' are in another language: give each document its `language`"
    assert (code, json.loads(out)["foreign"]) == (0, foreign)
    assert (warning in " ".join(message.split())) == bool(says)
