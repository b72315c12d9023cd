"""Candidate generation for long texts: pairs that share keys of pages, or several sampled words.

The clues are the look-up keys of long texts, for many texts at once; pairs without a shared key are never compared.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from ibidem_dedupe.candidates import Hashes, KeyIndex, drop_singletons, join_indexes
from ibidem_dedupe.column_rules import Rows
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.pairs import CandidateRanges, expand_pairs, pair_keys
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.long_text import LongClue, LongSignatures
from ibidem_ingest.signatures.lookup_keys import LONG_CLUES, LookupField

# How many values of a class of long texts are asked for, where one is not enough.
MIN_SHARED: dict[LookupField, int] = {"sampled": 2}


MAX_TEXTS_PER_KEY = 100  # texts that may share a key: what more carry is a banner page, an oath or a stock form


@dataclass(slots=True)
class PageKeys:
    """Look-up keys of long texts, collected text by text."""

    names: list[DocumentRef] = field(default_factory=list)  # index and id of each text
    # For each class of clues the hashes of each text.
    hashes: dict[LongClue, list[Hashes]] = field(default_factory=lambda: {clue: [] for clue in LONG_CLUES})
    # For each class how many of its keys were left out when the index was built, since too many texts carry them.
    capped_keys: dict[LongClue, int] = field(default_factory=dict)

    def add(self, name: DocumentRef, signatures: LongSignatures) -> None:
        """Add a text."""
        self.names.append(name)
        clues = signatures.clues()
        for clue, entries in self.hashes.items():
            values = clues.get(clue, [])
            entries.append(np.fromiter(map(xxh3_64_intdigest, map(str.encode, values)), np.uint64, len(values)))

    def key_index(self, names: Sequence[DocumentRef]) -> KeyIndex:
        """Return the rows that share a key."""
        if loops.IN_USE is None:  # all long texts are compared then
            return KeyIndex(np.empty(0, np.int32), np.empty(0, np.int32))
        row = {name: number for number, name in enumerate(names)}
        rows = np.array([row[name] for name in self.names], np.int64)
        return join_indexes(list(self._parts(rows, len(names))))

    def _parts(self, rows: Rows, size: int) -> Iterator[KeyIndex]:
        yield drop_singletons(np.empty(0, np.uint64), np.empty(0, np.int64))
        for clue, entries in self.hashes.items():
            lengths = [len(each) for each in entries]
            if not sum(lengths):
                continue
            key_index = drop_singletons(np.concatenate(entries), np.repeat(rows, lengths))
            if count := int(np.count_nonzero(np.bincount(key_index.key) > MAX_TEXTS_PER_KEY)):
                self.capped_keys[clue] = count
            shared = drop_frequent(key_index)
            if (min_shared := MIN_SHARED.get(clue, 1)) > 1:
                shared = pair_keys(pairs_sharing(shared, min_shared, size), size)
            yield shared


def drop_frequent(entries: KeyIndex) -> KeyIndex:
    """Drop the keys that more than `MAX_TEXTS_PER_KEY` rows have."""
    counts = np.bincount(entries.key, minlength=1)
    rest = entries.keep(counts[entries.key] <= MAX_TEXTS_PER_KEY)
    return replace(rest, key=np.unique(rest.key, return_inverse=True)[1].astype(np.int32))


def pairs_sharing(entries: KeyIndex, min_shared: int, size: int) -> NDArray[np.int64]:
    """Return the pairs that share `min_shared` keys, as `row * size + earlier`."""
    weak = replace(entries, first_weak=0, min_shared=min_shared)
    return np.concatenate([np.empty(0, np.int64), *expand_pairs(weak, CandidateRanges.build(weak), size)])
