"""Calls of the compiled loops (`kernel.c`) with arrays of numpy.

They were made at installation, where a C compiler was (`hatch_build.py`), and are loaded when this module is. Each says
of which source it was made: one of another source is not used. `IN_USE` is None where there is none, or none that fits;
then numpy does the same in several times as long. The numpy version beside each call documents what its loop computes.
"""

import ctypes
import secrets
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Octets = NDArray[np.uint8]

SOURCE = Path(__file__).with_name("kernel.c")
LIBRARY = Path(__file__).with_name("kernel.so")

_LONGEST_NUMBER = 22
"""Bytes of a count, with the space before and the newline behind it."""

_BLOCK = 8
"""Bytes that are copied at once, so that so many may be written behind the end."""


def source_name(source: bytes) -> str:
    """Name a source by its hash.

    >>> source_name(b"int main;")
    'afdfaf11033688a3'
    """
    return blake2b(source, digest_size=8).hexdigest()


class Loops:
    """The functions of a library.

    Args:
        path: The library.

    Raises:
        OSError: It cannot be loaded, or is made of another source.
    """

    def __init__(self, path: Path = LIBRARY) -> None:
        self._library = ctypes.CDLL(str(path))
        name = self._library.ibidem_source
        name.restype = ctypes.c_char_p
        if name().decode() != source_name(SOURCE.read_bytes()):
            raise OSError(f"{path} is made of another source")
        self._salt = secrets.randbits(64) | 1

    def _call(self, name: str, *values: "Array | bytes | int") -> int:
        """Call a function; arrays and bytes are handed over by their addresses, numbers as 64 bits.

        Raises:
            MemoryError: It got none.
        """
        function: Callable[..., int] = self._library[name]
        function.restype = ctypes.c_int64  # type: ignore[attr-defined] # a function of ctypes has it
        side_by_side = [np.ascontiguousarray(each) if isinstance(each, np.ndarray) else each for each in values]
        result = function(*map(_argument, side_by_side))
        if result == -1:
            raise MemoryError(f"no memory for {name}")
        return result

    def tokens(self, buffer: bytes) -> tuple[Places, Places]:
        """Find what is between the spaces of a buffer, and return where each begins and ends."""
        count = self._call("ibidem_count", buffer, len(buffer))
        starts, ends = np.empty(count, np.int64), np.empty(count, np.int64)
        self._call("ibidem_cut", buffer, len(buffer), starts, ends)
        return starts, ends

    def has_broken_words(self, buffer: bytes) -> bool:
        """Return whether a hyphen before a blank is behind what may be a small letter."""
        return self._call("ibidem_hyphen", buffer, len(buffer)) >= 0

    def word_hashes(self, buffer: bytes, starts: Places, ends: Places) -> tuple[Hashes, Hashes]:
        """Do what `word_hash.hash_tokens` does."""
        hashes, leading = np.empty(starts.size, np.uint64), np.empty(starts.size, np.uint64)
        self._call("ibidem_hash", buffer, starts, ends, starts.size, hashes, leading)
        return hashes, leading

    def joined(self, buffer: bytes, starts: Places, ends: Places, offsets: Places) -> list[bytes]:
        """Do what `TokenBatch.joined` does."""
        text, bounds = np.empty(len(buffer) + _BLOCK, np.uint8), np.empty(offsets.size, np.int64)
        self._call("ibidem_join", buffer, starts, ends, offsets, offsets.size - 1, text, bounds)
        whole, limits = text[: bounds[-1]].tobytes(), bounds.tolist()
        return [whole[a : b - 1] if b > a else b"" for a, b in pairwise(limits)]

    def groups(
        self, buffer: bytes, starts: Places, ends: Places, hashes: Hashes, offsets: Places
    ) -> tuple[Sequence[Places], Places]:
        """Do what `TermGroups.of` does, document by document.

        Returns:
            Word, document, first place and count of each group; and a place of each word.
        """
        columns = [np.empty(hashes.size, np.int64) for _ in range(4)]
        one, words = np.empty(hashes.size, np.int64), np.empty(1, np.int64)
        tokens = (buffer, starts, ends, hashes, offsets, offsets.size - 1, self._salt)
        count = self._call("ibidem_groups", *tokens, *columns, one, words)
        return [column[:count] for column in columns], one[: words[0]]

    def shapes(self, buffer: bytes, starts: Places, ends: Places) -> tuple[Octets, Octets]:
        """Tell of tokens which hold ASCII digits, and which hold bytes that are no ASCII."""
        digit, high = np.empty(starts.size, np.uint8), np.empty(starts.size, np.uint8)
        self._call("ibidem_shapes", buffer, starts, ends, starts.size, digit, high)
        return digit, high

    def ranks(self, slots: Hashes, bits: int, hashes: Hashes, absent: int) -> Places:
        """Do what `table.ranks` does, with as many bits of a hash as say its slot, and the rank of an absent term."""
        ranks = np.empty(hashes.size, np.int64)
        self._call("ibidem_ranks", slots, bits, hashes, hashes.size, absent, ranks)
        return ranks

    def rarest(
        self, groups: Sequence[Places], words: tuple[Places, Octets, Hashes], limits: tuple[int, int], documents: int
    ) -> tuple[Places, Places, Places, Hashes, Places]:
        """Do what `RarestTerms.of` does; its fields in their order.

        Args:
            groups: Word, document and first place of each group, document by document.
            words: Rank of each word, whether it is a term, and its hash.
            limits: The first rank that is allowed, and that of an absent term.
            documents: How many there are.
        """
        size = groups[0].size
        rank, first, strange = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size + 1, np.uint64)
        offsets, strange_offsets = np.empty(documents + 1, np.int64), np.empty(documents + 1, np.int64)
        out = (rank, first, offsets, strange, strange_offsets)
        self._call("ibidem_rarest", *groups, size, documents, *words, *limits, *out)
        return rank[: offsets[-1]], first[: offsets[-1]], offsets, strange[: strange_offsets[-1]], strange_offsets

    def shingles(self, hashes: Hashes, offsets: Places) -> Hashes:
        """Do what `Shingles.of` does."""
        mixed = np.empty(hashes.size, np.uint64)
        self._call("ibidem_shingles", hashes, offsets, offsets.size - 1, mixed)
        return mixed

    def distinct(self, hashes: Hashes, offsets: Places) -> Places:
        """Do what `Shingles.distinct` does."""
        counts = np.empty(offsets.size - 1, np.int64)
        self._call("ibidem_distinct", hashes, offsets, counts.size, self._salt, counts)
        return counts

    def sketch(
        self, hashes: Hashes, offsets: Places, k: int, rounds: Sequence[int], multipliers: Sequence[int]
    ) -> Hashes:
        """Do what `minhash.sketch_batch` does."""
        slots = np.empty((offsets.size - 1, k), np.uint64)
        mixers = (np.array(rounds, np.uint64), len(rounds), np.array(multipliers, np.uint64))
        self._call("ibidem_sketch", hashes, offsets, offsets.size - 1, k, *mixers, slots)
        return slots

    def noise(
        self, buffer: bytes, starts: Places, ends: Places, offsets: Places, slots: int
    ) -> tuple[Octets, Places, Places]:
        """Sketch the runs of characters of documents, as `noise.sketch` does.

        Returns:
            The slots, the length of the runs, 0 where there are none, and the letters of each document.
        """
        size = offsets.size - 1
        sketch, run, letters = np.empty((size, slots), np.uint8), np.empty(size, np.int64), np.empty(size, np.int64)
        self._call("ibidem_noise", buffer, starts, ends, offsets, size, sketch, run, letters)
        return sketch, run, letters

    def numbers(
        self, groups: Sequence[Places], digit: Array, hashes: Hashes, documents: int
    ) -> tuple[Places, NDArray[np.uint16], Places]:
        """Sketch the numbers of documents: how many, the hashes, and how many of these are filled."""
        word, document = groups
        counts, sizes = np.zeros(documents, np.int64), np.zeros(documents, np.int64)
        sketch = np.zeros((documents, 16), np.uint16)
        self._call("ibidem_numbers", word, document, word.size, digit.astype(np.uint8), hashes, counts, sketch, sizes)
        return counts, sketch, sizes

    def fingerprints(
        self, words: tuple[bytes, Places, Places], rarest: tuple[Places, Places], most: int, bin_size: int
    ) -> tuple[bytes, list[int]]:
        """Write what the fingerprints of documents are hashed of.

        Args:
            words: Buffer, starts and ends of all tokens.
            rarest: First place of each term, and where each document's terms begin and the end.
            most: Terms of a fingerprint.
            bin_size: Tokens in a bin.

        Returns:
            For each document the strict and the binned one, a space behind each; and where they begin and the end.
        """
        first, offsets = rarest
        size = offsets.size - 1
        text = np.empty(2 * (len(words[0]) + _LONGEST_NUMBER * first.size), np.uint8)
        bounds = np.empty(2 * size + 1, np.int64)
        self._call("ibidem_fingerprints", *words, first, offsets, size, most, bin_size, text, bounds)
        return text[: bounds[-1]].tobytes(), bounds.tolist()

    def profiles(
        self,
        words: tuple[bytes, Places, Places, Hashes, Places],
        groups: Sequence[Places],
        documents: int,
        *,
        log: bool,
    ) -> tuple[bytes, list[int], list[int]]:
        """Write the lines of text profiles.

        Args:
            words: Buffer, starts, ends, first eight bytes and characters of each word.
            groups: Word, document and count of each group, document by document.
            documents: How many there are.
            log: As for `text_profile.sign_batch`.

        Returns:
            The lines, where those of each document begin and the end, and how many each has.
        """
        room = len(words[0]) + _LONGEST_NUMBER * groups[0].size
        text = np.empty(room, np.uint8)
        bounds, counts = np.empty(documents + 1, np.int64), np.empty(documents, np.int64)
        self._call("ibidem_profiles", *words, *groups, groups[0].size, documents, int(log), text, bounds, counts)
        return text[: bounds[-1]].tobytes(), bounds.tolist(), counts.tolist()


def _argument(value: "Array | bytes | int") -> object:
    if isinstance(value, int):
        return ctypes.c_uint64(value)
    return ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_void_p(value.ctypes.data)


def load() -> Loops | None:
    """Load the compiled loops; None where there are none that fit."""
    try:
        return Loops()
    except (OSError, AttributeError):
        return None


IN_USE: Final = load()
