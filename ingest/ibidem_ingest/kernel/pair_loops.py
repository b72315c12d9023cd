"""The compiled loops that find and compare pairs of documents, as methods that take and return arrays of numpy."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel.library import Array, Hashes, Library, Octets, Places, address

_MAX_ENTRIES = 2**31  # rows and entries have to be fewer: they are counted in 32 bits


class PairLoops(Library):
    """The functions of a library that find candidates and decide on pairs, with their result arrays."""

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
        self, columns: Sequence[Array], figures: Sequence[int], lengths: Sequence[float], pairs: tuple[Places, Places]
    ) -> NDArray[np.bool_]:
        """Return which pairs of rows may be duplicates, for `decision.verify`."""
        _check(pairs, len(columns[0]))
        side_by_side = [np.ascontiguousarray(column) for column in columns]
        fields = (*[address(column) for column in side_by_side], *figures, *map(_bits, lengths))
        passing = np.empty(pairs[0].size, np.uint8)
        self._call("ibidem_screen", np.array(fields, np.uint64), *pairs, passing.size, passing)
        return passing.view(bool)


def _check(rows: "Array | tuple[Array, ...]", size: int) -> None:
    """Check that a loop stays within its arrays."""
    for part in rows if isinstance(rows, tuple) else (rows,):
        if part.size and int(part.view(f"u{part.itemsize}").max()) >= size:  # a negative one becomes a large one
            raise IndexError(f"rows have to be 0 to {size - 1}, not {part.min()} to {part.max()}")


def _bits(value: float) -> int:
    """Return the 64 bits of a float as an integer, for a field of a struct."""
    return int(np.float64(value).view(np.uint64))
