"""Signatures of a batch of documents in columns; packed values are built from them without a call for each document."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.dates import interval
from ibidem_ingest.document import Document
from ibidem_ingest.signatures import content, noise, text_profile
from ibidem_ingest.signatures.feature_set import FeatureColumns
from ibidem_ingest.signatures.fingerprint import TERMS as FINGERPRINT_TERMS
from ibidem_ingest.signatures.fingerprint import FingerprintColumns
from ibidem_ingest.signatures.noise import Blocks
from ibidem_ingest.signatures.numbers import NumberColumns
from ibidem_ingest.signatures.packed import (
    FULL,
    IDF_BYTES,
    LONG,
    NO_DATE,
    NO_MINHASH,
    NO_SET,
    NO_WORDS,
    NOISE_BLOCK,
    SCHEME,
    TERM_BYTES,
    TITLED,
    WEAK,
    guard,
    hash_value,
)
from ibidem_ingest.signatures.packed_columns import HEAD_COLUMNS
from ibidem_ingest.signatures.schema import SLOTS, Signatures, StoredSignatures
from ibidem_ingest.text.word_hash import Places

_NO_HASH = bytes(content.SIZE)


@dataclass(frozen=True, eq=False, slots=True)
class SignedColumns:
    """The signatures of n documents, signed with one idf table or none."""

    idf: str  # name of the table; empty for none
    names: Sequence[str]  # ids of the documents
    lengths: Places  # (n,) tokens
    shingles: Places  # (n,) distinct shingles
    contents: Sequence[bytes]  # content hashes; empty of a text without words
    titles: Sequence[str]  # tokens of the titles, joined by one space
    title_flags: Sequence[bool]  # whether each title counts
    profiles: Sequence[bytes]  # text profiles; empty for none
    numbers: NumberColumns  # numbers of all
    slots: NDArray[np.uint16]  # (n, 100) uint16; of a text without words, anything
    fingerprints: FingerprintColumns  # fingerprints of all
    features: FeatureColumns  # feature sets of all
    noise: Blocks  # (n,) noise blocks; zeros for none
    long: Sequence[bytes]  # long signatures of each, encoded; empty for none
    words: Sequence[int]  # hashes of 16 bits of the words
    signs: Sequence[int]  # hashes of 16 bits of the signs; 0 for none

    def rows(self) -> list[Signatures]:
        """Return the signatures document by document."""
        count = len(self.names)
        slots = map(tuple, self.slots.tolist())
        columns = (
            self.lengths.tolist(),
            self.shingles.tolist(),
            map(content.format_hash, self.contents, self.names),
            *_columns(self.fingerprints.rows(), 2),
            [text_profile.SCHEME + each.hex() if each else "" for each in self.profiles],
            *_columns(self.numbers.rows(), 2),
            *_columns(self.features.rows(), 2),
            [row if length else () for row, length in zip(slots, self.lengths.tolist(), strict=True)],
            [self.idf] * count,
            self.titles,
            self.title_flags,
            noise.rows(self.noise),
            self.long,
            self.words,
            self.signs,
        )
        return list(starmap(Signatures, zip(*columns, strict=True)))

    def stored_rows(self) -> list[StoredSignatures]:
        """Return for each document the signatures that engines store in addition to its packed value."""
        contents = map(content.format_hash, self.contents, self.names)
        idf = [self.idf] * len(self.names)
        return list(map(StoredSignatures, self.lengths.tolist(), contents, idf, self.long))

    def pack(self, documents: Sequence[Document], distinct: Sequence[str] = ()) -> list[bytes]:
        """Build the packed values with the dates, sources and ids of the documents, as `packed.pack` does."""
        heads = self._heads(documents, distinct).tobytes()
        counts, size, width = self.features.counts, HEAD_COLUMNS.itemsize, 1 + 2 * SLOTS
        terms = self.features.codes.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :TERM_BYTES].tobytes()
        slots = np.zeros((len(documents), width), np.uint8)
        slots[:, 0] = SLOTS
        slots[:, 1:] = self.slots.astype("<u2").view(np.uint8)
        minima = slots.tobytes()
        names = [name.encode() for name in self.names]
        blocks = [NOISE_BLOCK + block if block else b"" for block in noise.rows(self.noise)]
        ends = (TERM_BYTES * counts.cumsum()).tolist()
        rows = zip(names, counts.tolist(), ends, self.lengths.tolist(), blocks, strict=True)
        values, head, slot = [], 0, 0
        for name, count, end, length, block in rows:
            minima_part = minima[slot : slot + width] if length else b"\0"
            term_bytes = terms[end - TERM_BYTES * count : end]
            name_length = len(name).to_bytes(2, "little")
            values.append(
                b"%b%c%b%b%b%b%b"
                % (heads[head : head + size], count, term_bytes, minima_part, name_length, name, block)
            )
            head, slot = head + size, slot + width
        return values

    def _heads(self, documents: Sequence[Document], distinct: Sequence[str]) -> NDArray[np.void]:
        """Fill the fields at fixed positions of each value."""
        heads = np.zeros(len(documents), HEAD_COLUMNS)
        heads["scheme"] = SCHEME
        heads["flags"] = self._flags()
        heads["length"], heads["shingles"] = self.lengths, self.shingles
        dates = [document.date for document in documents]
        days = {date: interval(date) for date in set(dates)}
        for name, end in (("date_from", 0), ("date_to", 1)):
            numbers = {date: NO_DATE if each[end] is None else each[end] for date, each in days.items()}
            heads[name] = [numbers[date] for date in dates]
        heads["idf"] = int.from_bytes(bytes.fromhex(self.idf)[:IDF_BYTES], "little")
        heads["words"], heads["signs"] = self.words, self.signs
        heads["content"] = _first_words(self.contents, content.SIZE)
        heads["fingerprint"] = _first_words(self.fingerprints.values, 8)[:, 0]
        heads["profile"] = _first_words(self.profiles, 8)[:, 0]
        heads["source"] = _hashes([document.source for document in documents])
        heads["title"] = _hashes(self.titles)
        if distinct:
            heads["guard"] = np.frombuffer(b"".join(guard(document, distinct) for document in documents), "<u4")
        heads["numbers"], heads["number_sketch"] = self.numbers.distinct, self.numbers.sketch
        return heads

    def _flags(self) -> NDArray[np.int64]:
        weak = np.array(self.fingerprints.terms) < FINGERPRINT_TERMS
        is_long = np.array([bool(each) for each in self.long])
        none, no_set = self.lengths == 0, self.features.counts == 0
        flags: NDArray[np.int64] = (
            WEAK * weak
            + NO_SET * no_set
            + NO_MINHASH * none
            + NO_WORDS * none
            + FULL * self.features.full
            + LONG * is_long
            + TITLED * np.array(self.title_flags, np.int64)
        )
        return flags


def _columns(rows: Sequence[tuple[object, ...]], count: int) -> list[tuple[object, ...]]:
    """Convert rows into columns."""
    return list(zip(*rows, strict=True)) or [()] * count


def _first_words(hashes: Sequence[bytes], size: int) -> NDArray[np.uint64]:
    """Return the first bytes of hashes as integers; zeros for an empty hash."""
    cut = b"".join([each[:size] or _NO_HASH[:size] for each in hashes])
    return np.frombuffer(cut, "<u8").reshape(-1, size // 8)


def _hashes(values: Sequence[str]) -> list[int]:
    """Hash values to four bytes each, as `hash_value` does; repeated values are hashed once."""
    by_value = {value: int.from_bytes(hash_value(value.encode()), "little") for value in set(values)}
    return [by_value[value] for value in values]
