"""What a document's duplicates are looked up by, as far as a policy counts what it leads to."""

from collections.abc import Sequence
from math import ceil, floor

from ibidem_engines.stored_groups import Several, Wanted
from ibidem_ingest.pairs.decision import Policy, Terms, least_shared
from ibidem_ingest.signatures.lookup_keys import LookupField, content_key, lookup_keys
from ibidem_ingest.signatures.packed import Packed
from ibidem_ingest.signatures.schema import FULL_SET, RAREST


def least_rare(rule: Terms) -> int:
    """Tell how many of the 25 rarest terms two full sets share at least that share enough of their 60.

    >>> least_rare(Terms())
    5
    """
    return max(1, RAREST - (FULL_SET - least_shared(rule.share, FULL_SET)))


def content_of(packed: Packed) -> Wanted:
    """Return the value under which identical documents are found."""
    return Wanted({"content": [content_key(packed)]})


def values_of(packed: Packed, policy: Policy) -> Wanted:
    """Return the values under which near ones are found.

    Args:
        packed: The document's signatures.
        policy: The decision; a class that is no evidence under it is left out.
    """
    if policy.level == "identical":
        return Wanted({})
    counted = {
        "fingerprint": policy.fingerprint is not None,
        "profile": policy.profile is not None,
        "bands": policy.slots is not None,
    }
    keys = lookup_keys(packed)
    several: dict[LookupField, Several] = {}
    if policy.terms is not None and "rare" in keys:
        several["rare"] = _several(keys["rare"], least_rare(policy.terms), packed.length, policy.terms.lengths)
    if policy.characters is not None and "characters" in keys:
        several["characters"] = _several(
            keys["characters"], policy.characters.pairs, packed.length, policy.characters.lengths
        )
    return Wanted({clue: values for clue, values in keys.items() if counted.get(clue)}, several)


def _several(values: Sequence[str], least: int, length: int, ratio: float) -> Several:
    """Ask for so many values, at lengths within a ratio of the document's own."""
    ratio = ratio or 1e-9
    return Several(values, least, ceil(length * ratio), min(floor(length / ratio), 2**31 - 1))
