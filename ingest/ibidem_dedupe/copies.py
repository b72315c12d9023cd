"""Copies: rows that no rule can distinguish from an earlier row, so that both get the same decision.

A story that is there five times is compared with others once. All columns that a rule reads have to be equal, not the
content alone: equal words under another title, or with other dates, are no copies here.
"""

import numpy as np

from ibidem_dedupe.column_rules import Bools, Rows
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed import LONG
from ibidem_ingest.signatures.packed_columns import PackedColumns

# Columns that a rule reads, but dates.
READ_BY_RULES = (
    *("scheme", "flags", "length", "shingles", "idf", "content", "fingerprint", "profile", "guard", "title", "noise"),
    *("numbers", "number_sketch", "term_count", "terms", "slot_count", "slots"),
)

DATES = ("date_from", "date_to")  # columns that matter where a policy has a date window

WEIGHED = (*DATES, "source")  # columns that matter to a learned rule, beside those that every rule reads


def first_copies(columns: PackedColumns, policy: Policy, leads: int, constraints: PairConstraints) -> Rows:
    """Return for each row the first row that it is a copy of; its own number if there is none."""
    rows = np.arange(len(columns))
    places = np.flatnonzero(_may_be_copies(columns, policy, constraints))
    content = columns.content[places, 0] ^ columns.content[places, 1]
    _, first, number = np.unique(content, return_index=True, return_inverse=True)
    original = places[first[number]]
    copies = np.flatnonzero((original < places) & (places >= leads))
    further = WEIGHED if policy.learned is not None else DATES if policy.window_days is not None else ()
    for name in (*READ_BY_RULES, *further):
        if not len(copies):
            break
        column = getattr(columns, name)
        equal = column[places[copies]] == column[original[copies]]
        copies = copies[equal.reshape(len(copies), -1).all(axis=1)]
    rows[places[copies]] = original[copies]
    return rows


def _may_be_copies(columns: PackedColumns, policy: Policy, constraints: PairConstraints) -> Bools:
    """Return which rows have words and may share a decision."""
    may: Bools = columns.length > 0
    if policy.level == "partial":
        may &= (columns.flags & LONG) == 0
    named = [row for pair in constraints.same | constraints.different for row in pair]
    may[named] = False
    return may
