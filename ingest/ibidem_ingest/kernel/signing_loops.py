"""The compiled loops that sign a batch of documents, as methods that take and return arrays of numpy."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel.library import Array, Hashes, Library, Octets, Places

_MAX_NUMBER_BYTES = 22  # bytes of a count, with the space before and the newline behind it

_BLOCK = 8  # bytes that are copied at once, so that so many may be written behind the end


class SigningLoops(Library):
    """The functions of a library that compute words, terms and signatures, with their result arrays."""

    def fold(self, buffer: bytes) -> bytes:
        """Return ASCII letters and digits in lower case, with a space for each other byte."""
        octets = np.empty(len(buffer), np.uint8)
        self._call("ibidem_fold", buffer, len(buffer), octets)
        return octets.tobytes()

    def tokens(self, buffer: bytes) -> tuple[Places, Places]:
        """Return the start and end of each word of a buffer, separated by spaces."""
        starts, ends = np.empty(len(buffer) // 2, np.int64), np.empty(len(buffer) // 2, np.int64)
        count = self._call("ibidem_cut", buffer, len(buffer), starts, ends)
        return starts[:count], ends[:count]

    def layout(self, text: bytes, begins: Places) -> Octets:
        """Return which of several texts may have layout (`layout.py`): all that have, and some others."""
        found = np.empty(begins.size - 1, np.uint8)
        self._call("ibidem_layout", text, begins, found.size, found)
        return found

    def signs(self, text: bytes, shapes: bytes) -> Places:
        """Run `signs.find` in compiled code: `shapes` is the shape of each of the 256 bytes."""
        positions = np.empty(len(text), np.int64)
        return positions[: self._call("ibidem_signs", text, len(text), shapes, positions)].copy()

    def write_signs(
        self, starts: Places, positions: Places, characters: NDArray[np.uint32], begins: Places, offsets: Places
    ) -> list[bytes]:
        """Run `TokenBatch.write_signs` in compiled code."""
        text, bounds = np.empty(_MAX_NUMBER_BYTES * positions.size + 1, np.uint8), np.empty(offsets.size, np.int64)
        tokens = (starts, starts.size, positions, characters, positions.size)
        self._call("ibidem_write_signs", *tokens, begins, offsets, offsets.size - 1, text, bounds)
        data, limits = text[: bounds[-1]].tobytes(), bounds.tolist()
        return [data[a : b - 1] if b > a else b"" for a, b in pairwise(limits)]

    def has_broken_words(self, buffer: bytes) -> bool:
        """Return whether a buffer may contain a word that is hyphenated at a line end."""
        return self._call("ibidem_hyphen", buffer, len(buffer)) >= 0

    def word_hashes(self, buffer: bytes, starts: Places, ends: Places) -> tuple[Hashes, Hashes]:
        """Run `word_hash.hash_tokens` in compiled code."""
        hashes, leading = np.empty(starts.size, np.uint64), np.empty(starts.size, np.uint64)
        self._call("ibidem_hash", buffer, starts, ends, starts.size, hashes, leading)
        return hashes, leading

    def join_tokens(self, buffer: bytes, starts: Places, ends: Places, offsets: Places) -> list[bytes]:
        """Run `TokenBatch.join_tokens` in compiled code."""
        text, bounds = np.empty(len(buffer) + _BLOCK, np.uint8), np.empty(offsets.size, np.int64)
        self._call("ibidem_join", buffer, starts, ends, offsets, offsets.size - 1, text, bounds)
        data, limits = text[: bounds[-1]].tobytes(), bounds.tolist()
        return [data[a : b - 1] if b > a else b"" for a, b in pairwise(limits)]

    def groups(
        self, buffer: bytes, starts: Places, ends: Places, hashes: Hashes, offsets: Places
    ) -> tuple[Sequence[Places], Places]:
        """Run `TermGroups.group` in compiled code, document by document."""
        columns = [np.empty(hashes.size, np.int64) for _ in range(4)]
        place, words = np.empty(hashes.size, np.int64), np.empty(1, np.int64)
        tokens = (buffer, starts, ends, hashes, offsets, offsets.size - 1, self._salt)
        count = self._call("ibidem_groups", *tokens, *columns, place, words)
        return [column[:count] for column in columns], place[: words[0]]

    def shapes(self, buffer: bytes, starts: Places, ends: Places) -> tuple[Octets, Octets]:
        """Return which tokens have ASCII digits, and which have non-ASCII bytes."""
        digit, non_ascii = np.empty(starts.size, np.uint8), np.empty(starts.size, np.uint8)
        self._call("ibidem_shapes", buffer, starts, ends, starts.size, digit, non_ascii)
        return digit, non_ascii

    def ranks(self, slots: Hashes, bits: int, hashes: Hashes, absent: int) -> Places:
        """Run `table.ranks` in compiled code, with the slot bits of a hash and the rank of an absent term."""
        ranks = np.empty(hashes.size, np.int64)
        self._call("ibidem_ranks", slots, bits, hashes, hashes.size, absent, ranks)
        return ranks

    def rarest(
        self, groups: Sequence[Places], words: tuple[Places, Octets, Hashes], limits: tuple[int, int], documents: int
    ) -> tuple[Places, Places, Places, Hashes, Places]:
        """Run `RarestTerms.look_up` in compiled code; returns its fields in order."""
        size = groups[0].size
        rank, first, unknown_terms = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size + 1, np.uint64)
        offsets, strange_offsets = np.empty(documents + 1, np.int64), np.empty(documents + 1, np.int64)
        out = (rank, first, offsets, unknown_terms, strange_offsets)
        self._call("ibidem_rarest", *groups, size, documents, *words, *limits, *out)
        return rank[: offsets[-1]], first[: offsets[-1]], offsets, unknown_terms[: strange_offsets[-1]], strange_offsets

    def features(
        self,
        table_ranks: tuple[Places, Places],
        unknown_terms: tuple[Hashes, Places],
        table: tuple[int, int],
        sizes: tuple[int, int],
    ) -> tuple[Places, Places]:
        """Run `feature_set.sign_batch` in compiled code: the codes, and the count of each document."""
        counts = np.empty(table_ranks[1].size - 1, np.int64)
        codes = np.empty(counts.size * sizes[1], np.int64)
        size = self._call("ibidem_features", *table_ranks, *unknown_terms, counts.size, *table, *sizes, codes, counts)
        return codes[:size], counts

    def shingles(self, hashes: Hashes, offsets: Places) -> Hashes:
        """Run `Shingles.hash` in compiled code."""
        values = np.empty(hashes.size, np.uint64)
        self._call("ibidem_shingles", hashes, offsets, offsets.size - 1, values)
        return values

    def distinct(self, hashes: Hashes, offsets: Places) -> Places:
        """Run `Shingles.distinct` in compiled code."""
        counts = np.empty(offsets.size - 1, np.int64)
        self._call("ibidem_distinct", hashes, offsets, counts.size, self._salt, counts)
        return counts

    def sketch(
        self, hashes: Hashes, offsets: Places, k: int, rounds: Sequence[int], multipliers: Sequence[int]
    ) -> Hashes:
        """Run `minhash.sketch_batch` in compiled code."""
        slots = np.empty((offsets.size - 1, k), np.uint64)
        mixers = (np.array(rounds, np.uint64), len(rounds), np.array(multipliers, np.uint64))
        self._call("ibidem_sketch", hashes, offsets, offsets.size - 1, k, *mixers, slots)
        return slots

    def noise(
        self, buffer: bytes, starts: Places, ends: Places, offsets: Places, slots: int
    ) -> tuple[Octets, Places, Places]:
        """Sketch the runs of characters of documents, as `noise.sketch` does."""
        size = offsets.size - 1
        sketch, run, letters = np.empty((size, slots), np.uint8), np.empty(size, np.int64), np.empty(size, np.int64)
        self._call("ibidem_noise", buffer, starts, ends, offsets, size, sketch, run, letters)
        return sketch, run, letters

    def unknown_bigrams(
        self, tokens: tuple[bytes, Places, Places, Places], dense: Octets, known: Octets, shift: int
    ) -> tuple[Hashes, Places]:
        """Run `bigrams.unknown` in compiled code for the dense documents."""
        hashes, offsets = np.empty(len(tokens[0]) + 1, np.uint64), np.empty(tokens[3].size, np.int64)
        size = self._call("ibidem_bigrams", *tokens, dense.size, dense, known, shift, hashes, offsets)
        return hashes[:size], offsets

    def numbers(
        self, groups: Sequence[Places], digit: Array, hashes: Hashes, documents: int
    ) -> tuple[Places, NDArray[np.uint16], Places]:
        """Sketch the numbers of documents: count, hashes, and number of hashes."""
        word, document = groups
        counts, sizes = np.zeros(documents, np.int64), np.zeros(documents, np.int64)
        sketch = np.zeros((documents, 16), np.uint16)
        self._call("ibidem_numbers", word, document, word.size, digit.astype(np.uint8), hashes, counts, sketch, sizes)
        return counts, sketch, sizes

    def fingerprints(
        self, words: tuple[bytes, Places, Places], rarest: tuple[Places, Places], terms: int
    ) -> tuple[bytes, list[int]]:
        """Write the terms and offsets that are hashed into the fingerprints of documents."""
        first, offsets = rarest
        size = offsets.size - 1
        text = np.empty(len(words[0]) + _MAX_NUMBER_BYTES * first.size, np.uint8)
        bounds = np.empty(size + 1, np.int64)
        self._call("ibidem_fingerprints", *words, first, offsets, size, terms, text, bounds)
        return text[: bounds[-1]].tobytes(), bounds.tolist()

    def profiles(
        self,
        words: tuple[bytes, Places, Places, Hashes, Places],
        groups: Sequence[Places],
        documents: int,
    ) -> tuple[bytes, list[int], list[int]]:
        """Write the lines of text profiles."""
        room = len(words[0]) + _MAX_NUMBER_BYTES * groups[0].size
        text = np.empty(room, np.uint8)
        bounds, counts = np.empty(documents + 1, np.int64), np.empty(documents, np.int64)
        self._call("ibidem_profiles", *words, *groups, groups[0].size, documents, text, bounds, counts)
        return text[: bounds[-1]].tobytes(), bounds.tolist(), counts.tolist()
