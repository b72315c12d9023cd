"""Figures and rules are chosen on labels, and judged on labels that had no part in the choice."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from dedupe.test_collection import prose
from ibidem_dedupe.policy import CLEAN
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_lab.evaluate import sign_collection
from ibidem_lab.labels import Pair
from ibidem_lab.tune import MIN_SETS, Tuning, choose_figures
from ibidem_lab.tune_command import outcome
from support.general_tables import general_tables

SETS = 40


def text(rng: random.Random, words: int) -> list[str]:
    return ["".join(rng.choices("abcdefghiklmnoprstuv", k=7)) for _ in range(words)]


def pairs_with(common: float, name: str, count: int = SETS) -> list[Document]:
    """Pairs of texts of 200 words that have a share of them in common."""
    rng = random.Random(name)  # noqa: S311 - made-up data keeps no secret
    documents = []
    for at in range(count):
        first = text(rng, 200)
        second = [*first[: int(200 * common)], *text(rng, 200 - int(200 * common))]
        documents += [Document(f"{name}{at}a", " ".join(first)), Document(f"{name}{at}b", " ".join(second))]
    return documents


def labelled(documents: Sequence[Document]) -> set[Pair]:
    return {(document.id, other.id) for document, other in zip(documents[::2], documents[1::2], strict=True)}


def said(tuning: Tuning, save: str = "") -> str:
    return "\n".join(line.plain for line in outcome(tuning, save))


def test_texts_with_little_in_common_get_a_lower_similarity(tables: Tables) -> None:
    rewritten = pairs_with(0.6, "law")
    choice = choose_figures(sign_collection(rewritten, tables), labelled(rewritten), set())
    assert choice.improves
    assert choice.chosen.similarity < 66
    assert "(--save NAME keeps it with the index)" in said(choice)
    assert "saved as a preset of the index: --preset mine" in said(choice, "mine")
    assert choice.expected.f1 > choice.default.f1 + 0.3
    assert (choice.documents, choice.pairs, choice.sets) == (2 * SETS, SETS, SETS)


def test_pairs_that_are_no_duplicates_though_much_alike_raise_the_similarity(tables: Tables) -> None:
    copies, forms = pairs_with(0.97, "copy"), pairs_with(0.78, "notice")
    choice = choose_figures(sign_collection([*copies, *forms], tables), labelled(copies), set())
    assert choice.improves
    assert choice.chosen.similarity > 66
    assert choice.curve[66].precision < 0.8 < choice.curve[choice.chosen.similarity].precision


@pytest.mark.slow
def test_the_default_is_the_rule_of_the_collection_and_stays_where_others_are_worse_in_a_fold() -> None:
    texts = [prose(seed) for seed in range(200)]
    documents = [Document(f"{at}{side}", text, language="en") for at, text in enumerate(texts) for side in "ab"]
    choice = choose_figures(sign_collection(documents, general_tables()), labelled(documents), set())
    assert (choice.rule, choice.choice, choice.policy) == (CLEAN, "default", CLEAN)
    better = replace(choice, expected=replace(choice.expected, f1=2.0))
    assert (better.choice, replace(better, is_steady=False).choice) == ("thresholds", "default")


def test_too_few_sets_are_refused(tables: Tables) -> None:
    few = pairs_with(0.9, "copy", MIN_SETS - 1)
    with pytest.raises(UsageError, match="too few"):
        choose_figures(sign_collection(few, tables), labelled(few), set())


def test_a_sample_chooses_more_strictly_where_the_whole_has_more_pairs_that_are_no_duplicates(tables: Tables) -> None:
    rewritten, forms = pairs_with(0.66, "law"), pairs_with(0.55, "form", 12)
    collection = sign_collection([*rewritten, *forms], tables)
    alone = choose_figures(collection, labelled(rewritten), set())
    sample = choose_figures(collection, labelled(rewritten), set(), collection_size=100 * len(collection.ids))
    assert sample.chosen.similarity >= alone.chosen.similarity
    assert sample.default.precision <= alone.default.precision


def test_a_rule_is_learned_and_recommended_only_where_it_wins(tables: Tables) -> None:
    rewritten = pairs_with(0.6, "law")
    forms = pairs_with(0.45, "form")
    choice = choose_figures(sign_collection([*rewritten, *forms], tables), labelled(rewritten), set(), learn=True)
    assert choice.learned
    assert choice.learned.expected.f1 > 0.9
    known = max(choice.default.f1, choice.expected.f1)
    assert (choice.choice == "learned") == (choice.learned.expected.f1 > known)
    assert (choice.policy.learned is not None) == (choice.choice == "learned")
