"""Texts drawn by lot."""

from collections import Counter

from ibidem.index.idf_build import ReservoirSample


def test_fewer_texts_than_asked_for_are_all_drawn() -> None:
    lot = ReservoirSample(5)
    for text in "abc":
        lot.add(text)
    assert lot.texts == ["a", "b", "c"]


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
