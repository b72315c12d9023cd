"""`wh1`: the 64-bit hash of a token; part of the index format, so its constants never change.

The token's UTF-8 is read as little-endian words of eight bytes, the last one filled with zeros. All arithmetic is
modulo 2^64. Tokens of at most eight bytes never collide, since each step can be undone. Before a further word comes in,
what is there is mixed once more: a difference in a word's last letters has not reached the low bits by then, and one or
two letters of the next word could take it back.

    h = first word · C1;  h = h ⊕ (h >> 32)
    for each further word w:  h = h · C4;  h = h ⊕ (h >> 29);  h = (h ⊕ w) · C2;  h = h ⊕ (h >> 31)
    h = h · C3;  h = h ⊕ (h >> 29)
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

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
    mixed = int.from_bytes(data[:8], "little") * C1 & _MASK
    mixed ^= mixed >> 32
    for start in range(8, len(data), 8):
        mixed = mixed * C4 & _MASK
        mixed ^= mixed >> 29
        mixed = (mixed ^ int.from_bytes(data[start : start + 8], "little")) * C2 & _MASK
        mixed ^= mixed >> 31
    return finish_int(mixed)


def finish_int(mixed: int) -> int:
    """Take the last step of `wh1`, which shingles share."""
    mixed = mixed * C3 & _MASK
    return mixed ^ mixed >> 29


def finish(mixed: Hashes) -> Hashes:
    """Do what `finish_int` does to every value, in place."""
    mixed *= np.uint64(C3)
    mixed ^= mixed >> np.uint64(29)
    return mixed


def hash_tokens(buffer: bytes, starts: Places, ends: Places) -> tuple[Hashes, Hashes]:
    """Hash all tokens of a buffer.

    Args:
        buffer: UTF-8; at least eight bytes follow the last token.
        starts: Byte offset of each token, ascending.
        ends: Byte offset behind each token.

    Returns:
        `wh1` of each token; and its first eight bytes as a little-endian word, zeros behind a shorter one.
    """
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


def further_words(words: Hashes, starts: Places, sizes: Places, most: int) -> Iterator[tuple[Places, Hashes]]:
    """Go through what follows the first eight bytes of each token, eight bytes at a time.

    Args:
        words: The words of eight bytes at every position of a buffer.
        starts: Position of each token.
        sizes: Its bytes.
        most: Tokens of more bytes than this are left out.

    Yields:
        The tokens that are so long, and their next eight bytes, zeros behind the last.
    """
    tokens = np.flatnonzero(sizes > 8)
    if tokens.size and sizes.max() > most:
        tokens = tokens[sizes.take(tokens) <= most]
    starts, sizes = starts.take(tokens), sizes.take(tokens)
    while tokens.size:
        starts += 8
        sizes -= 8
        yield tokens, words[starts] & _KEEP.take(sizes, mode="clip")
        more = np.flatnonzero(sizes > 8)
        tokens, starts, sizes = tokens.take(more), starts.take(more), sizes.take(more)


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
