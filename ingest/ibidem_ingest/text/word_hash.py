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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops

C1 = 0x9E3779B97F4A7C15
C2 = 0xC2B2AE3D27D4EB4F
C3 = 0xFF51AFD7ED558CCD
C4 = 0xC4CEB9FE1A85EC53

_MASK = (1 << 64) - 1
_LONG = 64
_BLOCK = 1 << 13
_KEEP = np.array([(1 << (8 * n)) - 1 for n in range(9)], np.uint64)

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


def wh1(token: str) -> int:
    """Hash one token.

    >>> f"{wh1('court'):016x} {wh1('jurisdiction'):016x}"
    '8c8a3cee81a0fded 3b1838cebca46246'
    """
    return hash_bytes(token.encode("utf-8", "surrogatepass"))


def hash_bytes(data: bytes) -> int:
    """Hash the UTF-8 of one token."""
    state = int.from_bytes(data[:8], "little") * C1 & _MASK
    state ^= state >> 32
    for start in range(8, len(data), 8):
        state = state * C4 & _MASK
        state ^= state >> 29
        state = (state ^ int.from_bytes(data[start : start + 8], "little")) * C2 & _MASK
        state ^= state >> 31
    return finish_int(state)


def finish_int(state: int) -> int:
    """Take the last step of `wh1`, which shingles share."""
    state = state * C3 & _MASK
    return state ^ state >> 29


def finish(values: Hashes) -> Hashes:
    """Apply `finish_int` to every value, in place."""
    values *= np.uint64(C3)
    values ^= values >> np.uint64(29)
    return values


def hash_tokens(buffer: bytes, starts: Places, ends: Places) -> tuple[Hashes, Hashes]:
    """Hash all tokens of a buffer.

    Args:
        buffer: UTF-8; at least eight bytes follow the last token.
        starts: Byte offset of each token, ascending.
        ends: Byte offset behind each token.

    Returns:
        `wh1` of each token; and its first eight bytes as a little-endian word, zeros behind a shorter one.
    """
    if loops.IN_USE:
        return loops.IN_USE.word_hashes(buffer, starts, ends)
    hashes, leading = np.empty(starts.size, np.uint64), np.empty(starts.size, np.uint64)
    for first in range(0, starts.size, _BLOCK):
        block = slice(first, min(first + _BLOCK, starts.size))
        origin = int(starts[first])
        part = buffer[origin : int(ends[block.stop - 1]) + 8]
        _hash_block(part, starts[block] - origin, ends[block] - origin, hashes[block], leading[block])
    return hashes, leading


def eight_bytes(buffer: bytes) -> Hashes:
    """Return a view of the little-endian words of eight bytes that begin at every position of a buffer."""
    return np.ndarray((len(buffer) - 7,), "<u8", buffer, 0, (1,))


def further_words(words: Hashes, starts: Places, sizes: Places, limit: int) -> Iterator[tuple[Places, Hashes]]:
    """Yield the bytes after the first eight of each token, eight bytes at a time.

    Args:
        words: The words of eight bytes at every position of a buffer.
        starts: Position of each token.
        sizes: Its bytes.
        limit: Tokens of more bytes than this are left out.

    Yields:
        The tokens that are so long, and their next eight bytes, zeros behind the last.
    """
    tokens = np.flatnonzero(sizes > 8)
    if tokens.size and sizes.max() > limit:
        tokens = tokens[sizes.take(tokens) <= limit]
    starts, sizes = starts.take(tokens), sizes.take(tokens)
    while tokens.size:
        starts += 8
        sizes -= 8
        yield tokens, words[starts] & _KEEP.take(sizes, mode="clip")
        remainder = np.flatnonzero(sizes > 8)
        tokens, starts, sizes = tokens.take(remainder), starts.take(remainder), sizes.take(remainder)


def _hash_block(buffer: bytes, starts: Places, ends: Places, hashes: Hashes, leading: Hashes) -> None:
    """Hash some tokens into `hashes`, and put their first eight bytes into `leading`."""
    words = eight_bytes(buffer).astype(np.uint64)  # a copy: aligned gathers are faster than strided ones
    sizes = ends - starts
    words.take(starts, out=leading, mode="clip")  # with `out`, other modes would copy
    leading &= _KEEP.take(sizes, mode="clip")
    np.multiply(leading, np.uint64(C1), out=hashes)
    hashes ^= hashes >> np.uint64(32)
    for tokens, further in further_words(words, starts, sizes, _LONG):
        mixed = hashes.take(tokens)
        mixed *= np.uint64(C4)
        mixed ^= mixed >> np.uint64(29)
        mixed ^= further
        mixed *= np.uint64(C2)
        mixed ^= mixed >> np.uint64(31)
        hashes[tokens] = mixed
    finish(hashes)
    if sizes.max() > _LONG:
        for token in np.flatnonzero(sizes > _LONG).tolist():
            hashes[token] = hash_bytes(buffer[starts[token] : ends[token]])


SHINGLE = 5
A = 0x6649C8876CE98251
B = 0xC2D84E846D2B8989
C = 0xE249EB2067D24289


def shingles(hashes: Sequence[int]) -> list[int]:
    """Return the shingle hashes of one document, in text order, repeated ones included.

    >>> from ibidem_ingest.text.word_hash import wh1
    >>> [f"{each:016x}" for each in shingles([wh1(token) for token in "the court so held".split()])]
    ['59fb9f19733677bf']
    """
    count = len(hashes) - SHINGLE + 1
    return [_shingle(hashes[start : start + SHINGLE]) for start in range(max(count, min(1, len(hashes))))]


