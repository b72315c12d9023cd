"""Leader clustering: in rank order, a hit joins the first leader that it duplicates, or becomes a leader.

Only leads are ever compared with what follows. Some rows are settled among themselves; their leads take duplicates
from all that follows, and what they took is never looked at again; so ten thousand copies of one text cost ten thousand
comparisons and not fifty million. The result is that of the plain loop over all pairs (a test says so), and
prefix-stable: hits that follow change nothing above them.

Leads that are no duplicates of each other though they share a value, as documents that were built for that do, are all
compared: that grows with the square of their number. So only the first thousand leads with a value are compared
under it, whatever the blocks; rows that this affects are counted.

Rows that the rules cannot tell from an earlier row need no keys of their own: they join what that row joins.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import KeyIndex, Numbers
from ibidem_dedupe.column_rules import Bools, Codes, Rows
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import (
    BUDGET,
    UNDECIDED,
    CandidateRanges,
    DuplicatePairs,
    LongTextMatcher,
    PairClassifier,
    SharedValues,
    count_earlier,
    expand_pairs,
    first_entries,
)
from ibidem_dedupe.policy import Policy
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import LONG, PackedColumns

DATES = ("date_from", "date_to")
READ_BY_RULES = (
    *("scheme", "flags", "length", "shingles", "idf", "content", "fingerprint", "profile", "guard", "title", "noise"),
    *("numbers", "number_sketch", "term_count", "terms", "slot_count", "slots"),
)


def columns_read(policy: Policy) -> tuple[str, ...]:
    """Return the columns that the rules of a policy read: they cannot tell rows apart that are equal in these."""
    further = (*DATES, "source") if policy.learned is not None else DATES if policy.window_days is not None else ()
    return *READ_BY_RULES, *further


def first_copies(columns: PackedColumns, policy: Policy, leads: int, constraints: PairConstraints) -> Rows:
    """Return for each row the first row that it is a copy of; its own number if there is none."""
    rows = np.arange(len(columns))
    may: Bools = columns.length > 0  # has words, and may share a decision
    if policy.level == "partial":
        may &= (columns.flags & LONG) == 0
    may[[row for pair in constraints.same | constraints.different for row in pair]] = False
    places = np.flatnonzero(may)
    content = columns.content[places, 0] ^ columns.content[places, 1]
    _, first, number = np.unique(content, return_index=True, return_inverse=True)
    original = places[first[number]]
    copies = np.flatnonzero((original < places) & (places >= leads))
    for name in columns_read(policy):
        if not len(copies):
            break
        column = getattr(columns, name)
        equal = column[places[copies]] == column[original[copies]]
        copies = copies[equal.reshape(len(copies), -1).all(axis=1)]
    rows[places[copies]] = original[copies]
    return rows


BLOCK = 10_000  # rows that are settled together; only a whole index holds more

MAX_LEADS = 1_000  # first leads that hold a value; later rows are compared with no others under it


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    lead: Rows  # (n,) row of the group's first occurrence; its own for a lead
    evidence: Codes  # (n,) code of what joined it to the first occurrence, by `evidence.TABLE`; 0 for a lead
    crowded: Bools  # (n,) whether it shares a value with so many leads that it was not compared with all of them

    @classmethod
    def alone(cls, size: int) -> "Grouping":
        """Return a grouping in which each row is a group of its own."""
        return cls(np.arange(size), np.zeros(size, np.uint8), np.zeros(size, bool))

    @property
    def leads(self) -> Rows:
        """The first occurrences, in rank order."""
        return np.flatnonzero(self.lead == np.arange(len(self.lead)))

    def members(self, leads: Iterable[int]) -> dict[int, list[int]]:
        """Return the rows of some groups in rank order, each group given by its first row."""
        lead_rows = np.fromiter(leads, np.int64)
        rows = np.flatnonzero(np.isin(self.lead, lead_rows))
        members: dict[int, list[int]] = {int(lead): [] for lead in lead_rows}
        for row in rows.tolist():
            members[int(self.lead[row])].append(row)
        return members


def group(  # noqa: PLR0913 - what is grouped, by which rules, and with what before it
    columns: PackedColumns,
    policy: Policy,
    constraints: PairConstraints | None = None,
    matcher: LongTextMatcher | None = None,
    long_index: KeyIndex | None = None,
    *,
    leads: int = 0,
    report: Callable[[int], None] = lambda _: None,
) -> Grouping:
    """Group hits."""
    constraints = constraints or PairConstraints()
    original = first_copies(columns, policy, leads, constraints)
    is_copy = original != np.arange(len(columns))
    classifier = PairClassifier(columns, policy, constraints, matcher, long_index)
    grouping = Grouping.alone(classifier.size)
    if loops.IN_USE is None:
        work = LeaderClustering(classifier, np.empty(0, np.int64), grouping)
        work.settle_one_by_one(np.flatnonzero(~is_copy), leads)
    else:
        entries = classifier.shared_keys(is_copy)
        work = LeaderClustering(classifier, np.zeros(entries.keys, np.int64), grouping)
        if classifier.size <= BLOCK and not leads:
            work.settle(entries)
        else:
            work.settle_in_blocks(entries, leads, report)
    # A copy joins the lead of the row that it is a copy of, or else that row.
    copies, first = np.flatnonzero(is_copy), original[is_copy]
    is_lead = grouping.lead[first] == first
    grouping.lead[copies] = grouping.lead[first]
    grouping.evidence[copies] = np.where(is_lead, evidence.TABLE.code("content"), grouping.evidence[first])
    return replace(grouping, crowded=grouping.crowded & (grouping.lead == np.arange(classifier.size)))


@dataclass(eq=False, slots=True)
class LeaderClustering:
    """A grouping in progress, at first with every row as a lead that may still join another."""

    classifier: PairClassifier  # decides on pairs
    lead_counts: Rows  # (k,) how many leads hold each key so far
    grouping: Grouping

    def settle_one_by_one(self, rows: Rows, settled_count: int) -> None:
        """Settle rows by the plain definition: each is compared with the leads that it shares a value with."""
        values = SharedValues(self.classifier.columns, self.classifier.policy, self.classifier.constraints)
        for row in rows.tolist():
            if row >= settled_count:
                pairs = row * self.classifier.size + np.array(values.earlier(row), np.int64)
                self.join_within(self.classifier.classify(iter([pairs])))
            if self.grouping.lead[row] == row:
                values.add(row)

    def _classify(self, entries: KeyIndex, ranges: CandidateRanges) -> DuplicatePairs:
        return self.classifier.classify(expand_pairs(entries, ranges, self.classifier.size))

    def settle_in_blocks(self, entries: KeyIndex, settled_count: int, report: Callable[[int], None]) -> None:
        """Settle very many rows block by block: each block is first compared with the leads of all earlier blocks."""
        leads = LeaderIndex.build(entries, self.lead_counts)
        leads.add(entries.keep(entries.row < settled_count))
        for number, block in enumerate(blocks(entries, settled_count, self.classifier.size)):
            report(settled_count + number * BLOCK)
            self.join_first(self._classify(block, leads.postings(block)))
            undecided = block.keep(self._are_leads(block))
            # Keys are renumbered, so that arrays of counts have the size of the block and not of the index.
            keys, key = np.unique(undecided.key, return_inverse=True)
            weak = int(np.searchsorted(keys, undecided.first_weak))
            self.lead_counts = leads.lead_counts[keys]
            self.settle(replace(undecided, key=key.astype(np.int32), first_weak=weak))
            leads.add(undecided.keep(self._are_leads(undecided)))

    def _are_leads(self, entries: KeyIndex) -> Bools:
        """Return which entries belong to leads: only these rows are looked up, and a block has few leads."""
        leads: Bools = self.grouping.lead[entries.row] == entries.row
        return leads

    def settle(self, entries: KeyIndex) -> None:
        """Settle rows in portions: first among themselves, then against the later rows."""
        entries = drop_unshared(self.drop_crowded(entries))
        while len(entries.row):
            last = next_block_end(entries, self.lead_counts, self.classifier.size)
            block_entries = entries.keep(entries.row < last)
            self.join_within(self._classify(block_entries, CandidateRanges.build(block_entries)))
            if last >= self.classifier.size:
                return
            undecided = entries.keep(self._are_leads(entries))
            ranges = CandidateRanges.build(undecided, leads_before(undecided, last))
            self.join_first(self._classify(undecided, ranges))
            leads = entries.keep(self._are_leads(entries) & (entries.row < last))
            self.lead_counts += np.bincount(leads.key, minlength=len(self.lead_counts))
            later = undecided.keep(self._are_leads(undecided) & (undecided.row >= last))
            entries = drop_unshared(self.drop_crowded(later))

    def drop_crowded(self, entries: KeyIndex) -> KeyIndex:
        """Drop the keys that too many leads share."""
        is_full = self.lead_counts[entries.key] >= MAX_LEADS
        self.grouping.crowded[entries.row[is_full]] = True
        return entries.keep(~is_full)

    def join_within(self, pairs: DuplicatePairs) -> None:
        """Settle a block in order: each row joins the first lead that it duplicates."""
        lead, evidence = self.grouping.lead, self.grouping.evidence
        for row, earlier, code in zip(pairs.row.tolist(), pairs.earlier.tolist(), pairs.code.tolist(), strict=True):
            if (
                lead[row] == row
                and lead[earlier] == earlier
                and (verdict := self.classifier.resolve(row, earlier, code))
            ):
                lead[row], evidence[row] = earlier, verdict

    def join_first(self, pairs: DuplicatePairs) -> None:
        """Let rows join the first of the leads that they duplicate."""
        if (pairs.code == UNDECIDED).any():
            self.join_within(pairs)
            return
        row, positions = np.unique(pairs.row, return_index=True)
        self.grouping.lead[row] = pairs.earlier[positions]
        self.grouping.evidence[row] = pairs.code[positions]


@dataclass(eq=False, slots=True)
class LeaderIndex:
    """Inverted index from key to leads."""

    start: Rows  # (k + 1,) where the holders of a key begin
    held: Rows  # (k,) how many leads hold it that are not among the rows
    lead_counts: Rows  # (k,) how many leads hold it so far
    rows: Numbers  # their rows

    @classmethod
    def build(cls, entries: KeyIndex, held: Rows) -> "LeaderIndex":
        """Allocate space for the rows of each key, before any of them is a lead."""
        start = np.searchsorted(entries.key, np.arange(entries.keys))
        return cls(start - held, held, held.copy(), np.zeros(len(entries.row), np.int32))

    def postings(self, entries: KeyIndex) -> CandidateRanges:
        """Pair entries with the first leads that have their keys."""
        held = self.held[entries.key]
        times = np.minimum(self.lead_counts[entries.key], MAX_LEADS) - np.minimum(held, MAX_LEADS)
        return CandidateRanges(self.rows, self.start[entries.key] + held, times)

    def add(self, entries: KeyIndex) -> None:
        """Add leads, after all earlier ones."""
        self.rows[self.start[entries.key] + self.lead_counts[entries.key] + count_earlier(entries)] = entries.row
        keys, counts = np.unique(entries.key, return_counts=True)  # of these keys only
        self.lead_counts[keys] += counts


def blocks(entries: KeyIndex, start: int, size: int) -> Iterator[KeyIndex]:
    """Split entries into consecutive blocks of rows, each in key order."""
    number = (entries.row - start) // BLOCK
    order = np.argsort(number, kind="stable")[np.count_nonzero(number < 0) :]
    for block_rows in np.split(order, np.searchsorted(number[order], np.arange(1, -(-(size - start) // BLOCK)))):
        yield replace(entries, key=entries.key[block_rows], row=entries.row[block_rows])


def next_block_end(entries: KeyIndex, lead_counts: Rows, size: int) -> int:
    """Return the row at which the next block ends, so that its pairs fit the budget; a block has at least one row.

    Whatever of it leads, none of it is beyond the first `MAX_LEADS` leads under a key.
    """
    earlier = count_earlier(entries)
    pairs = np.cumsum(np.bincount(entries.row, weights=earlier, minlength=size))
    beyond = entries.row[lead_counts[entries.key] + earlier >= MAX_LEADS].min(initial=size)
    return int(max(min(np.searchsorted(pairs, BUDGET, side="right"), beyond), entries.row.min() + 1))


def leads_before(entries: KeyIndex, end: int) -> Rows:
    """Return for each entry how many rows before `end` have its key; 0 for entries of rows before `end`."""
    is_before = entries.row < end
    number = np.cumsum(is_before)
    first = first_entries(entries)
    return np.where(is_before, 0, number - number[first] + is_before[first])


def drop_unshared(entries: KeyIndex) -> KeyIndex:
    """Drop the keys that only one remaining row has."""
    starts = np.ones(len(entries.key) + 1, bool)
    starts[1:-1] = np.diff(entries.key)
    return entries.keep(~(starts[1:] & starts[:-1]))
