"""The compiled loops (`kernel.c`) as methods that take and return arrays of numpy.

The library was made at installation, where a C compiler was (`hatch_build.py`), and is loaded when this module is. It
says of which source it was made: a library of another source is not used. `IN_USE` is None if none fits; then each
document is signed, and each pair decided on, by itself in plain Python, which is the definition of what the loops
compute and takes about a hundred times as long.
"""

import ctypes
import secrets
from collections.abc import Sequence
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


_MAX_NUMBER_BYTES = 22  # bytes of a count, with the space before and the newline behind it

_BLOCK = 8  # bytes copied at once; up to as many are written past the end

_MAX_ENTRIES = 2**31  # rows and entries have to be fewer: they are counted in 32 bits


class Loops:
    """The functions of a library, with their result arrays."""

    def __init__(self, path: Path = LIBRARY) -> None:
        self._library = ctypes.CDLL(str(path))
        name = self._library.ibidem_source
        name.restype = ctypes.c_char_p
        if name().decode() != blake2b(SOURCE.read_bytes(), digest_size=8).hexdigest():
            raise OSError(f"{path} was built from another source")
        self._salt = secrets.randbits(64) | 1

    def _call(self, name: str, *values: "Array | bytes | int") -> int:
        """Call a function; arrays and bytes are passed by address, numbers as 64 bits."""
        function = getattr(self._library, name)
        function.restype = ctypes.c_int64
        side_by_side = [np.ascontiguousarray(each) if isinstance(each, np.ndarray) else each for each in values]
        result: int = function(*map(_argument, side_by_side))
        if result == -1:
            raise MemoryError(f"no memory for {name}")
        return result

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
        """Run `Table.ranks` in compiled code, with the slot bits of a hash and the rank of an absent term."""
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
        """Run the look-up of unknown bigrams for the dense documents."""
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

    def band_keys(self, slots: Array, rows: Places, bands: tuple[int, int], band_rows: int) -> Hashes:
        """Run `candidates.bands` in compiled code for some rows and a range of bands."""
        _check(rows, len(slots))
        first, last = bands
        keys = np.empty((rows.size, last - first), np.uint64)
        self._call("ibidem_band_keys", slots, slots.shape[1], rows, rows.size, first, last, band_rows, keys)
        return keys

    def run_keys(self, blocks: Octets, rows: Places, slots: tuple[int, int], distances: tuple[int, int]) -> Hashes:
        """Run `candidates.run_keys` in compiled code for some rows and a range of slots."""
        _check(rows, len(blocks))
        first, last = slots
        keys = np.empty((rows.size, last - first), np.uint64)
        self._call("ibidem_run_keys", blocks, blocks.shape[1], rows, rows.size, first, last, *distances, keys)
        return keys

    def shared_keys(self, keys: Array, rows: Places, marks: NDArray[np.bool_] | None) -> tuple[Array, Array]:
        """Run `candidates.drop_singletons` in compiled code."""
        if rows.size and ((rows[1:] < rows[:-1]).any() or int(rows[-1]) >= _MAX_ENTRIES or rows.size >= _MAX_ENTRIES):
            raise ValueError("rows have to ascend below 2^31, and entries to be as many at most")
        number, row = np.empty(rows.size, np.int32), np.empty(rows.size, np.int32)
        columns = (keys.astype(np.uint64, copy=False), rows, 0 if marks is None else marks, rows.size)
        count = self._call("ibidem_shared_keys", *columns, self._salt, number, row)
        return number[:count], row[:count]

    def prefixes(self, terms: Array, rows: Places, sizes: Places, fill_value: int) -> tuple[Places, Places]:
        """Run `TermCounts.prefixes` in compiled code."""
        _check(rows, len(terms))
        term, row = np.empty(rows.size * terms.shape[1], np.int64), np.empty(rows.size * terms.shape[1], np.int64)
        count = self._call("ibidem_prefixes", terms, terms.shape[1], rows, rows.size, sizes, fill_value, term, row)
        return term[:count], row[:count]

    def by_row(self, row: NDArray[np.int32], times: Places, size: int) -> Places:
        """Return the indices of entries with partners, ordered by row; rows are below `size`."""
        _check(row, size)
        order = np.empty(row.size, np.int64)
        count = self._call("ibidem_by_row", row, times, row.size, size, order)
        return order[:count]

    def pairs(self, entries: Sequence[Array], partners: Array, size: int, minimum: int) -> Places:
        """Run `pairs.filter_by_shared_keys` in compiled code, on entries whose pairs are not yet expanded."""
        _check(partners, size)
        _check(entries[2], partners.size)
        _check(entries[2] + entries[3], partners.size + 1)
        pairs = np.empty(int(entries[3].sum()), np.int64)
        count = self._call("ibidem_pairs", *entries, entries[0].size, partners, size, minimum, pairs)
        return pairs[:count]

    def similar_slots(
        self, slots: Array, pairs: tuple[Places, Places], minimum: int, bands: tuple[int, int]
    ) -> NDArray[np.bool_]:
        """Return which pairs of rows have enough equal slots, and an equal band."""
        _check(pairs, len(slots))
        similar = np.empty(pairs[0].size, np.uint8)
        self._call("ibidem_equal_slots", slots, slots.shape[1], *pairs, similar.size, minimum, *bands, similar)
        return similar.view(bool)

    def shared_values(self, values: Array, pairs: tuple[Places, Places], fill_value: int) -> Places:
        """Count the values that pairs of rows share; each row is ascending, followed by padding."""
        _check(pairs, len(values))
        counts = np.empty(pairs[0].size, np.int64)
        self._call("ibidem_shared_values", values, values.shape[1], *pairs, counts.size, fill_value, counts)
        return counts

    def shared_smallest(self, values: Array, pairs: tuple[Places, Places], fill_value: int) -> tuple[Places, Places]:
        """Count, for pairs of rows, the smallest values of both, up to the size of a row: the shared ones, and all."""
        _check(pairs, len(values))
        counts, together = np.empty(pairs[0].size, np.int64), np.empty(pairs[0].size, np.int64)
        columns = (values, values.shape[1], *pairs, counts.size, fill_value)
        self._call("ibidem_shared_smallest", *columns, counts, together)
        return counts, together

    def equal_runs(
        self, blocks: Octets, pairs: tuple[Places, Places], distances: tuple[int, int]
    ) -> tuple[Places, Places, NDArray[np.bool_]]:
        """Return for pairs of noise blocks the numbers of equal slots and of slots, and whether a band is equal."""
        _check(pairs, len(blocks))
        size = pairs[0].size
        equal, slot_pairs, band = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint8)
        self._call("ibidem_equal_runs", blocks, blocks.shape[1], *pairs, size, *distances, equal, slot_pairs, band)
        return equal, slot_pairs, band.view(bool)

    def screen(
        self, columns: Sequence[Array], figures: Sequence[int], shares: Sequence[float], pairs: tuple[Places, Places]
    ) -> NDArray[np.bool_]:
        """Return which pairs of rows may be duplicates, for `pairs.verify`."""
        _check(pairs, len(columns[0]))
        side_by_side = [np.ascontiguousarray(column) for column in columns]
        fields = (
            *[address(column) for column in side_by_side],
            *figures,
            *np.array(shares, np.float64).view(np.uint64),
        )
        passing = np.empty(pairs[0].size, np.uint8)
        self._call("ibidem_screen", np.array(fields, np.uint64), *pairs, passing.size, passing)
        return passing.view(bool)


def _check(rows: "Array | tuple[Array, ...]", size: int) -> None:
    """Check that a loop stays within its arrays."""
    for part in rows if isinstance(rows, tuple) else (rows,):
        if part.size and int(part.view(f"u{part.itemsize}").max()) >= size:  # a negative one becomes a large one
            raise IndexError(f"rows have to be 0 to {size - 1}, not {part.min()} to {part.max()}")


def address(array: Array) -> int:
    place: int = array.__array_interface__["data"][0]
    return place


def _argument(value: "Array | bytes | int") -> object:
    if isinstance(value, int):
        return ctypes.c_uint64(value)
    return ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_void_p(address(value))


def load() -> Loops | None:
    """Load the compiled loops; None if no library fits."""
    try:
        return Loops()
    except (OSError, AttributeError):
        return None


IN_USE: Final = load()


def compiled() -> Loops:
    """Return the loops, which are required for batches and columns."""
    if IN_USE is None:
        raise RuntimeError("batches are signed, and columns compared, by compiled loops only")
    return IN_USE
