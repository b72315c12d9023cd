"""Leader grouping: down the ranking, a hit joins the first lead that it duplicates, or else becomes a lead.

Only leads are ever compared with what follows. The ranking is taken in blocks: a block is settled within itself, its
leads take their duplicates from all that follows, and what they took is never looked at again; so ten thousand copies
of one text cost ten thousand comparisons and not fifty million. The result is that of the plain loop over all pairs (a
test says so), and prefix-stable: hits that follow change nothing above them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ibidem.dedupe.keys import Holders
from ibidem.dedupe.pairs import BUDGET, Found, Judge, Said, earlier_holders, first_holders
from ibidem.dedupe.verification import Codes, Rows
from ibidem_ingest.decision import Policy
from ibidem_ingest.signatures.packed_columns import PackedColumns


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    """Which group each row belongs to.

    Args:
        lead: (n,) row of the group's first occurrence; its own for a lead.
        evidence: (n,) code of what joined it to the first occurrence, an index into `SIGNATURES`; 0 for a lead.
    """

    lead: Rows
    evidence: Codes

    @property
    def leads(self) -> Rows:
        """The first occurrences, in rank order."""
        return np.flatnonzero(self.lead == np.arange(len(self.lead)))

    def members(self, leads: Iterable[int]) -> dict[int, list[int]]:
        """Return the rows of some groups in rank order, by their first occurrence, which is the first of them."""
        wanted = np.fromiter(leads, np.int64)
        rows = np.flatnonzero(np.isin(self.lead, wanted))
        found: dict[int, list[int]] = {int(lead): [] for lead in wanted}
        for row, lead in zip(rows.tolist(), self.lead[rows].tolist(), strict=True):
            found[lead].append(row)
        return found


def group(columns: PackedColumns, policy: Policy, said: Said | None = None) -> Grouping:
    """Group hits.

    Args:
        columns: Packed values in rank order; a row that is not signed, or has no words, stays alone.
        policy: The decision for a pair.
        said: What readers said of pairs.
    """
    judge = Judge(columns, policy, said or Said())
    work = Work(judge, judge.shared_keys())
    while len(work.entries.row):
        work.settle()
    return Grouping(work.lead, work.evidence)


@dataclass(eq=False, slots=True)
class Work:
    """A grouping under way.

    Args:
        judge: Who decides on pairs.
        entries: Who holds which key, of the rows that are not settled.
    """

    judge: Judge
    entries: Holders
    lead: Rows = field(init=False)
    evidence: Codes = field(init=False)

    def __post_init__(self) -> None:
        """Start with every row as a lead that may still join another."""
        self.lead = np.arange(self.judge.size)
        self.evidence = np.zeros(self.judge.size, np.uint8)

    def settle(self) -> None:
        """Settle the next block of rows, and let its leads take their duplicates from the rows after it."""
        rows = np.arange(self.judge.size)
        last = block_end(self.entries, self.judge.size)
        block = self.entries.among(rows < last)
        self.join_within(self.judge.verified(block, earlier_holders(block)))
        if last < len(rows):
            self.take(last)
        self.entries = again_shared(self.entries.among((rows >= last) & (self.lead == rows)))

    def join_within(self, found: Found) -> None:
        """Go down a block: a row joins the first lead that it duplicates."""
        lead, evidence = self.lead, self.evidence
        for row, earlier, code in zip(found.row.tolist(), found.earlier.tolist(), found.code.tolist(), strict=True):
            if lead[row] == row and lead[earlier] == earlier:
                lead[row], evidence[row] = earlier, code

    def take(self, last: int) -> None:
        """Let the leads of a block take their duplicates from the rows that follow."""
        undecided = self.entries.among(self.lead == np.arange(self.judge.size))
        number = np.cumsum(undecided.row < last)
        first = first_holders(undecided)
        leads_before = np.where(undecided.row < last, 0, number - number[first] + (undecided.row[first] < last))
        found = self.judge.verified(undecided, leads_before)
        row, at = np.unique(found.row, return_index=True)
        self.lead[row] = found.earlier[at]
        self.evidence[row] = found.code[at]


def block_end(entries: Holders, size: int) -> int:
    """Return where the next block ends: the most rows whose pairs within the block fit the budget, at least one."""
    pairs = np.cumsum(np.bincount(entries.row, weights=earlier_holders(entries), minlength=size))
    fits = int(np.searchsorted(pairs, BUDGET, side="right"))
    return max(fits, int(entries.row.min()) + 1)


def again_shared(entries: Holders) -> Holders:
    """Drop the keys that only one row still holds."""
    new = np.ones(len(entries.key) + 1, bool)
    new[1:-1] = entries.key[1:] != entries.key[:-1]
    kept = np.flatnonzero(~(new[1:] & new[:-1]))
    return Holders(entries.key[kept], entries.row[kept])
