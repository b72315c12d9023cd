"""Signatures of one document, as computed and stored, with the number of their schema."""

from dataclasses import dataclass
from typing import NamedTuple

SCHEMA = "4"
SLOTS = 100
BANDS = 33
FULL_SET = 60
RAREST = 25


@dataclass(frozen=True, slots=True)
class Signatures:
    """All signatures of one document, in stored form.

    Args:
        length: Number of tokens.
        shingles: Number of distinct five-token shingles.
        content: `ch4:` and 32 hex digits; `ch4:none:<id>` for a text without words.
        fingerprint: `fp1:` and 40 hex digits; empty when there is no candidate term.
        weak: Whether the fingerprint is made of fewer than six terms, and so is never evidence.
        profile: `tp1:` and 32 hex digits; empty with fewer than five kept tokens.
        numbers: Count of distinct tokens that hold a digit, to 255.
        number_sketch: The (at most) 16 smallest 16-bit hashes of these tokens, ascending.
        terms: Feature set: codes of 24 bits, ascending, so the rarest come first; empty when there is none.
        full: Whether the feature set is full: 60 codes, all within the idf table's range.
        slots: 100 min-hash slots of 16 bits; empty for a text without words.
        idf: Name of the idf table: 16 hex digits; empty when no table speaks the document's language.
        title: Tokens of the title, joined by one space.
        titled: Whether the title counts: that of a text with fewer than 20 tokens, which does not begin with it.
        noise: Noise block (76 bytes); empty when there is none.
        long: Long signatures, encoded (`longsignatures`); empty for a short text.
        words: A hash of 16 bits of the tokens; 0 for a text without words.
        signs: A hash of 16 bits of the signs; 0 for a text without signs.
    """

    length: int
    shingles: int
    content: str
    fingerprint: str
    weak: bool
    profile: str
    numbers: int
    number_sketch: tuple[int, ...]
    terms: tuple[int, ...]
    full: bool
    slots: tuple[int, ...]
    idf: str
    title: str = ""
    titled: bool = False
    noise: bytes = b""
    long: bytes = b""
    words: int = 0
    signs: int = 0


class StoredSignatures(NamedTuple):
    """Signatures that engines store in addition to the packed value: fields of `Signatures`."""

    length: int  # as there, like all that follows
    idf: str  # name of the idf table
    long: bytes  # long signatures
