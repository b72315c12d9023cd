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

ROUND_MULTIPLIERS = (
    0xCEA1621DB8A898A5,
    0x5CF65D8FCE9EA7FB,
    0x38D573CE1305807B,
    0xA44477E971E33B8B,
    0x4057E8DC259E0B99,
)
SLOT_MULTIPLIERS = (
    0x9F34560BCCC699A1,
    0xF7C2DA327FA3612F,
    0x45840DAE1987E6D5,
    0x1CB142B325870C59,
    0xA2E81A319AD1BE8B,
    0xDE815CF151E1B08D,
    0x2E4796C0C881B117,
    0xF26E1EC7FA9ED6D7,
    0xB5DF9272245A86C3,
    0x8A77164DFC0951CF,
    0x76E70FCA6B2F4FAF,
    0xBF9B3C2B56079499,
    0x1F07C85AA09C469D,
    0x40EBBE73FEA1A0E1,
    0x08D816191CDB9015,
    0x6D819E248B47F1A1,
    0x31E97F4BF9C4EC11,
    0x6FF6E133680C1AFF,
    0x1144FEEF2C2887EF,
    0x050664B9F5F9CFDB,
    0x704951423922C6B1,
    0x6DBA16AAFC79AEA9,
    0xC4DD41B1CF1032F5,
    0x4CAEEA9351B17573,
    0x476CBE78B66D668D,
    0xB998932F21D5C307,
    0x69456D7C938D407F,
    0x73A42606D73C4C01,
    0x1B001E8F7AAF97E3,
    0x8EEAAEA33ED00E0F,
    0x02761CAFC9CDA2A3,
    0xBEA8C5443616317D,
    0xF7BEFEADDAB1B107,
    0x1BF3E9E16CD2E737,
    0xF43FF1E90E669A3D,
    0x36CBE7837E21037F,
    0x126DC1AFDE3C135B,
    0x43B6D01618EFA319,
    0x565ECFFE3DEE27A1,
    0x40B74DE3DD4AD53F,
    0xBD7A5ECA99B79573,
    0x3653B7F7B1BBDDF7,
    0x559401743D72E843,
    0xBF5F76C352AF0B8B,
    0xCF768B67745EAC47,
    0xBE49956F7415A24D,
    0x4C1062BAFF710C77,
    0x170A0BC1D648E8A9,
    0xF3DF2A947DE0E52F,
    0x2D01BA297A442D97,
    0x2D8F500DB038D293,
    0x063B520579FCD8FD,
    0xCCAD5B901F726FB7,
    0xB4BD907C16A257DB,
    0x723DB4D4505B80AD,
    0x163C5CC4824D5197,
    0x7DB2950D2AF71B21,
    0xADAA4CEB2AAEB48B,
    0xBA21A664305DAEFF,
    0x8ED5F31A68DF4EF3,
    0x700FE13862E0E989,
    0x0EDEC53DE6767417,
    0x68D4696AF437016F,
    0xCA33F8F69883FF21,
    0x8F8C1208E49AC587,
    0xB239E8B119296F5B,
    0x9CB98864192A6E75,
    0x35EC5B0FFDB625FF,
    0x100DC37DA46FA07B,
    0x0A98B6108044720F,
    0x19CF8BAA2F26DCB3,
    0x15C80BAB98AFD48F,
    0x8388A2A79B141933,
    0x6DD78E367AB2ACDD,
    0x7A6A47FA1462A8A3,
    0xDCEA54E76517DC5F,
    0xD27376C616CD2FFB,
    0xCFB43C5007FA4A11,
    0x52B85BF4FE6AAEE1,
    0x62B1357612103ED3,
    0xBEA944070F61023B,
    0x95B13DFE81C9942F,
    0x81DDB68366B7C7C1,
    0xE94BD60F38EECF31,
    0x1689ABD899514297,
    0x2D4EB9969F292BCB,
    0xB3FF26FDC41E7AE5,
    0x76B7FB7B344E462B,
    0x09D94152765BBC57,
    0x3086F8A98329F599,
    0xC67730B54D2E6BC1,
    0x440FADC08EC35EAF,
    0xE792CD8D05E78677,
    0xCDF0B61A1E868495,
    0x8402C521D094E635,
    0x6290E411B7163D41,
    0xA42B3012D7A5F383,
    0x171C8A09281F2611,
    0x4ABB8F8B22FE4C3F,
    0x740FD4FF3BD88F65,
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
    loops.compiled().call("ibidem_sketch", *columns, slots)
    return slots.astype(np.uint16)
