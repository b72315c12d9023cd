"""Min-hash: an estimate of how many five-token shingles two documents share (Spasojevic and Poncin 2011, section III).

`mh1` fills k slots by Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup, "Fast Similarity Sketching", FOCS 2017,
section 2): in each of six rounds every shingle falls into one slot at random, and a slot keeps the smallest value that
fell there in the first round in which any did; slots that are still empty take an ordinary min-hash of their own. It
costs a tenth of k permutations and its error is not greater. Of a slot's 64 bits the lowest 16 are stored (b-bit
min-hash, Li and König 2010). The constants are part of the index format.

    round 0:       x = s;                 slot = ((x >> 32) · k) >> 32;  value = x >> 3
    round 1 … 5:   x = s · R[round];      x = x ⊕ (x >> 29);  x = x · C4;  x = x ⊕ (x >> 32);  slot as before;
                   value = round · 2^61 + (x >> 3)
    empty slot b:  x = s · B[b];          x = x ⊕ (x >> 32);  x = x · C2;  value = 7 · 2^61 + (x >> 3)
"""

import struct
from collections.abc import Sequence
from math import comb
from operator import eq

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.schema import SLOTS
from ibidem_ingest.text.word_hash import C2, C4, Hashes, Shingles, shingles, wh1

BAND_ROWS, LOW_BAND_ROWS = 3, 2
# Equal slots below which bands of two are compared: of pairs with 44 equal slots 97 % share a band of three.
LOW_SLOTS = 44

MIN_FOR_CONTAINMENT = 10

ROUND_MULTIPLIERS = (0xCEA1621DB8A898A5, 0x5CF65D8FCE9EA7FB, 0x38D573CE1305807B, 0xA44477E971E33B8B, 0x4057E8DC259E0B99)
SLOT_MULTIPLIERS: tuple[int, ...] = struct.unpack(
    ">100Q",
    bytes.fromhex("""
    9F34560BCCC699A1 F7C2DA327FA3612F 45840DAE1987E6D5 1CB142B325870C59 A2E81A319AD1BE8B DE815CF151E1B08D
    2E4796C0C881B117 F26E1EC7FA9ED6D7 B5DF9272245A86C3 8A77164DFC0951CF 76E70FCA6B2F4FAF BF9B3C2B56079499
    1F07C85AA09C469D 40EBBE73FEA1A0E1 08D816191CDB9015 6D819E248B47F1A1 31E97F4BF9C4EC11 6FF6E133680C1AFF
    1144FEEF2C2887EF 050664B9F5F9CFDB 704951423922C6B1 6DBA16AAFC79AEA9 C4DD41B1CF1032F5 4CAEEA9351B17573
    476CBE78B66D668D B998932F21D5C307 69456D7C938D407F 73A42606D73C4C01 1B001E8F7AAF97E3 8EEAAEA33ED00E0F
    02761CAFC9CDA2A3 BEA8C5443616317D F7BEFEADDAB1B107 1BF3E9E16CD2E737 F43FF1E90E669A3D 36CBE7837E21037F
    126DC1AFDE3C135B 43B6D01618EFA319 565ECFFE3DEE27A1 40B74DE3DD4AD53F BD7A5ECA99B79573 3653B7F7B1BBDDF7
    559401743D72E843 BF5F76C352AF0B8B CF768B67745EAC47 BE49956F7415A24D 4C1062BAFF710C77 170A0BC1D648E8A9
    F3DF2A947DE0E52F 2D01BA297A442D97 2D8F500DB038D293 063B520579FCD8FD CCAD5B901F726FB7 B4BD907C16A257DB
    723DB4D4505B80AD 163C5CC4824D5197 7DB2950D2AF71B21 ADAA4CEB2AAEB48B BA21A664305DAEFF 8ED5F31A68DF4EF3
    700FE13862E0E989 0EDEC53DE6767417 68D4696AF437016F CA33F8F69883FF21 8F8C1208E49AC587 B239E8B119296F5B
    9CB98864192A6E75 35EC5B0FFDB625FF 100DC37DA46FA07B 0A98B6108044720F 19CF8BAA2F26DCB3 15C80BAB98AFD48F
    8388A2A79B141933 6DD78E367AB2ACDD 7A6A47FA1462A8A3 DCEA54E76517DC5F D27376C616CD2FFB CFB43C5007FA4A11
    52B85BF4FE6AAEE1 62B1357612103ED3 BEA944070F61023B 95B13DFE81C9942F 81DDB68366B7C7C1 E94BD60F38EECF31
    1689ABD899514297 2D4EB9969F292BCB B3FF26FDC41E7AE5 76B7FB7B344E462B 09D94152765BBC57 3086F8A98329F599
    C67730B54D2E6BC1 440FADC08EC35EAF E792CD8D05E78677 CDF0B61A1E868495 8402C521D094E635 6290E411B7163D41
    A42B3012D7A5F383 171C8A09281F2611 4ABB8F8B22FE4C3F 740FD4FF3BD88F65
    """),
)

_MASK = (1 << 64) - 1
_EMPTY = _MASK
_LAST = 7 << 61
_CHANCE = 2.0**-16


