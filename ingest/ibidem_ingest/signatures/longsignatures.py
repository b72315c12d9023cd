"""Signatures of long texts: page by page, or chunk by chunk where there are no pages, and the words that occur once.

A text is long when it has two pages with words or more, or 1,000 tokens. Shorter ones have nothing here: for them the
signatures of the whole text say enough, and cost less.

The stored value: `lg1:` · flags u8 (1 chunks, 2 alphabetical) · parts u32 · words u32 · one after the other for all
parts: 34 slots u16 each, profile u64, tokens u32, unique words u32 · the unique words u32. Little-endian throughout.
"""

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.brokenwords import join_broken_words
from ibidem_ingest.document import Document
from ibidem_ingest.shingles import Shingles
from ibidem_ingest.signatures import chunks, pages, uniquewords
from ibidem_ingest.signatures.pages import Profiles, Sketches
from ibidem_ingest.signatures.uniquewords import UniqueWords
from ibidem_ingest.termgroups import TermGroups
from ibidem_ingest.tokens import TokenBatch

SCHEME = b"lg1:"
LEAST_TOKENS = 1_000
"""Tokens from which a text without pages is long."""

LEAST_PAGES = 2
CHUNKS, ALPHABETICAL = 1, 2
_HEAD = struct.Struct("<4sBII")
_KINDS = ("<u2", "<u8", "<u4", "<u4", "<u4")
_PART_BYTES = 2 * pages.SLOTS + 8 + 4 + 4

Parts = Literal["pages", "chunks"]
LongClue = Literal["profiles", "page_bands", "sampled"]
Counts = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class LongSignatures:
    """What is kept of a long text's parts.

    Args:
        parts: What its parts are.
        sketches: (p, 34) min-hash slots; zeros for a part without signatures.
        profiles: (p,) eight bytes of the text profile; 0 for none.
        tokens: (p,) tokens.
        once: (p,) how many of the unique words stand in each part.
        words: The unique words.
    """

    parts: Parts
    sketches: Sketches
    profiles: Profiles
    tokens: Counts
    once: Counts
    words: UniqueWords

    def __len__(self) -> int:
        """Return the number of parts."""
        return int(self.tokens.size)

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """(p,) whether a part has signatures, and is not blank or nearly so."""
        return self.tokens >= pages.LEAST_TOKENS

    @cached_property
    def part_of_word(self) -> NDArray[np.int64]:
        """(n,) the part in which each unique word stands."""
        return np.repeat(np.arange(len(self)), self.once)

    def encode(self) -> bytes:
        """Return the value that is stored."""
        flags = CHUNKS * (self.parts == "chunks") | ALPHABETICAL * self.words.alphabetical
        columns: list[NDArray[np.unsignedinteger]] = [
            self.sketches,
            self.profiles,
            self.tokens,
            self.once,
            self.words.words,
        ]
        head = _HEAD.pack(SCHEME, flags, len(self), self.words.words.size)
        return head + b"".join(each.astype(kind).tobytes() for each, kind in zip(columns, _KINDS, strict=True))

    @classmethod
    def decode(cls, value: bytes) -> "LongSignatures | None":
        """Read a stored value; None for one that is damaged or of another scheme."""
        if len(value) < _HEAD.size or not value.startswith(SCHEME):
            return None
        _, flags, parts, words = _HEAD.unpack_from(value)
        if flags & ~(CHUNKS | ALPHABETICAL) or len(value) != _HEAD.size + parts * _PART_BYTES + 4 * words:
            return None
        read, at = [], _HEAD.size
        for kind, count in zip(_KINDS, (parts * pages.SLOTS, parts, parts, parts, words), strict=True):
            read.append(np.frombuffer(value, kind, count, at))
            at += read[-1].nbytes
        sketches, profiles, tokens, once, unique = read
        if int(once.sum()) != words:
            return None
        return cls(
            "chunks" if flags & CHUNKS else "pages",
            sketches.reshape(parts, pages.SLOTS),
            profiles,
            tokens,
            once,
            UniqueWords(unique, bool(flags & ALPHABETICAL)),
        )

    def clues(self) -> dict[LongClue, list[str]]:
        """Return the values under which the text is looked up, without repeats and in order."""
        profiles = np.unique(self.profiles[self.profiles != 0])
        bands = np.unique(pages.band_keys(self.sketches[self.filled]))
        found: dict[LongClue, list[str]] = {
            "profiles": [f"{each:016x}" for each in profiles.tolist()],
            "page_bands": [f"{each:013x}" for each in bands.tolist()],
            "sampled": [f"{each:016x}" for each in self.words.sampled().tolist()],
        }
        return {clue: values for clue, values in found.items() if values}


def sign_long(document: Document) -> LongSignatures | None:
    r"""Sign a text part by part; None when it is not long.

    Args:
        document: Form feeds stand between its pages.

    >>> signed = sign_long(Document("a", "the first page\fthe second"))
    >>> signed and (signed.parts, len(signed), signed.tokens.tolist())
    ('pages', 2, [3, 2])
    """
    text = document.text
    paged = "\f" in text
    if not paged and len(text) < 2 * LEAST_TOKENS - 1:
        return None
    batch = TokenBatch.of(join_broken_words(text).split("\f") if paged else [text])
    paged = int(np.count_nonzero(batch.lengths)) >= LEAST_PAGES
    if not paged and batch.hashes.size < LEAST_TOKENS:
        return None
    whole = replaced(batch, np.array([0, batch.hashes.size]))
    parts = batch if paged else replaced(batch, chunks.cuts(Shingles.of(whole.hashes, whole.offsets).hashes))
    sketches, profiles = pages.sign_batch(parts)
    (words,), (places,) = uniquewords.sign_batch(whole, TermGroups.of(whole))
    once = np.diff(np.searchsorted(places, parts.offsets))
    return LongSignatures(
        "pages" if paged else "chunks",
        sketches,
        profiles,
        parts.lengths.astype(np.uint32),
        once.astype(np.uint32),
        words,
    )


def replaced(batch: TokenBatch, offsets: NDArray[np.int64]) -> TokenBatch:
    """Return the same tokens, divided at other places."""
    return TokenBatch(batch.buffer, batch.starts, batch.ends, batch.hashes, batch.leading, offsets)