def _shingle(hashes: Sequence[int]) -> int:
    h1, h2, h3, h4, h5 = *hashes, *[0] * (SHINGLE - len(hashes))
    state = ((h1 * A + h2) * B + (h3 * A + h4)) * C + h5 & _MASK
    return finish_int(state ^ state >> 32)


@dataclass(frozen=True, eq=False, slots=True)
class Shingles:
    """The shingles of several documents, as many to each as it has tokens.

    Args:
        hashes: Shingle hashes in text order, document by document, uint64. A document's last shingle is repeated
            in the places of its last four tokens, where no other begins: it changes no set and no minimum.
        offsets: Where each document's shingles begin, and the end: its tokens' offsets.
    """

    hashes: Hashes
    offsets: Places

    @classmethod
    def hash(cls, hashes: Hashes, offsets: Places) -> "Shingles":
        """Hash the shingles of documents.

        Args:
            hashes: `wh1` of all tokens.
            offsets: Token offset of each document and of the end.
        """
        if loops.IN_USE:
            return cls(loops.IN_USE.shingles(hashes, offsets), offsets)
        mixed = _hash_all(hashes)
        lengths = np.diff(offsets)
        short_documents = np.flatnonzero((lengths > 0) & (lengths < SHINGLE))
        ends = offsets[1:][lengths >= SHINGLE]
        for back in range(1, SHINGLE):
            mixed[ends - back] = mixed[ends - SHINGLE]
        if short_documents.size:
            mixed[_places(offsets, lengths, short_documents)] = np.repeat(
                _hash_short(hashes, offsets, lengths, short_documents), lengths[short_documents]
            )
        return cls(mixed, offsets)

    def distinct(self) -> Places:
        """Count the distinct shingles of each document."""
        if loops.IN_USE:
            return loops.IN_USE.distinct(self.hashes, self.offsets)
        hashes = self.hashes.copy()
        counts = []
        for start, end in pairwise(self.offsets.tolist()):
            part = hashes[start:end]
            part.sort()
            counts.append(np.count_nonzero(part[1:] != part[:-1]) + (start < end))
        return np.array(counts, np.int64)


def _hash_all(hashes: Hashes) -> Hashes:
    """Hash the five tokens that begin at every place, across documents too; zeros follow the end."""
    size = hashes.size
    pairs = hashes * np.uint64(A)
    pairs[:-1] += hashes[1:]
    sums = pairs * np.uint64(B)
    sums[:-2] += pairs[2:]
    sums *= np.uint64(C)
    sums[: max(0, size - 4)] += hashes[4:]
    sums ^= sums >> np.uint64(32)
    return finish(sums)


def _hash_short(hashes: Hashes, offsets: Places, lengths: Places, documents: Places) -> Hashes:
    """Hash the one shingle of documents of one to four tokens."""
    column = np.arange(SHINGLE)
    mask = column < lengths[documents, None]
    tokens = np.where(mask, hashes.take(np.where(mask, offsets[documents, None] + column, 0)), np.uint64(0))
    return _hash_all(tokens.reshape(-1))[::SHINGLE]


def _places(offsets: Places, lengths: Places, documents: Places) -> Places:
    """Return the token offsets of some documents, one after the other."""
    sizes = lengths[documents]
    places: Places = np.repeat(offsets[documents] - sizes.cumsum() + sizes, sizes)
    places += np.arange(places.size)
    return places


Letter = Literal["b", "r", "c", "p", "q", "s"]
"""The classes: bands, rare terms, runs of characters, profiles of pages, bands of pages, sampled words."""

DIGITS = 7
_ALPHABET = np.frombuffer(b"0123456789abcdefghijklmnopqrstuv", np.uint8)
_SHIFTS = np.arange(5 * DIGITS - 5, -1, -5, dtype=np.uint64)


def keys(letter: Letter, values: Hashes) -> NDArray[np.bytes_]:
    """Write values as keys.

    Args:
        letter: Their class.
        values: Of any shape.

    Returns:
        The keys in the same shape, eight bytes of ASCII each.

    >>> keys("b", np.array([0, 1], np.uint64)).tolist()
    [b'b0000000', b'boapasf9']
    """
    return _hex_digits(letter, _mix(values))


def texts(letter: Letter, values: Hashes) -> list[str]:
    """Return the keys of a row of values as strings."""
    return _strings(keys(letter, values))


def rows(letter: Letter, values: Hashes) -> list[list[str]]:
    """Return the keys of each of several rows of values as strings."""
    strings, width = _strings(keys(letter, values)), values.shape[1]  # in half the time of the array's own `tolist`
    return [strings[at : at + width] for at in range(0, len(strings), width)]


def distinct(letter: Letter, values: Hashes) -> list[str]:
    """Return the keys of a row of values as strings, each once and in order."""
    return _strings(_hex_digits(letter, np.unique(_mix(values))))


def _mix(values: Hashes) -> Hashes:
    return values * np.uint64(C2) >> np.uint64(29)


def _hex_digits(letter: Letter, values: Hashes) -> NDArray[np.bytes_]:
    digits = values[..., None] >> _SHIFTS & np.uint64(31)
    octets = np.full((*values.shape, DIGITS + 1), ord(letter), np.uint8)
    octets[..., 1:] = _ALPHABET.take(digits.view(np.int64))
    return octets.view("S8")[..., 0]


def _strings(octets: NDArray[np.bytes_]) -> list[str]:
    text = octets.tobytes().decode()
    return [text[at : at + DIGITS + 1] for at in range(0, len(text), DIGITS + 1)]
