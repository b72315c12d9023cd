"""Hashes of words and of shingles, and their encoding as look-up keys.

`wh1`: the 64-bit hash of a token; part of the index format, so its constants never change.

The token's UTF-8 is read as little-endian words of eight bytes, the last one filled with zeros. All arithmetic is
modulo 2^64. Tokens of at most eight bytes never collide, since each step can be undone. Before a further word comes in,
the hash so far is mixed once more: a difference in a word's last letters has not reached the low bits by then, and one
or two letters of the next word could take it back.

    h = first word · C1;  h = h ⊕ (h >> 32)
    for each further word w:  h = h · C4;  h = h ⊕ (h >> 29);  h = (h ⊕ w) · C2;  h = h ⊕ (h >> 31)
    h = h · C3;  h = h ⊕ (h >> 29)

`sh1`: hashes of five tokens in a row; part of the index format, so the constants never change.

The hash of a shingle is a sum of the five `wh1` hashes, each times its own odd number, mixed once more, modulo 2^64:

    s = ((h1 · A + h2) · B + (h3 · A + h4)) · C + h5;  s = s ⊕ (s >> 32);  then the last step of `wh1`

A document of one to four tokens is one shingle; missing tokens count as zero. A document without tokens has none.

Encoding of look-up keys: a letter for the field and seven digits for the value, eight characters each.

A key is the letter of its class and seven digits to the base 32 (`0` to `v`, the highest first): the highest 35 bits of
the value times an odd constant, modulo 2^64 (multiply-shift hashing: Dietzfelbinger, Hagerup, Katajainen, Penttonen
1997, doi:10.1006/jagm.1997.0873). Two values share a key by chance once in 2^34: documents that are found are compared
anyway.

    key = letter, base32((value · C2 mod 2^64) >> 29)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops

C1 = 0x9E3779B97F4A7C15
C2 = 0xC2B2AE3D27D4EB4F
C3 = 0xFF51AFD7ED558CCD
C4 = 0xC4CEB9FE1A85EC53

_MASK = (1 << 64) - 1

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


def wh1(token: str) -> int:
    """Hash one token."""
    return hash_bytes(token.encode("utf-8", "surrogatepass"))


def hash_bytes(data: bytes) -> int:
    state = int.from_bytes(data[:8], "little") * C1 & _MASK
    state ^= state >> 32
    for start in range(8, len(data), 8):
        state = state * C4 & _MASK
        state ^= state >> 29
        state = (state ^ int.from_bytes(data[start : start + 8], "little")) * C2 & _MASK
        state ^= state >> 31
    return finish_int(state)


def finish_int(state: int) -> int:
    """Apply the last step of `wh1`, which shingles share."""
    state = state * C3 & _MASK
    return state ^ state >> 29


def hash_tokens(buffer: bytes, starts: Places, ends: Places) -> tuple[Hashes, Hashes]:
    if loops.IN_USE:
        hashes, leading = np.empty((2, starts.size), np.uint64)
        loops.call("ibidem_hash", buffer, starts, ends, starts.size, hashes, leading)
        return hashes, leading
    tokens = [buffer[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    firsts = [int.from_bytes(token[:8], "little") for token in tokens]
    return np.array([hash_bytes(token) for token in tokens], np.uint64), np.array(firsts, np.uint64)


SHINGLE = 5
A = 0x6649C8876CE98251
B = 0xC2D84E846D2B8989
C = 0xE249EB2067D24289


def shingles(hashes: Sequence[int]) -> list[int]:
    """Return the shingle hashes of one document, in text order, with repetitions."""
    results = []
    for start in range(max(len(hashes) - SHINGLE + 1, min(1, len(hashes)))):
        h1, h2, h3, h4, h5 = (*hashes[start : start + SHINGLE], *[0] * (SHINGLE - len(hashes)))
        state = ((h1 * A + h2) * B + (h3 * A + h4)) * C + h5 & _MASK
        results.append(finish_int(state ^ state >> 32))
    return results


def token_shingles(tokens: Sequence[str]) -> Hashes:
    """Return the hash of the shingle at each token; the last tokens repeat the last one, as in a batch."""
    hashes = shingles([wh1(token) for token in tokens])
    return np.array(hashes + hashes[-1:] * (len(tokens) - len(hashes)), np.uint64)


@dataclass(frozen=True, eq=False, slots=True)
class Shingles:
    """The shingles of several documents; each document has as many shingles as tokens."""

    # Shingle hashes in text order, document by document, uint64. A document's last shingle is repeated in the places of
    # its last four tokens, where no other begins: it changes no set and no minimum.
    hashes: Hashes
    offsets: Places  # where each document's shingles begin, and the end: its tokens' offsets

    @classmethod
    def hash(cls, hashes: Hashes, offsets: Places) -> "Shingles":
        values = np.empty(hashes.size, np.uint64)
        loops.call("ibidem_shingles", hashes, offsets, offsets.size - 1, values)
        return cls(values, offsets)

    def distinct(self) -> Places:
        counts = np.empty(self.offsets.size - 1, np.int64)
        loops.call("ibidem_distinct", self.hashes, self.offsets, counts.size, loops.SALT, counts)
        return counts


# The classes: bands, rare terms, runs of characters, profiles of pages, bands of pages, sampled words.
Letter = Literal["b", "r", "c", "p", "q", "s"]

DIGITS = 7
_ALPHABET = np.frombuffer(b"0123456789abcdefghijklmnopqrstuv", np.uint8)
_SHIFTS = np.arange(5 * DIGITS - 5, -1, -5, dtype=np.uint64)


def texts(letter: Letter, values: Hashes) -> list[str]:
    """Return the keys of values as strings, row by row."""
    digits = (values * np.uint64(C2) >> np.uint64(29))[..., None] >> _SHIFTS & np.uint64(31)
    octets = np.full((*values.shape, DIGITS + 1), ord(letter), np.uint8)
    octets[..., 1:] = _ALPHABET.take(digits.view(np.int64))
    text = octets.tobytes().decode()  # in half the time of the array's own `tolist`
    return [text[at : at + DIGITS + 1] for at in range(0, len(text), DIGITS + 1)]


def rows(letter: Letter, values: Hashes) -> list[list[str]]:
    """Return the keys of each of several rows of values as strings."""
    strings, width = texts(letter, values), values.shape[1]
    return [strings[at : at + width] for at in range(0, len(strings), width)]


def distinct(letter: Letter, values: Hashes) -> list[str]:
    """Return the distinct keys of values as strings, in order."""
    return sorted(set(texts(letter, values)))
