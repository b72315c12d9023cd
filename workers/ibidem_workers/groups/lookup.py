"""What a document's duplicates are looked up by, as far as a policy counts what it leads to."""

from math import ceil, floor

from ibidem_engines.stored_groups import Wanted
from ibidem_ingest.pairs.decision import Policy
from ibidem_ingest.signatures.lookup_keys import content_key, lookup_keys
from ibidem_ingest.signatures.packed import Packed

LEAST_RARE = 5
"""Of the 25 rarest terms of a full set so many are shared when 40 of 60 are (25 - 20)."""


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
    found = lookup_keys(packed)
    values = {clue: values for clue, values in found.items() if counted.get(clue)}
    if policy.terms is None or "rare" not in found:
        return Wanted(values)
    ratio = policy.terms.lengths or 1e-9
    longest = min(floor(packed.length / ratio), 2**31 - 1)
    return Wanted(values, found["rare"], LEAST_RARE, ceil(packed.length * ratio), longest)
