"""Keys for looking up possible leads of a document: every lead that a rule accepts has one of them."""

from collections.abc import Mapping, Sequence
from math import ceil, floor

from ibidem_dedupe import evidence
from ibidem_dedupe.evidence import SharedCount
from ibidem_dedupe.policy import Policy
from ibidem_engines.stored_groups import LeadKeys, Several
from ibidem_ingest.signatures.lookup_keys import LookupField, content_key, lookup_keys
from ibidem_ingest.signatures.packed import Packed


def content_keys(packed: Packed) -> LeadKeys:
    """Return the look-up key of identical documents."""
    return LeadKeys({"content": [content_key(packed)]})


def near_keys(packed: Packed, policy: Policy, keys: Mapping[LookupField, Sequence[str]] | None = None) -> LeadKeys:
    """Return the look-up keys of near duplicates."""
    policy = policy.candidates
    kinds = [(kind.lookup, kind) for kind in evidence.TABLE.counted(policy) if kind.lookup and kind.level == "near"]
    if not kinds:
        return LeadKeys({})
    keys = lookup_keys(packed) if keys is None else keys
    present = [(clue, kind) for clue, kind in kinds if clue in keys]
    several = {
        clue: _require(keys[clue], kind.several(policy), packed.length) for clue, kind in present if kind.several
    }
    return LeadKeys({clue: keys[clue] for clue, _ in present if clue not in several}, several)


def _require(values: Sequence[str], count: SharedCount, length: int) -> Several:
    """Require a number of common values, and a length within a ratio of the document's length."""
    ratio = count.lengths or 1e-9
    return Several(values, count.min_shared, ceil(length * ratio), min(floor(length / ratio), 2**31 - 1))
