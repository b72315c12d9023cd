"""Look-up values as SQLite keeps them: words of one row in a contentless full-text table, and 32-bit marks."""

import re

from xxhash import xxh3_128_hexdigest

from ibidem_engines.engine import Record
from ibidem_ingest.signatures.clues import Clue, bands, clues, long_clues, rare
from ibidem_ingest.signatures.longsignatures import LongSignatures
from ibidem_ingest.signatures.packed import unpack

MARKED: tuple[Clue, ...] = ("content", "fingerprint", "fingerprint_binned", "profile", "bands")
"""Classes of which most values are carried by one document; rare terms are shared by many, so marks would not help."""

_HASH = len("fp1:") + 16
_PLAIN = re.compile(r"[0-9a-z:]+", re.ASCII)


def values_of(packed: bytes, long: bytes = b"") -> dict[Clue, list[str]]:
    """Read the look-up values out of signatures; none of what is empty, damaged or of an unknown scheme.

    Args:
        packed: The packed value.
        long: The long signatures.
    """
    unpacked = unpack(packed) if packed else None
    return {} if unpacked is None else clues(unpacked) | long_clues(LongSignatures.decode(long))


def values_of_record(record: Record) -> dict[Clue, list[str]]:
    """Name the same values from the signatures before they were packed, which costs half of reading them again."""
    its = record.signatures
    if not record.packed:
        return {}
    found: dict[Clue, list[str]] = {"content": [its.content]}
    if its.fingerprint and not its.weak:
        found["fingerprint"] = [its.fingerprint[:_HASH]]
        found["fingerprint_binned"] = [its.fingerprint_binned[:_HASH]]
    if its.profile:
        found["profile"] = [its.profile[:_HASH]]
    if its.slots:
        found["bands"] = bands(its.slots)
    if its.full:
        found["rare"] = rare(bytes.fromhex(its.idf), its.terms)
    return found | long_clues(LongSignatures.decode(record.long))


def marked(values: dict[Clue, list[str]]) -> list[str]:
    """List the values that get a mark."""
    return [value for clue in MARKED for value in values.get(clue, ())]


def words(values: dict[Clue, list[str]]) -> str:
    """Write all values of a document as the words of one row.

    Values of two classes are never alike: each begins with its scheme or its letter.
    """
    parts: list[str] = []
    for clue, some in values.items():
        parts += map(word, some) if clue == "content" else some
    return " ".join(parts)


def word(value: str) -> str:
    """Write a value as one word: itself, or its hash when it holds what the tokenizer would cut (an id may)."""
    return value if _PLAIN.fullmatch(value) else f"x:{xxh3_128_hexdigest(value.encode())}"
