"""What a document's duplicates are looked up by, as far as a policy counts what it leads to."""

from math import ceil, floor

from ibidem_engines.stored_groups import Wanted
from ibidem_ingest.pairs.decision import Policy, Terms, least_shared
from ibidem_ingest.signatures.lookup_keys import content_key, lookup_keys
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
    values = {clue: values for clue, values in keys.items() if counted.get(clue)}
    if policy.terms is None or "rare" not in keys:
        return Wanted(values)
    ratio = policy.terms.lengths or 1e-9
    longest = min(floor(packed.length / ratio), 2**31 - 1)
    return Wanted(values, keys["rare"], least_rare(policy.terms), ceil(packed.length * ratio), longest)
