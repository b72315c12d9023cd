"""Columns of stored documents: the data for settling very many documents at once.

A row takes some 700 bytes of columns, and about 150 for its id and its group. Columns beyond a limit are files that are
mapped into memory; the groups are the same.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override
from xxhash import xxh3_64_intdigest

from ibidem_core.errors import Permanent
from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.stored_groups import GroupedDocument
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed_columns import PackedColumns

EMPTY = PackedColumns.decode([])
ARRAYS = [each.name for each in fields(PackedColumns) if each.name not in ("values", "ids")]  # the columns themselves

# Bytes of a row in all columns.
ROW_BYTES = sum(array.itemsize * int(np.prod(array.shape[1:])) for array in (getattr(EMPTY, name) for name in ARRAYS))

NO_GROUP = xxh3_64_intdigest(b"")  # hash of the group of a document that has none

MAX_BYTES = 1 << 30  # bytes of columns that are held in memory


class StoredColumns(ExitStack):
    """Columns of the documents of an index, in order of addition, in temporary files."""

    def __init__(self, capacity: int, max_bytes: int = MAX_BYTES) -> None:
        super().__init__()
        self.names = Names()
        self.orders = np.zeros(capacity, np.int64)
        self.groups = np.zeros(capacity, np.uint64)
        self.leads = np.zeros(capacity, bool)
        self._values: list[bytes | None] = []  # as long as the plain definition reads them, without compiled loops
        is_mapped = capacity * ROW_BYTES > max_bytes
        folder = self._make_folder() if is_mapped else None
        self._arrays = {name: self._make_array(name, capacity, folder) for name in ARRAYS}

    def _make_folder(self) -> Path:
        try:
            return Path(self.enter_context(TemporaryDirectory(prefix="ibidem-")))
        except OSError as error:
            raise no_room(error) from error

    def _make_array(self, name: str, capacity: int, folder: Path | None) -> NDArray[Any]:
        like = getattr(EMPTY, name)
        shape = (capacity, *like.shape[1:])
        if folder is None or not capacity:
            return np.empty(shape, like.dtype)
        path = folder / name
        try:
            with path.open("wb") as file:  # allocated before mapping, so that a write never finds the disk full
                os.posix_fallocate(file.fileno(), 0, int(np.prod(shape)) * like.dtype.itemsize)
            return np.memmap(path, like.dtype, "r+", shape=shape)
        except OSError as error:
            self.close()
            raise no_room(error) from error

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.names)

    def add(self, documents: Sequence[GroupedDocument]) -> None:
        """Add documents; documents that no longer fit wait for the next settling."""
        start = len(self)
        documents = documents[: len(self.orders) - start]
        rows = slice(start, start + len(documents))
        decoded = PackedColumns.decode([each.packed for each in documents])
        for name, array in self._arrays.items():
            array[rows] = getattr(decoded, name)
        self.orders[rows] = [each.name.order for each in documents]
        self.groups[rows] = [xxh3_64_intdigest(each.group.encode()) for each in documents]
        self.leads[rows] = [each.lead for each in documents]
        self.names.add(documents)
        if loops.IN_USE is None:
            self._values += decoded.values

    def columns(self) -> PackedColumns:
        """Return the columns of all added rows."""
        size = len(self)
        arrays = {name: array[:size] for name, array in self._arrays.items()}
        return replace(EMPTY, values=tuple(self._values), ids=self.names.ids, **arrays)

    def find(self, name: DocumentRef, order: int, bounds: tuple[int, int]) -> int | None:
        """Return the row of a document's write; None if it is missing."""
        start, end = bounds
        row = start + int(np.searchsorted(self.orders[start:end], order))
        return row if row < end and self.names[row] == name else None


class Names(Sequence[DocumentRef]):
    """Index and id of rows, in a third of the memory of pairs of strings."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._indices: list[str] = []

    def add(self, documents: Iterable[GroupedDocument]) -> None:
        """Add the names of documents; documents of one index share its name."""
        for each in documents:
            last = self._indices[-1] if self._indices else ""
            self._indices.append(last if last == each.name.index else each.name.index)
            self.ids.append(each.name.id)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ids)

    @override
    def __getitem__(self, row: Any) -> Any:
        """Return index and id of a row."""
        return self._indices[row], self.ids[row]

    @override
    def __iter__(self) -> Iterator[DocumentRef]:
        """Iterate over the names."""
        return zip(self._indices, self.ids, strict=True)


def no_room(error: OSError) -> Permanent:
    """Return the error of a folder without space for columns."""
    return Permanent(
        f"no room for the columns of settling in the folder of temporary files: {error}",
        "free space there, or name another folder in TMPDIR",
    )
