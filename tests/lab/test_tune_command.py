"""`ibidem tune`: figures are chosen on labels, shown with the curve, and kept with the index."""

import json
import random
from pathlib import Path

import pytest

from support.command_line import Answer, Run


@pytest.fixture(autouse=True)
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
def test_the_curve_is_printed_and_the_choice_next_to_the_default(run: Run) -> None:
    code, out, _ = run("tune", "pairs.jsonl", "labels.csv")
    assert code == 0
    assert "60 documents, 60 with labels, 30 pairs of duplicates in 30 sets" in out
    assert len([line for line in out.splitlines() if line.strip()[:2].isdigit()]) > 10
    assert "Better than the default: --similarity" in out


@pytest.mark.slow
def test_the_choice_is_kept_with_the_index_and_asked_for_by_its_name(run: Run, answer: Answer) -> None:
    output = answer("tune", "pairs.jsonl", "labels.csv", "--save", "leases")
    assert (output["improves"], output["saved"]) == (True, "leases")
    assert output["expected"]["f1"] > output["default"]["f1"] + 0.2
    similarity = output["chosen"]["similarity"]
    for command in (["groups"], ["evaluate", "pairs.jsonl", "labels.csv"]):
        default_evidence, preset_evidence, name_evidence = (
            answer(*command, *options) for options in ([], ["--preset", "leases"], ["--similarity", str(similarity)])
        )
        noun = "pairs" if "pairs" in preset_evidence else "duplicates"
        assert preset_evidence[noun] == name_evidence[noun] != default_evidence[noun]
    plain, kept = (answer("backfill", "--dry-run", *options) for options in ([], ["--preset", "leases"]))
    assert kept["duplicates"] == answer("groups", "--preset", "leases")["duplicates"] != plain["duplicates"]
    assert answer("search", "x OR " + "a" * 7, "--preset", "leases")["dedupe"]["level"] == "near"


@pytest.mark.slow
def test_where_the_default_is_best_nothing_is_saved(run: Run, answer: Answer) -> None:
    lines = [json.loads(line) for line in Path("pairs.jsonl").read_text(encoding="utf-8").splitlines()[::2]]
    copies = [{"id": f"{each['id']}copy", "text": each["text"]} for each in lines]
    Path("pairs.jsonl").write_text("\n".join(map(json.dumps, [*lines, *copies])), encoding="utf-8")
    labels = [f"{each['id']},{each['id']}\n{each['id']}copy,{each['id']}" for each in lines]
    Path("labels.csv").write_text("\n".join(["id,cluster", *labels]), encoding="utf-8")
    output = answer("tune", "pairs.jsonl", "labels.csv", "--save", "copies")
    assert (output["improves"], output["saved"]) == (False, None)
    assert (
        "The default figures are best here. Nothing is saved."
        in run("tune", "pairs.jsonl", "labels.csv", "--save", "copies")[1]
    )
    code, _, message = run("groups", "--preset", "copies")
    assert (code, "conrad2003" in message) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["law", "none", "a b", ""])
def test_a_name_that_no_request_could_ask_for_is_refused(run: Run, name: str) -> None:
    code, _, _ = run("tune", "pairs.jsonl", "labels.csv", "--save", name)
    assert code == (2 if name else 0)


@pytest.mark.slow
def test_a_preset_that_is_not_known_lists_those_of_the_index_too(run: Run, answer: Answer) -> None:
    answer("tune", "pairs.jsonl", "labels.csv", "--save", "leases")
    code, _, message = run("inspect", "0a", "--preset", "leasse")
    assert (code, "leases" in message) == (2, True)
