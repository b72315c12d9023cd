"""Long texts that share clues of pages become candidates, whatever their whole texts share."""

import numpy as np

from ibidem_dedupe.candidates import KeyIndex
from ibidem_dedupe.long_candidates import MAX_TEXTS_PER_KEY, PageKeys, drop_frequent
from ibidem_dedupe.pairs import CandidateRanges, expand_pairs
from ibidem_ingest.signatures.pages import BANDS
from support.signed_books import sign_book


def pairs(keys: PageKeys, names: list[tuple[str, str]]) -> set[tuple[int, int]]:
    entries = keys.key_index(names)
    codes = [int(pair) for part in expand_pairs(entries, CandidateRanges.build(entries), len(names)) for pair in part]
    return {(pair // len(names), pair % len(names)) for pair in codes}


def test_texts_that_share_a_page_are_paired_and_others_are_not() -> None:
    names = [("i", name) for name in ("short", "whole", "part", "other")]
    keys = PageKeys()
    for name, numbers in (("part", range(5, 8)), ("whole", range(12)), ("other", range(50, 60))):
        keys.add(("i", name), sign_book(name, *numbers)[1])
    assert pairs(keys, names) == {(2, 1)}


def test_without_long_texts_there_are_no_pairs() -> None:
    assert pairs(PageKeys(), [("i", "a"), ("i", "b")]) == set()


def test_a_page_that_very_many_texts_carry_joins_none_and_is_counted() -> None:
    names = [("i", str(number)) for number in range(MAX_TEXTS_PER_KEY + 1)]
    keys = PageKeys()
    for at, (_, name) in enumerate(names):
        keys.add(("i", name), sign_book(name, 1_000, *range(2 * at, 2 * at + 2))[1])
    assert pairs(keys, names) == set()
    assert keys.capped_keys["page_bands"] == BANDS


def test_a_key_that_very_many_hold_is_left_out() -> None:
    rows = np.arange(MAX_TEXTS_PER_KEY + 1, dtype=np.int32)
    entries = KeyIndex(np.concatenate((rows * 0, rows[:2] * 0 + 1)), np.concatenate((rows, rows[:2])))
    entries_left = drop_frequent(entries)
    assert (entries_left.key.tolist(), entries_left.row.tolist()) == ([0, 0], [0, 1])
