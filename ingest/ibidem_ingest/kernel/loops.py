"""The compiled loops (`kernel.c`) as methods that take and return arrays of numpy.

They are loaded when this module is. `IN_USE` is None where no library fits; then each document is signed by itself in
plain Python, which is the definition of what the loops compute and takes about a hundred times as long. Then numpy
groups, in several times as long.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel.library import Array, Library, address

Places = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Octets = NDArray[np.uint8]

_LONGEST_NUMBER = 22
"""Bytes of a count, with the space before and the newline behind it."""

_MOST = 2**31
"""Rows and entries have to be fewer: they are counted in 32 bits."""

_BLOCK = 8
"""Bytes that are copied at once, so that so many may be written behind the end."""


class Loops(Library):
    """The functions of a library, each with the arrays of its results."""

    def fold(self, buffer: bytes) -> bytes:
        """Return ASCII letters and digits, letters as small ones, with a space for each other byte."""
        octets = np.empty(len(buffer), np.uint8)
        self._call("ibidem_fold", buffer, len(buffer), octets)
        return octets.tobytes()

    def tokens(self, buffer: bytes) -> tuple[Places, Places]:
        """Return where each word of a buffer, separated by spaces, begins and ends."""
        count = self._call("ibidem_count", buffer, len(buffer))
        starts, ends = np.empty(count, np.int64), np.empty(count, np.int64)
        self._call("ibidem_cut", buffer, len(buffer), starts, ends)
        return starts, ends

    def has_broken_words(self, buffer: bytes) -> bool:
        """Return whether a hyphen before a blank may follow a small letter."""
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
        """Run `TermGroups.group` in compiled code, document by document.

        Returns:
            Word, document, first place and count of each group; and a place of each word.
        """
        columns = [np.empty(hashes.size, np.int64) for _ in range(4)]
        place, words = np.empty(hashes.size, np.int64), np.empty(1, np.int64)
        tokens = (buffer, starts, ends, hashes, offsets, offsets.size - 1, self._salt)
        count = self._call("ibidem_groups", *tokens, *columns, place, words)
        return [column[:count] for column in columns], place[: words[0]]

    def shapes(self, buffer: bytes, starts: Places, ends: Places) -> tuple[Octets, Octets]:
        """Return which tokens hold ASCII digits, and which hold bytes outside ASCII."""
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
        """Run `RarestTerms.look_up` in compiled code; its fields in their order.

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

    def features(
        self,
        table_ranks: tuple[Places, Places],
        strange: tuple[Hashes, Places],
        table: tuple[int, int],
        sizes: tuple[int, int],
    ) -> tuple[Places, Places]:
        """Run `feature_set.sign_batch` in compiled code: the codes, and how many each document has.

        Args:
            table_ranks: Ranks of the terms in the table, document by document, and where each document's begin and the
                end.
            strange: Hashes of the terms outside the table, document by document.
            table: Terms of the table, and the number of all codes.
            sizes: Terms in the table that a set has at least, and terms that it has at most.
        """
        counts = np.empty(table_ranks[1].size - 1, np.int64)
        codes = np.empty(counts.size * sizes[1], np.int64)
        size = self._call("ibidem_features", *table_ranks, *strange, counts.size, *table, *sizes, codes, counts)
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
        """Sketch the runs of characters of documents, as `noise.sketch` does.

        Returns:
            The slots, the length of the runs, 0 where there are none, and the letters of each document.
        """
        size = offsets.size - 1
        sketch, run, letters = np.empty((size, slots), np.uint8), np.empty(size, np.int64), np.empty(size, np.int64)
        self._call("ibidem_noise", buffer, starts, ends, offsets, size, sketch, run, letters)
        return sketch, run, letters

    def unknown_bigrams(
        self, tokens: tuple[bytes, Places, Places, Places], dense: Octets, known: Octets, shift: int
    ) -> tuple[Hashes, Places]:
        """Run `bigrams.unknown` in compiled code for the dense documents.

        Args:
            tokens: Buffer, starts, ends and offsets of a batch.
            dense: Which documents.
            known: The list, a bit for each value of the highest bits of a hash.
            shift: How many bits are below these.

        Returns:
            The hashes, document by document, and where each document's begin, and the end.
        """
        hashes, offsets = np.empty(len(tokens[0]) + 1, np.uint64), np.empty(tokens[3].size, np.int64)
        size = self._call("ibidem_bigrams", *tokens, dense.size, dense, known, shift, hashes, offsets)
        return hashes[:size], offsets

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
        self, words: tuple[bytes, Places, Places], rarest: tuple[Places, Places], terms: int
    ) -> tuple[bytes, list[int]]:
        """Write the terms and offsets of which the fingerprints of documents are hashed.

        Args:
            words: Buffer, starts and ends of all tokens.
            rarest: First place of each term, and where each document's terms begin and the end.
            terms: Terms of a fingerprint.

        Returns:
            What is hashed of each document, a space behind each term; and where they begin and the end.
        """
        first, offsets = rarest
        size = offsets.size - 1
        text = np.empty(len(words[0]) + _LONGEST_NUMBER * first.size, np.uint8)
        bounds = np.empty(size + 1, np.int64)
        self._call("ibidem_fingerprints", *words, first, offsets, size, terms, text, bounds)
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
            The lines, where each document's lines begin and the end, and how many each has.
        """
        room = len(words[0]) + _LONGEST_NUMBER * groups[0].size
        text = np.empty(room, np.uint8)
        bounds, counts = np.empty(documents + 1, np.int64), np.empty(documents, np.int64)
        self._call("ibidem_profiles", *words, *groups, groups[0].size, documents, int(log), text, bounds, counts)
        return text[: bounds[-1]].tobytes(), bounds.tolist(), counts.tolist()

    def band_keys(self, slots: Array, rows: Places, bands: tuple[int, int], band_rows: int) -> Hashes:
        """Run `candidates.bands` in compiled code for some rows, from the first band up to the last."""
        _check(rows, len(slots))
        first, last = bands
        keys = np.empty((rows.size, last - first), np.uint64)
        self._call("ibidem_band_keys", slots, slots.shape[1], rows, rows.size, first, last, band_rows, keys)
        return keys

    def run_keys(self, blocks: Octets, rows: Places, slots: tuple[int, int], distances: tuple[int, int]) -> Hashes:
        """Run `candidates.run_keys` in compiled code for some rows, from the first slot up to the last."""
        _check(rows, len(blocks))
        first, last = slots
        keys = np.empty((rows.size, last - first), np.uint64)
        self._call("ibidem_run_keys", blocks, blocks.shape[1], rows, rows.size, first, last, *distances, keys)
        return keys

    def shared_keys(self, keys: Array, rows: Places, marks: NDArray[np.bool_] | None) -> tuple[Array, Array]:
        """Run `candidates.drop_singletons` in compiled code.

        Args:
            keys: (e,) a key for each entry.
            rows: (e,) its row, below 2^31; ascending.
            marks: (e,) which entries count: a key is kept where one of them has it. None: every key.

        Returns:
            Number of the key and row of each entry that is kept.

        Raises:
            ValueError: Rows do not ascend, or are too many.
        """
        if rows.size and ((rows[1:] < rows[:-1]).any() or int(rows[-1]) >= _MOST or rows.size >= _MOST):
            raise ValueError("rows have to ascend below 2^31, and entries to be as many at most")
        number, row = np.empty(rows.size, np.int32), np.empty(rows.size, np.int32)
        columns = (keys.astype(np.uint64, copy=False), rows, 0 if marks is None else marks, rows.size)
        count = self._call("ibidem_shared_keys", *columns, self._salt, number, row)
        return number[:count], row[:count]

    def prefixes(self, terms: Array, rows: Places, sizes: Places, filling: int) -> tuple[Places, Places]:
        """Run `TermCounts.prefixes` in compiled code.

        Args:
            terms: (n, t) ascending codes of terms, `filling` behind the last.
            rows: (m,) whose terms.
            sizes: (m,) how many of their terms.
            filling: Greater than every code.

        Returns:
            Codes of terms, and for each the row that has it.
        """
        _check(rows, len(terms))
        term, row = np.empty(rows.size * terms.shape[1], np.int64), np.empty(rows.size * terms.shape[1], np.int64)
        count = self._call("ibidem_prefixes", terms, terms.shape[1], rows, rows.size, sizes, filling, term, row)
        return term[:count], row[:count]

    def by_row(self, row: NDArray[np.int32], times: Places, size: int) -> Places:
        """Return the places of entries that have partners, in the order of their rows, which are below `size`."""
        _check(row, size)
        order = np.empty(row.size, np.int64)
        count = self._call("ibidem_by_row", row, times, row.size, size, order)
        return order[:count]

    def pairs(self, entries: Sequence[Array], partners: Array, size: int, minimum: int) -> Places:
        """Run `pairs.filter_by_shared_keys` in compiled code, of entries whose pairs are not spread out yet.

        Args:
            entries: Row, whether the key is faint, where the partners begin and how many they are; ascending by row.
            partners: Rows, each below `size`; the partners of an entry side by side.
            size: Number of rows.
            minimum: How many faint keys a pair has to share that shares no other.

        Returns:
            Distinct pairs as `row * size + partner`, ascending.
        """
        _check(partners, size)
        _check(entries[2], partners.size)
        _check(entries[2] + entries[3], partners.size + 1)
        pairs = np.empty(int(entries[3].sum()), np.int64)
        count = self._call("ibidem_pairs", *entries, entries[0].size, partners, size, minimum, pairs)
        return pairs[:count]

    def similar_slots(
        self, slots: Array, pairs: tuple[Places, Places], minimum: int, bands: tuple[int, int]
    ) -> NDArray[np.bool_]:
        """Return which pairs of rows have so many equal slots, and one equal band.

        Args:
            slots: (n, 100) min-hash slots.
            pairs: Rows.
            minimum: How many equal slots.
            bands: How many bands, and the slots of each.
        """
        _check(pairs, len(slots))
        similar = np.empty(pairs[0].size, np.uint8)
        self._call("ibidem_equal_slots", slots, slots.shape[1], *pairs, similar.size, minimum, *bands, similar)
        return similar.view(bool)

    def shared_values(self, values: Array, pairs: tuple[Places, Places], filling: int) -> Places:
        """Count the values that pairs of rows share; each row ascends up to its filling."""
        _check(pairs, len(values))
        counts = np.empty(pairs[0].size, np.int64)
        self._call("ibidem_shared_values", values, values.shape[1], *pairs, counts.size, filling, counts)
        return counts

    def shared_smallest(self, values: Array, pairs: tuple[Places, Places], filling: int) -> tuple[Places, Places]:
        """Count for pairs of rows the smallest values of both, as many as a row may have: the shared, then all."""
        _check(pairs, len(values))
        counts, together = np.empty(pairs[0].size, np.int64), np.empty(pairs[0].size, np.int64)
        columns = (values, values.shape[1], *pairs, counts.size, filling)
        self._call("ibidem_shared_smallest", *columns, counts, together)
        return counts, together

    def equal_runs(
        self, blocks: Octets, pairs: tuple[Places, Places], distances: tuple[int, int]
    ) -> tuple[Places, Places, NDArray[np.bool_]]:
        """Return for pairs of noise blocks the equal slots and pairs of slots, and whether a band is equal."""
        _check(pairs, len(blocks))
        size = pairs[0].size
        equal, slot_pairs, band = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint8)
        self._call("ibidem_equal_runs", blocks, blocks.shape[1], *pairs, size, *distances, equal, slot_pairs, band)
        return equal, slot_pairs, band.view(bool)

    def screen(
        self, columns: Sequence[Array], figures: Sequence[int], lengths: Sequence[float], pairs: tuple[Places, Places]
    ) -> NDArray[np.bool_]:
        """Return which pairs of rows may be duplicates, for `pair_rules.verify` to decide on.

        Args:
            columns: The fields of `Screen` in `kernel.c` that are arrays, in their order.
            figures: Thresholds that are numbers.
            lengths: Thresholds that are ratios of lengths.
            pairs: Rows.
        """
        _check(pairs, len(columns[0]))
        side_by_side = [np.ascontiguousarray(column) for column in columns]
        fields = (*[address(column) for column in side_by_side], *figures, *map(_bits, lengths))
        passing = np.empty(pairs[0].size, np.uint8)
        self._call("ibidem_screen", np.array(fields, np.uint64), *pairs, passing.size, passing)
        return passing.view(bool)


def _check(rows: "Array | tuple[Array, ...]", size: int) -> None:
    """Make sure that a loop stays inside of its arrays.

    Raises:
        IndexError: A row is negative, or not below the size.
    """
    for part in rows if isinstance(rows, tuple) else (rows,):
        if part.size and int(part.view(f"u{part.itemsize}").max()) >= size:  # a negative one is a great number there
            raise IndexError(f"rows have to be 0 to {size - 1}, not {part.min()} to {part.max()}")


def _bits(value: float) -> int:
    """Return the 64 bits of a number as an integer, as a field of a struct holds them."""
    return int(np.float64(value).view(np.uint64))


def load() -> Loops | None:
    """Load the compiled loops; None where no library fits."""
    try:
        return Loops()
    except (OSError, AttributeError):
        return None


IN_USE: Final = load()


def compiled() -> Loops:
    """Return the loops, which alone sign batches.

    Raises:
        RuntimeError: There are none: documents are signed one by one (`sign.sign_one`).
    """
    if IN_USE is None:
        raise RuntimeError("batches are signed by compiled loops only")
    return IN_USE
