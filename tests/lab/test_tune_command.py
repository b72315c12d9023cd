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
        default_evidence, preset_evidence = (answer(*command, *options) for options in ([], ["--preset", "leases"]))
        noun = "pairs" if "pairs" in preset_evidence else "duplicates"
        assert preset_evidence[noun] != default_evidence[noun]
        if command == ["groups"]:
            assert preset_evidence[noun] == answer("groups", "--similarity", str(similarity))[noun]
    assert answer("search", "x OR " + "a" * 7, "--preset", "leases")["dedupe"]["level"] == "near"