def sign(tokens: Sequence[str], k: int = SLOTS) -> tuple[int, ...]:
    """Sign the tokens of one document.

    >>> a, b = sign("the court held that the contract was void".split()), sign("the court held that the lease".split())
    >>> compare(a, b), round(containment(a, b, 4, 2), 2)
    (0.21, 0.52)
    """
    return stored_slots(sketch(shingles([wh1(token) for token in tokens]), k))


def stored_slots(slots: Sequence[int]) -> tuple[int, ...]:
    """Return the stored part of the slots of one document: the lowest 16 bits of each."""
    return tuple(slot & 0xFFFF for slot in slots)


def compare(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the share of equal slots, an unbiased estimate of Jaccard's index; standard error √(J(1-J)/k)."""
    return equal_slots(a, b) / len(a) if a and len(a) == len(b) else 0.0


def equal_slots(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(map(eq, a, b))


def band_rows(equal: int) -> int:
    """Return the slots per band for a minimum number of equal slots.

    Of pairs that have as many, 97 % share a band: of three slots from 44 on, of two from 24 on; of pairs with 20
    equal slots 90 %.

    >>> band_rows(50), band_rows(25)
    (3, 2)
    """
    return BAND_ROWS if equal >= LOW_SLOTS else LOW_BAND_ROWS


def found_share(equal: int, rows: int = BAND_ROWS) -> float:
    """Return the share of pairs with `equal` equal slots that share a band: inclusion and exclusion over bands.

    >>> [round(found_share(equal), 2) for equal in (25, 44, 50)], round(found_share(25, 2), 2)
    ([0.4, 0.97, 1.0], 0.98)
    """
    most = min(SLOTS // rows, equal // rows)
    bands = ((count, comb(SLOTS // rows, count), rows * count) for count in range(most + 1))
    missed: int = sum((1, -1)[count % 2] * ways * comb(SLOTS - taken, equal - taken) for count, ways, taken in bands)
    return 1 - missed / comb(SLOTS, equal)


def shares_band(a: Sequence[int], b: Sequence[int], rows: int = BAND_ROWS) -> bool:
    """Return whether two sketches have an equal band."""
    starts = range(0, SLOTS // rows * rows, rows)
    return any(a[start : start + rows] == b[start : start + rows] for start in starts)


def band_values(slots: NDArray[np.uint16]) -> Hashes:
    """Return the numbers of the bands of each row: three slots and the band's place; left over slots are not used."""
    count = slots.shape[1] // BAND_ROWS
    rows = slots[:, : count * BAND_ROWS].astype(np.uint64).reshape(-1, count, BAND_ROWS)
    places = np.arange(count, dtype=np.uint64) << np.uint64(48)
    values: Hashes = rows[..., 0] | rows[..., 1] << np.uint64(16) | rows[..., 2] << np.uint64(32) | places
    return values


def correct_for_chance(share: float) -> float:
    """Correct a share of equal slots for slots equal by chance, for display: Ĵ = (share - 2^-16) / (1 - 2^-16)."""
    return max(0.0, (share - _CHANCE) / (1 - _CHANCE))


def containment(a: Sequence[int], b: Sequence[int], shingles_a: int, shingles_b: int) -> float:
    """Estimate the share of the smaller document that is in the other: Ĉ = Ĵ(a + b) / ((1 + Ĵ) · min(a, b))."""
    if not a or len(a) != len(b) or equal_slots(a, b) < MIN_FOR_CONTAINMENT:
        return 0.0
    similarity = correct_for_chance(compare(a, b))
    return min(1.0, similarity * (shingles_a + shingles_b) / ((1 + similarity) * min(shingles_a, shingles_b)))


def sketch(hashes: Sequence[int], k: int = SLOTS) -> list[int]:
    """Return the k slots of one document with all their 64 bits; empty without shingles."""
    if not hashes:
        return []
    slots = [_EMPTY] * k
    for number, multiplier in enumerate((1, *ROUND_MULTIPLIERS)):
        for value in _remix(hashes, multiplier) if number else hashes:
            slot = (value >> 32) * k >> 32
            slots[slot] = min(slots[slot], number << 61 | value >> 3)
        if _EMPTY not in slots:
            return slots
    return [_own_minimum(hashes, slot) if value == _EMPTY else value for slot, value in enumerate(slots)]


def _remix(hashes: Sequence[int], multiplier: int) -> list[int]:
    """Mix shingles again for one of the later rounds."""
    products = (each * multiplier & _MASK for each in hashes)
    remixed = ((each ^ each >> 29) * C4 & _MASK for each in products)
    return [each ^ each >> 32 for each in remixed]


def _own_minimum(hashes: Sequence[int], slot: int) -> int:
    """Return the smallest value of the hash function that belongs to a slot."""
    products = (each * SLOT_MULTIPLIERS[slot] & _MASK for each in hashes)
    return _LAST | min((each ^ each >> 32) * C2 & _MASK for each in products) >> 3


def sign_batch(documents: Shingles, k: int = SLOTS) -> NDArray[np.uint16]:
    """Sign several documents, as `sign` does; all bits are set in rows without shingles."""
    slots = np.empty((documents.offsets.size - 1, k), np.uint64)
    rounds, multipliers = (np.array(each, np.uint64) for each in (ROUND_MULTIPLIERS, SLOT_MULTIPLIERS))
    columns = (documents.hashes, documents.offsets, len(slots), k, rounds, rounds.size, multipliers)
    loops.call("ibidem_sketch", *columns, slots)
    return slots.astype(np.uint16)
