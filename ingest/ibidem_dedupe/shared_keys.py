"""Keys that rows share under a policy, of every kind of evidence that counts."""

from collections.abc import Iterator
from dataclasses import replace

from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import TERMS, KeyIndex, join_indexes
from ibidem_dedupe.column_rules import Bools
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns


def build_key_index(columns: PackedColumns, policy: Policy, is_copy: Bools | None = None) -> KeyIndex:
    """Return the keys that rows share under a policy."""
    has_words: Bools = columns.length > 0
    policy = policy.candidates
    if is_copy is not None:
        has_words &= ~is_copy
    strong_keys = join_indexes(_indexes(columns, policy, has_words, is_weak=False))
    weak_keys = list(_indexes(columns, policy, has_words, is_weak=True))
    if not weak_keys:
        return strong_keys
    return replace(join_indexes([strong_keys, *weak_keys]), first_weak=strong_keys.keys, min_shared=TERMS)


def _indexes(columns: PackedColumns, policy: Policy, has_words: Bools, *, is_weak: bool) -> Iterator[KeyIndex]:
    for kind in evidence.TABLE.counted(policy):
        if kind.keys is not None and kind.has_weak_keys == is_weak:
            yield from kind.keys(columns, policy, has_words)
