"""`ibidem evaluate` and `tune`: duplicates against labels, and the figures that are chosen on them."""

import json
import random
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


@pytest.fixture
def rewritten(run: Run) -> None:
    """Thirty pairs of texts that have six tenths in common, with labels; the first pair is in the index."""
    rng = random.Random(4)  # noqa: S311 - made-up data keeps no secret
    lines, labels = [], ["id,cluster"]
    for at in range(30):
        first = ["".join(rng.choices("abcdefghik", k=7)) for _ in range(200)]
        second = [*first[:130], *("".join(rng.choices("lmnopqrst", k=7)) for _ in range(70))]
        lines += [
            json.dumps({"id": f"{at}{side}", "text": " ".join(text)})
            for side, text in zip("ab", (first, second), strict=True)
        ]
        labels += [f"{at}a,{at}", f"{at}b,{at}"]
    Path("pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    Path("labels.csv").write_text("\n".join(labels), encoding="utf-8")
    assert run("ingest", "pairs.jsonl")[0] == 0


@pytest.mark.slow
@pytest.mark.usefixtures("rewritten")
def test_the_curve_is_printed_and_the_choice_next_to_the_default(run: Run) -> None:
    code, out, _ = run("tune", "pairs.jsonl", "labels.csv")
    assert code == 0
    assert "60 documents, 60 with labels, 30 pairs of duplicates in 30 sets" in out
    assert len([line for line in out.splitlines() if line.strip()[:2].isdigit()]) > 10
    assert "Better than the default: --similarity" in out


@pytest.mark.slow
@pytest.mark.usefixtures("rewritten")
def test_the_choice_is_kept_with_the_index_and_asked_for_by_its_name(run: Run, answer: Answer) -> None:
    output = answer("tune", "pairs.jsonl", "labels.csv", "--save", "leases")
    assert (output["improves"], output["saved"]) == (True, "leases")
    assert output["expected"]["f1"] > output["default"]["f1"] + 0.2
    similarity = output["chosen"]["similarity"]
    for command in (["groups"], ["evaluate", "pairs.jsonl", "labels.csv"]):
        default_evidence, preset_evidence = (answer(*command, *options) for options in ([], ["--preset", "leases"]))
        noun = "pairs" if "pairs" in preset_evidence else "duplicates"
        assert preset_evidence[noun] != default_evidence[noun]
        if command == ["groups"]:
            assert preset_evidence[noun] == answer("groups", "--similarity", str(similarity))[noun]
    assert answer("search", "x OR " + "a" * 7, "--preset", "leases")["dedupe"]["level"] == "near"
