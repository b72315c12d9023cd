"""Keys under which the leads are looked up that a document may join: every lead that a rule accepts has one of them."""

from collections.abc import Mapping, Sequence
from math import ceil, floor

from ibidem_dedupe.policy import Policy, Terms, min_shared_terms
from ibidem_engines.stored_groups import LeadKeys, Several
from ibidem_ingest.signatures.lookup_keys import LookupField, content_key, lookup_keys
from ibidem_ingest.signatures.packed import Packed
from ibidem_ingest.signatures.schema import FULL_SET, RAREST


def min_rare_terms(rule: Terms) -> int:
    """Return how many of their 25 rarest terms two full sets share at least, when they share enough of their 60 terms.

    >>> min_rare_terms(Terms())
    5
    """
    return max(1, RAREST - (FULL_SET - min_shared_terms(rule.share, FULL_SET)))


def content_keys(packed: Packed) -> LeadKeys:
    """Return the look-up key of identical documents."""
    return LeadKeys({"content": [content_key(packed)]})


def near_keys(packed: Packed, policy: Policy, keys: Mapping[LookupField, Sequence[str]] | None = None) -> LeadKeys:
    """Return the look-up keys of near duplicates.

    Args:
        packed: The document's signatures.
        policy: The policy; keys of signatures that it does not count as evidence are left out.
        keys: Its look-up keys, where `lookup_keys_batch` has made them for several documents at once.
    """
    if policy.level == "identical":
        return LeadKeys({})
    evidence = {
        "fingerprint": policy.fingerprint is not None,
        "profile": policy.profile is not None,
        "bands": policy.slots is not None,
    }
    keys = lookup_keys(packed) if keys is None else keys
    several: dict[LookupField, Several] = {}
    if policy.terms is not None and "rare" in keys:
        several["rare"] = _require(keys["rare"], min_rare_terms(policy.terms), packed.length, policy.terms.lengths)
    if policy.characters is not None and "characters" in keys:
        several["characters"] = _require(
            keys["characters"], policy.characters.pairs, packed.length, policy.characters.lengths
        )
    return LeadKeys({clue: values for clue, values in keys.items() if evidence.get(clue)}, several)


def _require(values: Sequence[str], min_shared: int, length: int, ratio: float) -> Several:
    """Require so many common values, and a length within a ratio of the document's."""
    ratio = ratio or 1e-9
    return Several(values, min_shared, ceil(length * ratio), min(floor(length / ratio), 2**31 - 1))
