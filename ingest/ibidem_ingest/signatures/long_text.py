"""Signatures of long texts: page by page, or chunk by chunk if there are no pages, and the unique words.

A text is long when it has two pages with words or more, or 1,000 tokens. Shorter ones have nothing here: for them the
signatures of the whole text say enough, and cost less. One of 150 tokens is found as a page of a long text by its
profile alone.

A part's sketch has 34 slots of 16 bits over the shingles that lie within it, its profile is that of its tokens
(`text_profile`), of which eight bytes are kept (Spasojevic and Poncin 2011). A part of fewer than 10 tokens has
neither: blank leaves, plate numbers and running titles would all match each other.

The stored value: `lg1:` · flags u8 (1 chunks, 2 alphabetical) · parts u32 · words u32 · one after the other for all
parts: 34 slots u16 each, profile u64, tokens u32, unique words u32 · the unique words u32. Little-endian throughout.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.document import PAGE_BREAK, Document
from ibidem_ingest.signatures import minhash, text_profile, unique_words
from ibidem_ingest.signatures.minhash import band_values
from ibidem_ingest.signatures.unique_words import UniqueWords
from ibidem_ingest.text.passages import NO_PASSAGES, covered, leave_out
from ibidem_ingest.text.tokens import TermGroups, TokenBatch, cut_tokens_and_signs, join_broken_words
from ibidem_ingest.text.word_hash import Hashes, Places, Shingles, distinct, token_shingles

SCHEME = b"lg1:"
MIN_TOKENS = 1_000  # tokens from which a text without pages is long

PAGE_TOKENS = 150  # tokens from which a short text may be a page of a long one

MIN_PAGES = 2
CHUNKS, ALPHABETICAL = 1, 2
PART_SLOTS = 34
MIN_PART_TOKENS = 10

MIN_EQUAL_SLOTS = 4  # equal slots, of 34, from which two pages match

_HEAD = struct.Struct("<4sBII")
_KINDS = ("<u2", "<u8", "<u4", "<u4", "<u4")
_PART_BYTES = 2 * PART_SLOTS + 8 + 4 + 4

Parts = Literal["pages", "chunks"]
LongField = Literal["profiles", "page_bands", "sampled"]
Counts = NDArray[np.uint32]
Sketches = NDArray[np.uint16]
Profiles = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class LongSignatures:
    """Signatures of a long text's parts."""

    parts: Parts  # kind of its parts
    sketches: Sketches  # (p, 34) min-hash slots; zeros for a part without signatures
    profiles: Profiles  # (p,) eight bytes of the text profile; 0 for none
    tokens: Counts  # (p,) tokens
    unique_counts: Counts  # (p,) how many of the unique words are in each part
    words: UniqueWords  # the unique words

    def __len__(self) -> int:
        return int(self.tokens.size)

    @cached_property
    def has_signatures(self) -> NDArray[np.bool_]:
        """(p,) whether a part has signatures; blank and nearly blank parts have none."""
        return self.tokens >= MIN_PART_TOKENS

    @cached_property
    def part_of_word(self) -> NDArray[np.int64]:
        """(n,) the part that contains each unique word."""
        return np.repeat(np.arange(len(self)), self.unique_counts)

    @cached_property
    def slot_keys(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(s,) the slots of all parts, each with its number among the 34, ascending; and (s,) the part of each slot."""
        keys = np.arange(PART_SLOTS, dtype=np.int32) << 16 | self.sketches[self.has_signatures].astype(np.int32)
        order = np.argsort(keys, axis=None, kind="stable")
        part = np.flatnonzero(self.has_signatures).astype(np.int32)
        return keys.ravel()[order], np.repeat(part, PART_SLOTS)[order]

    @cached_property
    def profile_keys(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(q,) the profiles of all parts, ascending; and (q,) the part of each profile."""
        part = np.flatnonzero(self.has_signatures & (self.profiles != 0)).astype(np.int32)
        keys = self.profiles[part].view(np.int64)
        order = np.argsort(keys, kind="stable")
        return keys[order], part[order]

    def encode(self) -> bytes:
        flags = CHUNKS * (self.parts == "chunks") | ALPHABETICAL * self.words.alphabetical
        columns: list[NDArray[np.unsignedinteger]]
        columns = [self.sketches, self.profiles, self.tokens, self.unique_counts, self.words.words]
        head = _HEAD.pack(SCHEME, flags, len(self), self.words.words.size)
        return head + b"".join(each.astype(kind).tobytes() for each, kind in zip(columns, _KINDS, strict=True))

    @classmethod
    def decode(cls, value: bytes) -> "LongSignatures | None":
        """Parse a stored value; None if it is damaged or of another scheme."""
        if len(value) < _HEAD.size or not value.startswith(SCHEME):
            return None
        _, flags, parts, words = _HEAD.unpack_from(value)
        if flags & ~(CHUNKS | ALPHABETICAL) or len(value) != _HEAD.size + parts * _PART_BYTES + 4 * words:
            return None
        read, position = [], _HEAD.size
        for kind, count in zip(_KINDS, (parts * PART_SLOTS, parts, parts, parts, words), strict=True):
            read.append(np.frombuffer(value, kind, count, position))
            position += read[-1].nbytes
        sketches, profiles, tokens, unique_counts, unique = read
        if int(unique_counts.sum()) != words:
            return None
        return cls(
            "chunks" if flags & CHUNKS else "pages",
            sketches.reshape(parts, PART_SLOTS),
            profiles,
            tokens,
            unique_counts,
            UniqueWords(unique, bool(flags & ALPHABETICAL)),
        )

    def lookup_keys(self) -> dict[LongField, list[str]]:
        """Return the distinct look-up values of the text, in order."""
        keys: dict[LongField, list[str]] = {
            "profiles": distinct("p", self.profiles[self.profiles != 0]),
            "page_bands": distinct("q", band_values(self.sketches[self.has_signatures])),
            "sampled": distinct("s", self.words.sample_keys()),
        }
        return {lookup_field: values for lookup_field, values in keys.items() if values}


@dataclass(frozen=True, eq=False, slots=True)
class PagedTokens:
    """The tokens of several texts, split by text, and the positions of the page breaks."""

    batch: TokenBatch  # the tokens, a document of the batch for each text
    pages: Places  # (p + 1,) token offset of each page of all texts, and the end
    first: Places  # (t + 1,) number of each text's first page, and the number of all pages
    signs: Sequence[bytes]  # the signs of each text

    @classmethod
    def tokenize(cls, texts: Sequence[str]) -> "PagedTokens":
        """Split texts into tokens, also at page breaks."""
        cut = [join_broken_words(text).split(PAGE_BREAK) if PAGE_BREAK in text else [text] for text in texts]
        sizes = np.array([len(pages_) for pages_ in cut], np.int64)
        first = np.concatenate(([0], sizes.cumsum()))
        batch, signs = TokenBatch.tokenize_pages([page for pages_ in cut for page in pages_], first)
        return cls(replace(batch, offsets=batch.offsets[first]), batch.offsets, first, signs)

    def without(self, passages: Hashes) -> "PagedTokens":
        batch = self.batch
        sequences = Shingles.hash(batch.hashes, batch.offsets)
        kept = ~covered(sequences.hashes, batch.offsets, passages)
        return PagedTokens(batch.keep(kept), np.append(0, kept.cumsum())[self.pages], self.first, self.signs)

    def parts(self, text: int, sequences: Shingles) -> tuple[Parts, Places] | None:
        """Return the kind of a text's parts, and their token offsets with the end; None for a short text."""
        borders = self.pages[self.first[text] : self.first[text + 1] + 1]
        if np.count_nonzero(np.diff(borders)) >= MIN_PAGES:
            return "pages", borders
        start, end = self.batch.offsets[text : text + 2].tolist()
        return ("chunks", start + chunk_starts(sequences.hashes[start:end])) if end - start >= MIN_TOKENS else None


def as_page(tokens: int, profile: int) -> LongSignatures:
    """Return a short text as the only page of a long one, with the profile and no sketch."""
    words = UniqueWords(np.zeros(0, np.uint32), alphabetical=False)
    counts = np.array([tokens], np.uint32), np.zeros(1, np.uint32)
    return LongSignatures("pages", np.zeros((1, PART_SLOTS), np.uint16), np.array([profile], np.uint64), *counts, words)


def sign_parts_batch(batch: TokenBatch) -> tuple[Sketches, Profiles]:
    """Sign parts, as `sign_long` does; zeros, which take no memory, for those with few tokens."""
    sketches, profiles = np.zeros((len(batch), PART_SLOTS), np.uint16), np.zeros(len(batch), np.uint64)
    is_signed = batch.lengths >= MIN_PART_TOKENS
    offsets = np.append(0, batch.lengths[is_signed].cumsum())
    signed = batch.select(np.repeat(is_signed, batch.lengths), offsets)
    sketches[is_signed] = minhash.sign_batch(Shingles.hash(signed.hashes, offsets), PART_SLOTS)
    digests = text_profile.sign_batch(signed, TermGroups.group(signed))
    profiles[is_signed] = [int.from_bytes(each[:8]) for each in digests]
    return sketches, profiles


MIN_CHUNK, MAX_CHUNK = 200, 600


def chunk_starts(hashes: Hashes) -> Places:
    """Return the starts of the chunks of a text, and its end."""
    places = [0]
    for cut in [*local_minima(hashes).tolist(), hashes.size]:
        while cut - places[-1] > MAX_CHUNK:
            start = places[-1] + MIN_CHUNK
            places.append(
                start + int(np.argmin(hashes[start : min(places[-1] + MAX_CHUNK, hashes.size - MIN_CHUNK) + 1]))
            )
        if cut == hashes.size or min(cut - places[-1], hashes.size - cut) >= MIN_CHUNK:
            places.append(cut)
    return np.array(places, np.int64)


def local_minima(hashes: Hashes) -> Places:
    """Return the positions, from the 200th on, whose hash is below the 200 before it and not above the 200 after it.

    Minima of a sliding window from the minima of blocks, going up and going down (van Herk 1992).
    """
    if hashes.size <= MIN_CHUNK:
        return np.zeros(0, np.int64)
    highest = np.iinfo(np.uint64).max
    blocks = -(-hashes.size // MIN_CHUNK) + 1
    block_hashes = np.full(blocks * MIN_CHUNK, highest, np.uint64)
    block_hashes[: hashes.size] = hashes
    rows = block_hashes.reshape(blocks, MIN_CHUNK)
    upward = np.minimum.accumulate(rows, axis=1).ravel()
    downward = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1].ravel()
    window = np.minimum(downward[: -MIN_CHUNK + 1], upward[MIN_CHUNK - 1 :])  # of MIN_CHUNK hashes from each place on
    ahead = window[1 : hashes.size + 1]
    behind = window[: hashes.size - MIN_CHUNK]
    return MIN_CHUNK + np.flatnonzero(
        (hashes[MIN_CHUNK:] <= ahead[MIN_CHUNK : hashes.size]) & (hashes[MIN_CHUNK:] < behind)
    )


def sign_long(document: Document, passages: Hashes = NO_PASSAGES) -> LongSignatures | None:
    """Sign a text part by part, without some passages; None if it is not long."""
    page_tokens = [cut_tokens_and_signs(page)[0] for page in join_broken_words(document.text).split(PAGE_BREAK)]
    page_tokens = leave_out(page_tokens, passages) if passages.size else page_tokens
    tokens = [token for page in page_tokens for token in page]
    kind: Parts = "pages" if sum(map(bool, page_tokens)) >= MIN_PAGES else "chunks"
    if kind == "chunks" and len(tokens) < MIN_TOKENS:
        return None
    borders = np.cumsum([0, *map(len, page_tokens)]) if kind == "pages" else chunk_starts(token_shingles(tokens))
    slots, profiles = list[Sequence[int]](), list[int]()
    for start, end in pairwise(borders.tolist()):
        part = tokens[start:end] if end - start >= MIN_PART_TOKENS else []
        slots.append(minhash.sign(part, PART_SLOTS) or (0,) * PART_SLOTS)
        profiles.append(int(text_profile.sign(part).partition(":")[2][:16] or "0", 16))
    unique = unique_words.sign(tokens)
    places = unique_words.places(tokens) if unique.words.size else np.zeros(0, np.int64)
    unique_counts = np.diff(np.searchsorted(places, borders)).astype(np.uint32)
    columns = np.array(slots, np.uint16), np.array(profiles, np.uint64), np.diff(borders).astype(np.uint32)
    return LongSignatures(kind, *columns, unique_counts, unique)


def sign_batch(page_tokens: PagedTokens, groups: TermGroups, sequences: Shingles) -> list[LongSignatures | None]:
    """Sign several texts part by part, as `sign_long` does."""
    lengths, several = page_tokens.batch.lengths, np.diff(page_tokens.first) > 1
    may_be_long = np.flatnonzero(several | (lengths >= MIN_TOKENS)).tolist()
    texts = {text: part for text in may_be_long if (part := page_tokens.parts(text, sequences))}
    results: list[LongSignatures | None] = [None] * len(page_tokens.batch)
    if not texts:
        return results
    tokens = np.concatenate([np.arange(offsets[0], offsets[-1]) for _, offsets in texts.values()])
    borders = np.append(0, np.concatenate([np.diff(offsets) for _, offsets in texts.values()]).cumsum())
    sketches, profiles = sign_parts_batch(page_tokens.batch.select(tokens, borders))  # a document for each part
    unique, places = unique_words.sign_batch(page_tokens.batch, groups)
    position = 0
    for text, (kind, offsets) in texts.items():
        rows = slice(position, position + offsets.size - 1)
        position = rows.stop
        unique_counts = np.diff(np.searchsorted(places[text], offsets)).astype(np.uint32)
        sizes = np.diff(offsets).astype(np.uint32)
        results[text] = LongSignatures(kind, sketches[rows], profiles[rows], sizes, unique_counts, unique[text])
    return results
