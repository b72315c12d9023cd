"""Figures are chosen on labels, and judged on labels that had no part in the choice."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_lab.evaluate import Collection, Labels, sign_collection
from ibidem_lab.labels import Pair
from ibidem_lab.learn import Examples
from ibidem_lab.truth import FOLDS, Truth
from ibidem_lab.tune import GAIN, MIN_SETS, SIMILARITIES, SWITCHED_OFF, Figures, Tuning, choose_figures, count, tune
from ibidem_lab.tune_command import outcome

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


def sign_documents(documents: Sequence[Document], tables: Tables) -> Collection:
    return sign_collection(documents, tables)


def said(tuning: Tuning, save: str = "") -> str:
    return "\n".join(line.plain for line in outcome(tuning, save))


def test_texts_with_little_in_common_get_a_lower_similarity(tables: Tables) -> None:
    rewritten = pairs_with(0.6, "law")
    choice = choose_figures(sign_documents(rewritten, tables), labelled(rewritten), set())
    assert choice.improves
    assert choice.chosen.similarity < 66
    assert "(--save NAME keeps it with the index)" in said(choice)
    assert "saved as a preset of the index: --preset mine" in said(choice, "mine")
    assert choice.expected.f1 > choice.default.f1 + 0.3
    assert (choice.documents, choice.pairs, choice.sets) == (2 * SETS, SETS, SETS)


def test_where_the_default_figures_are_best_it_is_said(tables: Tables) -> None:
    copies, forms = pairs_with(0.85, "copy"), pairs_with(0.4, "form")
    choice = choose_figures(sign_documents([*copies, *forms], tables), labelled(copies), set())
    assert not choice.improves
    assert "The default figures are best here. Nothing is saved." in said(choice, "mine")
    assert choice.chosen == Figures()
    assert choice.expected == choice.default
    assert choice.default.f1 == 1.0


def test_pairs_that_are_no_duplicates_though_much_alike_raise_the_similarity(tables: Tables) -> None:
    copies, forms = pairs_with(0.97, "copy"), pairs_with(0.78, "notice")
    choice = choose_figures(sign_documents([*copies, *forms], tables), labelled(copies), set())
    assert choice.improves
    assert choice.chosen.similarity > 66
    assert choice.curve[66].precision < 0.8 < choice.curve[choice.chosen.similarity].precision


def test_unjudged_pairs_count_neither_way(tables: Tables) -> None:
    copies, forms = pairs_with(0.97, "copy"), pairs_with(0.78, "notice")
    choice = choose_figures(sign_documents([*copies, *forms], tables), labelled(copies), labelled(forms))
    assert not choice.improves
    assert choice.default.precision == 1.0


def test_the_curve_loses_no_pair_towards_lower_similarities(tables: Tables) -> None:
    documents = [*pairs_with(0.9, "copy"), *pairs_with(0.6, "law")]
    curve = choose_figures(sign_documents(documents, tables), labelled(documents), set()).curve
    assert tuple(curve) == SIMILARITIES
    recalls = [each.recall for each in curve.values()]
    assert recalls == sorted(recalls, reverse=True)


@pytest.mark.slow
def test_the_order_of_the_documents_changes_nothing(tables: Tables) -> None:
    documents = [*pairs_with(0.9, "copy"), *pairs_with(0.6, "law")]
    collection = sign_documents(documents[::-1], tables)
    assert choose_figures(collection, labelled(documents), set()) == choose_figures(
        sign_documents(documents, tables), labelled(documents), set()
    )


def test_too_few_sets_are_refused(tables: Tables) -> None:
    few = pairs_with(0.9, "copy", MIN_SETS - 1)
    with pytest.raises(UsageError, match="too few"):
        choose_figures(sign_documents(few, tables), labelled(few), set())


def test_the_figures_of_the_middle_are_the_default_ones() -> None:
    middle = Figures().policy
    assert (middle.slots, middle.characters, FOLDS) == (Policy().slots, Policy().characters, 5)


def test_figures_are_tried_without_some_of_their_evidence(tables: Tables) -> None:
    collection = sign_documents(pairs_with(0.9, "copy", 3), tables)
    tried = count(Truth.build(collection, [*range(6)], set(), set()), [""])
    assert {figures.without for figures in tried} == {*SWITCHED_OFF}
    assert Figures(without=("terms", "characters")).policy == replace(Policy(), terms=None, characters=None)
    for figures, counts in tried.items():
        assert counts[:, 1].sum() <= tried[replace(figures, without=())][:, 1].sum()


def test_a_sample_chooses_more_strictly_where_the_whole_has_more_pairs_that_are_no_duplicates(tables: Tables) -> None:
    rewritten, forms = pairs_with(0.66, "law"), pairs_with(0.55, "form", 12)
    collection = sign_documents([*rewritten, *forms], tables)
    alone = choose_figures(collection, labelled(rewritten), set())
    sample = choose_figures(collection, labelled(rewritten), set(), collection_size=100 * len(collection.ids))
    assert sample.chosen.similarity >= alone.chosen.similarity
    assert sample.default.precision <= alone.default.precision


def test_a_rule_is_learned_and_recommended_only_where_it_wins(tables: Tables) -> None:
    rewritten = pairs_with(0.6, "law")
    forms = pairs_with(0.45, "form")
    choice = choose_figures(sign_documents([*rewritten, *forms], tables), labelled(rewritten), set(), learn=True)
    assert choice.learned
    assert choice.learned.expected.f1 > 0.9
    known = max(choice.default.f1, choice.expected.f1)
    assert (choice.choice == "learned") == (choice.learned.expected.f1 >= known + GAIN)
    assert (choice.policy.learned is not None) == (choice.choice == "learned")


def test_labels_of_one_kind_teach_no_rule(tables: Tables) -> None:
    copies = pairs_with(0.9, "copy")
    truth = Truth.build(sign_documents(copies, tables), [*range(len(copies))], set(), set())
    with pytest.raises(UsageError, match="0 are duplicates"):
        Examples.build(truth)


def test_labels_of_documents_that_are_not_there_are_refused_by_name(tables: Tables, tmp_path: Path) -> None:
    copies = pairs_with(0.9, "copy")
    path = tmp_path / "labels.csv"
    path.write_text("a,b\ncopy0a,copy0b\ncopy1a,gone\n", encoding="utf-8")
    with pytest.raises(UsageError, match="'gone'"):
        tune(sign_documents(copies, tables), Labels(path))
