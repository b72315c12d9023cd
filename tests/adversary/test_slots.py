"""Texts that were built to share min-hash slots with another, made of its passages in another order."""

import random

import pytest

from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.minhash import sketch
from ibidem_ingest.signatures.packed import PackedColumns, pack, unpack
from ibidem_ingest.signatures.sign import sign_one
from ibidem_ingest.text.word_hash import SHINGLE, shingles, wh1
from support.windows import words

RNG = random.Random(8)  # noqa: S311 - made-up data keeps no secret
VOCABULARY = words(RNG, 4_000)
FILLER = [f"z{word}" for word in VOCABULARY]
VICTIM = RNG.choices(VOCABULARY, k=3_000)


def forged(text: list[str]) -> list[str]:
    """Take the passages that fill the slots, in another order, with fillers between that bring no slot down."""
    hashes = [wh1(word) for word in text]
    slots = set(sketch(shingles(hashes)))
    smallest_slots = sorted(slots)
    where = {each >> 3: at for at, each in enumerate(shingles(hashes))}
    passages = [text[where[value] : where[value] + SHINGLE] for value in smallest_slots]
    RNG.shuffle(passages)
    forgery = passages[0]
    for passage in passages[1:]:
        forgery = bridged(forgery, passage, slots)
    return forgery


def bridged(text: list[str], passage: list[str], slots: set[int]) -> list[str]:
    """Append a passage, behind fillers that are drawn until no slot is lower than wanted."""
    while True:
        words = text[-SHINGLE:] + RNG.sample(FILLER, SHINGLE) + passage
        new_shingles = shingles([wh1(word) for word in words])
        if undercuts(new_shingles, slots):
            continue
        return text + words[SHINGLE:]


def undercuts(new_shingles: list[int], slots: set[int]) -> bool:
    """Return whether a shingle is smaller than the one that is wanted in its slot."""
    limits = {(value << 3 >> 32) * 100 >> 32: value for value in slots}
    return any(each >> 3 < limits[(each >> 32) * 100 >> 32] for each in new_shingles)


def packed(name: str, text: list[str]) -> bytes:
    document = Document(name, " ".join(text))
    return pack(document, sign_one(document, None))


def test_all_slots_of_a_text_can_be_had_by_a_third_of_its_words_and_it_is_near_and_no_more() -> None:
    copy = forged(VICTIM)
    values = [packed("victim", VICTIM), packed("forged", copy), packed("other", RNG.choices(VOCABULARY, k=3_000))]
    victim, forgery, _ = map(unpack, values)
    assert victim is not None
    assert forgery is not None
    assert sum(slot == other for slot, other in zip(victim.slots, forgery.slots, strict=True)) > 95
    evidence = decide(victim, forgery, Policy())
    assert evidence is not None
    assert (evidence.level, evidence.why["length_ratio"]) == ("near", round(len(copy) / 3_000, 2))


@pytest.mark.slow
def test_forged_texts_below_a_text_never_take_its_lead() -> None:
    forgeries = [packed(f"forged{at}", forged(VICTIM)) for at in range(5)]
    values = [packed("victim", VICTIM), *forgeries, packed("copy", VICTIM)]
    grouping = group(PackedColumns.decode(values), Policy())
    assert grouping.lead.tolist() == [0] * len(values)
