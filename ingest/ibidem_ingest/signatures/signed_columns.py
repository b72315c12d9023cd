"""The signatures of a batch of documents, a column for each: packed values are made of them without a call for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.dates import interval
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.feature_set import FeatureSet
from ibidem_ingest.signatures.fingerprint import Fingerprint
from ibidem_ingest.signatures.numbers import SKETCH, Numbers
from ibidem_ingest.signatures.packed import (
    FULL,
    LONG,
    NO_DATE,
    NO_MINHASH,
    NO_SET,
    NO_WORDS,
    NOISE_BYTES,
    SCHEME,
    TERM_BYTES,
    WEAK,
    guard,
    hash_value,
)
from ibidem_ingest.signatures.packed_columns import HEAD_COLUMNS
from ibidem_ingest.signatures.schema import SLOTS, Signatures
from ibidem_ingest.text.word_hash import Places

_NOTHING = bytes(NOISE_BYTES)


@dataclass(frozen=True, eq=False, slots=True)
class SignedColumns:
    """The signatures of n documents, signed with one idf table or none.

    Args:
        idf: Name of the table; empty for none.
        lengths: (n,) tokens.
        shingles: (n,) distinct shingles.
        contents: Content hashes as they are stored.
        titles: Titles of short texts.
        profiles: Text profiles as they are stored.
        numbers: Numbers of each.
        slots: (n, 100) uint16; of a text without words, anything.
        fingerprints: Fingerprints of each.
        features: Feature set of each.
        noise: Noise block of each; empty for none.
        long: Long signatures of each, encoded; empty for none.
    """

    idf: str
    lengths: Places
    shingles: Places
    contents: Sequence[str]
    titles: Sequence[str]
    profiles: Sequence[str]
    numbers: Sequence[Numbers]
    slots: NDArray[np.uint16]
    fingerprints: Sequence[Fingerprint]
    features: Sequence[FeatureSet]
    noise: Sequence[bytes]
    long: Sequence[bytes]

    def rows(self) -> list[Signatures]:
        """Return the signatures document by document."""
        count = len(self.contents)
        slots = map(tuple, self.slots.tolist())
        columns = (
            self.lengths.tolist(),
            self.shingles.tolist(),
            self.contents,
            *_columns(self.fingerprints, 3),
            self.profiles,
            *_columns(self.numbers, 2),
            *_columns(self.features, 2),
            [row if length else () for row, length in zip(slots, self.lengths.tolist(), strict=True)],
            [self.idf] * count,
            self.titles,
            self.noise,
            self.long,
        )
        return list(starmap(Signatures, zip(*columns, strict=True)))

    def pack(self, documents: Sequence[Document], distinct: Sequence[str] = ()) -> list[bytes]:
        """Pack them with the dates, sources and ids of their documents, as `packed.pack` does each.

        Args:
            documents: Whose signatures these are.
            distinct: Names of the fields that must not differ, as for `packed.pack`.
        """
        counts = np.array([len(each.codes) for each in self.features], np.int64)
        heads = self._heads(documents, distinct, counts).tobytes()
        terms = self._terms()
        slots = np.zeros((len(documents), 1 + 2 * SLOTS), np.uint8)
        slots[:, 0] = np.where(self.lengths > 0, SLOTS, 0)
        slots[:, 1:] = self.slots.astype("<u2").view(np.uint8)
        minima, size, wide = slots.tobytes(), HEAD_COLUMNS.itemsize, 1 + 2 * SLOTS
        bounds = pairwise((TERM_BYTES * np.concatenate(([0], counts.cumsum()))).tolist())
        rows = zip(documents, bounds, counts.tolist(), self.lengths.tolist(), strict=True)
        packed = []
        for at, (document, (start, end), count, length) in enumerate(rows):
            head, name = heads[at * size : (at + 1) * size], document.id.encode()
            stored = minima[at * wide : (at + 1) * wide] if length else b"\0"
            named = len(name).to_bytes(2, "little")
            packed.append(b"%b%c%b%b%b%b" % (head, count, terms[start:end], stored, named, name))
        return packed

    def _heads(self, documents: Sequence[Document], distinct: Sequence[str], counts: Places) -> NDArray[np.void]:
        """Fill what is at the same place in each value."""
        heads = np.zeros(len(documents), HEAD_COLUMNS)
        heads["scheme"] = SCHEME
        heads["flags"] = self._flags(counts)
        heads["length"], heads["shingles"] = self.lengths, self.shingles
        days = {date: interval(date) for date in {document.date for document in documents}}
        for name, end in (("date_from", 0), ("date_to", 1)):
            its = {date: NO_DATE if each[end] is None else each[end] for date, each in days.items()}
            heads[name] = [its[document.date] for document in documents]
        heads["idf"] = int.from_bytes(bytes.fromhex(self.idf), "little")
        worded = [each if length else "" for each, length in zip(self.contents, self.lengths.tolist(), strict=True)]
        heads["content"] = _leading(worded, 16)
        heads["fingerprint"] = _leading([each.strict for each in self.fingerprints], 8)[:, 0]
        heads["fingerprint_binned"] = _leading([each.binned for each in self.fingerprints], 8)[:, 0]
        heads["profile"] = _leading(self.profiles, 8)[:, 0]
        heads["source"] = _hashes([document.source for document in documents])
        heads["title"] = _hashes(self.titles)
        if distinct:
            heads["guard"] = np.frombuffer(b"".join(guard(document, distinct) for document in documents), "<u4")
        blocks = b"".join([each or _NOTHING for each in self.noise])
        heads["noise"] = np.frombuffer(blocks, np.uint8).reshape(-1, NOISE_BYTES)
        heads["numbers"] = [each.distinct for each in self.numbers]
        sizes = np.array([len(each.sketch) for each in self.numbers])
        heads["number_sketch"][np.arange(SKETCH) < sizes[:, None]] = [v for each in self.numbers for v in each.sketch]
        return heads

    def _flags(self, counts: Places) -> NDArray[np.int64]:
        weak = np.array([each.weak for each in self.fingerprints])
        full = np.array([each.full for each in self.features])
        long = np.array([bool(each) for each in self.long])
        none = self.lengths == 0
        flags: NDArray[np.int64] = (
            WEAK * weak + NO_SET * (counts == 0) + NO_MINHASH * none + NO_WORDS * none + FULL * full + LONG * long
        )
        return flags

    def _terms(self) -> bytes:
        """Write the terms of all, three bytes each."""
        codes = np.array([code for each in self.features for code in each.codes], "<u4")
        return codes.view(np.uint8).reshape(-1, 4)[:, :TERM_BYTES].tobytes()


def _columns(rows: Sequence[tuple[object, ...]], count: int) -> list[tuple[object, ...]]:
    """Turn rows into columns."""
    return list(zip(*rows, strict=True)) or [()] * count


def _leading(hashes: Sequence[str], size: int) -> NDArray[np.uint64]:
    """Return the first bytes of stored hashes, without their schemes, as words; zeros for an empty one."""
    digits, none = 2 * size, "0" * 2 * size
    cut = [each[at : at + digits] if (at := each.find(":") + 1) else none for each in hashes]
    return np.frombuffer(bytes.fromhex("".join(cut)), "<u8").reshape(-1, size // 8)


def _hashes(values: Sequence[str]) -> list[int]:
    """Hash values to four bytes each, as `hash_value` does; many are equal."""
    known = {value: int.from_bytes(hash_value(value.encode()), "little") for value in set(values)}
    return [known[value] for value in values]
