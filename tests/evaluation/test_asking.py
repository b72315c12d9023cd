"""Pairs are asked about that teach a rule the most, and asking ends where answers change nothing."""

import random

import pytest

from ibidem.evaluation.asking import SPREAD, UNCHANGED, Inquiry
from ibidem.evaluation.evaluate import Collection, sign_collection
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables

SETS = 30


@pytest.fixture(scope="module")
def collection(tables: Tables) -> Collection:
    """Pairs of texts that have more or less in common."""
    rng = random.Random(5)  # noqa: S311 - made-up data keeps no secret
    documents = []
    for at in range(SETS):
        words = ["".join(rng.choices("abcdefghiklmnoprstuv", k=7)) for _ in range(400)]
        common = 100 + 95 * at // SETS
        documents += [
            Document(f"{at}a", " ".join(words[:200])),
            Document(f"{at}b", " ".join([*words[:common], *words[200 : 400 - common]])),
        ]
    return sign_collection(documents, tables)


def judge(inquiry: Inquiry, number: int) -> None:
    inquiry.answer(number, is_duplicate=int(inquiry.name(number)[0][:-1]) >= SETS // 2)


def test_the_first_pairs_are_spread_over_similarity(collection: Collection) -> None:
    inquiry = Inquiry(collection)
    asked = []
    for _ in range(SPREAD // 2):
        number = inquiry.next()
        assert number is not None
        asked.append(number)
        judge(inquiry, number)
    runs = sorted(inquiry.figures[asked, 0].tolist())
    assert len({*asked}) == len(asked)
    assert runs[-1] - runs[0] > 0.2


def test_answers_teach_a_rule_that_agrees_with_them(collection: Collection) -> None:
    inquiry = Inquiry(collection)
    while not inquiry.is_settled and (number := inquiry.next()) is not None:
        judge(inquiry, number)
    wrong = [
        number
        for number, answer in inquiry.answers.items()
        if (inquiry.rule.total(inquiry.figures[number].tolist()) >= 0) != answer
    ]
    assert len(wrong) <= len(inquiry.answers) // 10
    expected = inquiry.expect()
    assert 0.7 < expected.f1 <= 1
    assert expected.spread < 0.2


def test_few_answers_settle_nothing(collection: Collection) -> None:
    inquiry = Inquiry(collection)
    for _ in range(UNCHANGED):
        number = inquiry.next()
        assert number is not None
        judge(inquiry, number)
        assert not inquiry.is_settled


def test_a_pair_that_was_passed_over_is_not_asked_about_again(collection: Collection) -> None:
    inquiry = Inquiry(collection)
    number = inquiry.next()
    assert number is not None
    inquiry.skip(number)
    assert number not in inquiry.answers
    assert inquiry.next() != number


def test_earlier_answers_are_taken_up(collection: Collection) -> None:
    inquiry, later = Inquiry(collection), Inquiry(collection)
    for _ in range(5):
        number = inquiry.next()
        assert number is not None
        judge(inquiry, number)
    given = {inquiry.name(number): answer for number, answer in inquiry.answers.items()}
    assert later.take(given | {("0a", "29b"): False}) == 5
    assert later.rule == inquiry.rule
    assert later.next() == inquiry.next()
