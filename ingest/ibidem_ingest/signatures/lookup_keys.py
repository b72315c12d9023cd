"""Look-up keys: the values under which a document is stored and found, computed from its packed value.

Content `ch4:` and 32 hex digits; fingerprint and profile: scheme and the first 16 hex digits (an engine stores the
same). All others are keys of eight characters (`word_hash`), made of a number of 64 bits: of the 33 min-hash bands
s0 + s1 · 2^16 + s2 · 2^32 + band · 2^48; of the 25 rarest terms of a full feature set the term's code + the first four
bytes of the idf table's name · 2^24. Of the runs of characters (`noise`) 32 pairs of slots, 2 i and 2 i + 5 modulo 64:
s0 + s1 · 2^8 + i · 2^16 + length of the runs · 2^24 + the first four bytes of the idf table's name · 2^32, of dense
texts without the table; they begin with `m` where the text looks misread on its own, else with `c`. Two readings of a
text share several of these, other texts hardly three: a look-up requires as many as the decision needs. The clean
copy of a misread text has them too, so that it is found. They take little room: many documents have one in common.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.long_text import LongField, LongSignatures
from ibidem_ingest.signatures.minhash import band_values
from ibidem_ingest.signatures.packed import FULL, NO_WORDS, WEAK, Packed, PackedColumns
from ibidem_ingest.signatures.schema import RAREST
from ibidem_ingest.text.word_hash import rows

LookupField = Literal["content", "fingerprint", "profile", "bands", "rare", "characters"] | LongField
# Further kinds of keys of long texts, all from their long signatures.
LONG_FIELDS: tuple[LongField, ...] = get_args(LongField)


_NONE = bytes(8).hex()
_CONTENT_AT = 26  # where the content hash is in a packed value, and the fingerprint and the profile behind it

_PAIRS = np.arange(noise.FIRST_SLOTS.size, dtype=np.uint64) << np.uint64(16)


def lookup_keys(values: Sequence[bytes | None]) -> list[dict[LookupField, list[str]]]:
    """Return the look-up values of each document, without empty fields; none of a damaged or missing packed value."""
    columns = PackedColumns.decode(values)
    entries: list[dict[LookupField, list[str]]] = [
        _hash_keys(value, name) if value and is_signed else {}
        for value, name, is_signed in zip(values, columns.ids, columns.is_signed.tolist(), strict=True)
    ]
    with_slots, full = np.flatnonzero(columns.slot_count), np.flatnonzero(columns.flags & FULL)
    noisy = np.flatnonzero((columns.noise[:, noise.SLOTS] > 0) & ((columns.flags & NO_WORDS) == 0))
    rarest = columns.terms[full, :RAREST].astype(np.uint64) | columns.idf[full, None] << np.uint64(24)
    keys: dict[LookupField, tuple[NDArray[np.int64], Iterable[list[str]]]] = {
        "bands": (with_slots, rows("b", band_values(columns.slots[with_slots]))),
        "rare": (full, rows("r", rarest)),
        "characters": (noisy, _run_keys(columns.idf[noisy], columns.noise[noisy])),
    }
    for lookup_field, (places, own) in keys.items():
        for place, each in zip(places.tolist(), own, strict=True):
            entries[place][lookup_field] = each
    return entries


def _hash_keys(value: bytes, name: str) -> dict[LookupField, list[str]]:
    """Return the look-up values that are whole hashes: content, fingerprint and profile, one behind the other."""
    scheme, flags, hashes = value[0], value[1], value[_CONTENT_AT : _CONTENT_AT + 32].hex()
    if flags & NO_WORDS:
        return {"content": [f"ch{scheme}:none:{name}"]}
    keys: dict[LookupField, list[str]] = {"content": [f"ch{scheme}:{hashes[:32]}"]}
    if hashes[32:48] != _NONE and not flags & WEAK:
        keys["fingerprint"] = [f"fp1:{hashes[32:48]}"]
    if hashes[48:] != _NONE:
        keys["profile"] = [f"tp1:{hashes[48:]}"]
    return keys


def _run_keys(idf: NDArray[np.uint64], blocks: NDArray[np.uint8]) -> Iterator[list[str]]:
    """Yield the keys of the character runs of each text, marked where it looks misread on its own."""
    slots = blocks.astype(np.uint64)
    run = slots[:, noise.SLOTS]
    table = np.where(run == noise.DENSE_RUN, np.uint64(0), idf)
    tables = table << np.uint64(32) | run << np.uint64(24)
    pairs = slots[:, noise.FIRST_SLOTS] | slots[:, noise.SECOND_SLOTS] << np.uint64(8) | _PAIRS
    for keys, block in zip(rows("c", pairs | tables[:, None]), blocks, strict=True):
        is_misread = noise.read(block.tobytes()).is_noisy(noise.MISREAD, noise.MISREAD_DENSE)
        yield shared_runs(keys, "m") if is_misread else keys


def content_key(packed: Packed) -> str:
    """Return the look-up value of identical documents."""
    scheme = f"ch{packed.scheme}:"
    return f"{scheme}none:{packed.id}" if packed.flags & NO_WORDS else f"{scheme}{packed.content.hex()}"


def shared_runs(keys: Sequence[str], marks: str) -> list[str]:
    """Return the keys under which texts are found that share runs with a text, by whether they look misread.

    >>> shared_runs(["cvnjfssn"], "cm")
    ['cvnjfssn', 'mvnjfssn']
    """
    return [mark + key[1:] for key in keys for mark in marks]


def long_keys(signatures: LongSignatures | None) -> dict[LookupField, list[str]]:
    """Return the look-up values of a long text; empty for a short text."""
    return dict(signatures.lookup_keys().items()) if signatures else {}


def stored_keys(signed: Sequence[tuple[bytes, bytes]]) -> list[dict[LookupField, list[str]]]:
    """Return the values under which documents are stored, by their packed values and long signatures."""
    keys = lookup_keys([packed for packed, _ in signed])
    return [own and own | long_keys(LongSignatures.decode(long)) for own, (_, long) in zip(keys, signed, strict=True)]
