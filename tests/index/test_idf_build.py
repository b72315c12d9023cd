"""Documents in another language than they say are noticed, whatever else is among them."""

from collections import Counter

import pytest

from ibidem.index.idf_build import MIN_JUDGED, ForeignShare, LanguageSampler, ReservoirSample, find_foreign
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.table import Table

SENTENCE = "the court said that the rent was due and that the tenant had not paid it for a year of the lease "
GESAGT = "das gericht sagte dass die miete fällig war und der mieter sie seit einem jahr nicht bezahlt hatte und "
TABLE = Table.build("en", 1_000, dict.fromkeys(("the", "and", "that", "was", "had", "for", "not"), 500.0), "a test")


def texts(english: int, german: int) -> list[str]:
    return [SENTENCE * 9] * english + [GESAGT * 9] * german


@pytest.mark.parametrize(
    ("english", "german", "is_said"),
    [
        *((0, MIN_JUDGED, True), (8, 2, True), (1, 20, True)),
        *((9, 2, False), (20, 0, False), (0, MIN_JUDGED - 1, False), (0, 0, False)),
    ],
)
def test_a_fifth_of_the_documents_is_enough_to_say_so(english: int, german: int, is_said: bool) -> None:
    expected = ForeignShare("en", german, english + german) if is_said else None
    assert find_foreign("en", texts(english, german)) == expected


def test_all_items_are_passed_on_and_each_language_is_judged_by_its_own_table() -> None:
    sampler = LanguageSampler()
    items = [
        *(Document(f"a{at}", text) for at, text in enumerate(texts(0, 6))),
        *(Document(f"b{at}", text, language="de") for at, text in enumerate(texts(0, 6))),
        Refusal("docs.jsonl:13", "c", "text", "it is missing"),
    ]
    assert list(sampler.sample(items)) == items
    calls: list[str] = []

    def find_table(language: str) -> Table | None:
        calls.append(language)
        return TABLE if language == "en" else None

    assert sampler.find_foreign(find_table) == [ForeignShare("en", 6, 6)]
    assert calls == ["de", "en"]


def test_the_same_stream_draws_the_same_texts_and_each_place_has_its_chance() -> None:
    lots = [ReservoirSample(100), ReservoirSample(100)]
    for number in range(1_000):
        for lot in lots:
            lot.add(str(number))
    assert lots[0].texts == lots[1].texts
    tenths = Counter(int(text) // 100 for text in lots[0].texts)
    assert len(lots[0].texts) == 100
    assert len(tenths) == 10
    assert max(tenths.values()) < 30
