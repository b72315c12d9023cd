"""The values under which a document is stored for look-up and looked up itself, all from its packed value.

Content `ch1:` and 32 hex digits; fingerprints and profile: scheme and the first 16 hex digits (engines that store the
whole hash match by prefix); 33 min-hash bands: number of the band in 2 hex digits, its three slots in 12; the 25 rarest
terms of a full feature set: the first 4 hex digits of the idf table's name, the term's code in 6.
"""

import struct
from typing import Literal, get_args

from ibidem_ingest.signatures.longsignatures import LongClue, LongSignatures
from ibidem_ingest.signatures.minhash import BAND_ROWS
from ibidem_ingest.signatures.packed import FULL, NO_WORDS, WEAK, Packed
from ibidem_ingest.signatures.signature import BANDS, RAREST

Clue = Literal[
    "content", "fingerprint", "fingerprint_binned", "profile", "bands", "rare", "profiles", "page_bands", "sampled"
]
LONG_CLUES: tuple[LongClue, ...] = get_args(LongClue)
"""What long texts are looked up by besides: all from their long signatures."""


def clues(packed: Packed) -> dict[Clue, list[str]]:
    """Return a document's look-up values; a field without one is left out.

    Args:
        packed: Its packed value. A weak fingerprint is never evidence, so it is no clue; a text without words has only
            its content hash, which no other document shares.

    Returns:
        For each field the values, each once.
    """
    if packed.flags & NO_WORDS:
        return {"content": [f"ch1:none:{packed.id}"]}
    found: dict[Clue, list[str]] = {"content": [f"ch1:{packed.content.hex()}"]}
    if any(packed.fingerprint) and not packed.flags & WEAK:
        found["fingerprint"] = [f"fp1:{packed.fingerprint.hex()}"]
        found["fingerprint_binned"] = [f"fb1:{packed.fingerprint_binned.hex()}"]
    if any(packed.profile):
        found["profile"] = [f"tp1:{packed.profile.hex()}"]
    if packed.slots:
        found["bands"] = bands(packed.slots)
    if packed.flags & FULL:
        found["rare"] = [f"{packed.idf[:2].hex()}{code:06x}" for code in packed.terms[:RAREST]]
    return found


def bands(slots: tuple[int, ...]) -> list[str]:
    """Return the keys of the 33 bands of three slots; the last of 100 slots is in none.

    >>> bands(tuple(range(100)))[:2]
    ['00000001000200', '01030004000500']
    """
    digits = struct.pack(f"<{len(slots)}H", *slots).hex()
    width = 4 * BAND_ROWS
    return [f"{band:02x}{digits[band * width : (band + 1) * width]}" for band in range(BANDS)]


def long_clues(long: LongSignatures | None) -> dict[Clue, list[str]]:
    """Return the look-up values of a long text; none of a short one."""
    if long is None:
        return {}
    found = long.clues()
    return {clue: found[clue] for clue in LONG_CLUES if clue in found}
