"""Texts in memory are grouped as the hits of a search are."""

import random

import pytest

from ibidem.grouped_search.texts import TextGroup, group_texts
from ibidem_dedupe.policy import Policy
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables

WORDS = ("tenant", "rent", "lease", "harbour", "wheat", "tariff", "court", "decree", "quota", "ministry")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    return Tables(tmp_path_factory.mktemp("tables"))


def text(seed: int, length: int = 60) -> str:
    chosen = random.Random(seed)  # noqa: S311 - made-up words
    return " ".join(chosen.choice(WORDS) + str(chosen.randrange(40)) for _ in range(length))


def places(groups: list[TextGroup]) -> list[list[int]]:
    return [[group.lead, *(each.place for each in group.duplicates)] for group in groups]


def test_the_first_of_a_group_leads_and_every_text_is_in_one_group(tables: Tables) -> None:
    texts = [text(1), text(2), text(1).upper(), text(3), text(2) + " and more"]
    groups = group_texts(texts, language="en", tables=tables)
    assert places(groups) == [[0, 2], [1, 4], [3]]
    assert [each.level for group in groups for each in group.duplicates] == ["identical", "near"]


def test_a_duplicate_says_why(tables: Tables) -> None:
    ((duplicate,),) = [each.duplicates for each in group_texts([text(1), text(1)], language="en", tables=tables)]
    assert duplicate.reason == "the same words in the same order"


def test_a_policy_decides_which_texts_are_duplicates(tables: Tables) -> None:
    texts = [text(2), text(2) + " and more"]
    assert places(group_texts(texts, policy=Policy(level="identical"), language="en", tables=tables)) == [[0], [1]]


@pytest.mark.slow
def test_the_languages_of_texts_are_detected(tables: Tables) -> None:
    german = "Der Mieter hat die Miete am ersten Tag jedes Monats im Voraus und ohne Aufforderung zu zahlen. " * 3
    assert places(group_texts([german, text(1), german], tables=tables)) == [[0, 2], [1]]


def test_no_texts_are_no_groups(tables: Tables) -> None:
    assert group_texts([], tables=tables) == []


def test_texts_without_words_stay_alone(tables: Tables) -> None:
    assert places(group_texts(["", "", "…"], tables=tables)) == [[0], [1], [2]]


def test_what_is_no_text_is_named_with_its_place(tables: Tables) -> None:
    with pytest.raises(UsageError, match="text 1 is 7, no string"):
        group_texts(["a text", 7], tables=tables)  # type: ignore[list-item]
