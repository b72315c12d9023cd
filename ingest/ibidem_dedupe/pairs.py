"""Classifier of candidate pairs: decides which are duplicates, in slices that bound the memory.

Signatures of long texts come from an LRU cache that reads them in batches when a pair needs them.

Whether two documents are duplicates is decided from their packed signatures alone, by the tables of `levels.md`, the
strongest evidence first:

- `identical`: equal content hash.
- `near`: min-hash: enough equal slots and a shared band; or full feature sets that share enough terms; or equal strict
  fingerprints; or equal profiles; or shared characters where the differing words look misread; each with its guards,
  all within the date window. Where a policy has a learned rule: its sum, and nothing else.
- `partial`: where both are long, a relation of their pages, chunks or unique words (`relations`); a text of 150 tokens
  with the profile of a long one's page; otherwise containment: one text holds most five-word runs of the other, as
  min-hash estimates.

Feature sets count at lengths within 5 % and the profile not at all, because trials on four real collections
(`benchmarks/quality.py`: on one half the figures were chosen, on the other they held) find no duplicate by the profile
that is not found without it, and mostly other texts by feature sets where the lengths differ more. Nor does a
fingerprint count for fewer than 50 tokens, where its six terms are half of the text.

Texts of fewer than 20 tokens whose titles differ are duplicates at no level (`signatures.content`).

The decision is symmetric, and monotone: `identical` pairs are also `near` and `partial`. It is not transitive.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from xxhash import xxh3_64_intdigest

from ibidem_dedupe import column_rules, evidence, pair_evidence
from ibidem_dedupe.candidates import MAX_ROWS, TERMS, Hashes, KeyIndex, Numbers, drop_singletons, join_indexes
from ibidem_dedupe.column_rules import Bools, Codes, Pairs, Rows
from ibidem_dedupe.overrides import DocumentRef, Pair, PairConstraints
from ibidem_dedupe.pair_evidence import Evidence, Guards, LongPair
from ibidem_dedupe.policy import LEVELS, LONG_TOKENS, Policy
from ibidem_dedupe.relations import join_sorted, relate
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.long_text import LongField, LongSignatures, as_page
from ibidem_ingest.signatures.lookup_keys import LONG_FIELDS, LookupField
from ibidem_ingest.signatures.packed import LONG, TITLED, Packed, PackedColumns


def decide(a: Packed, b: Packed, policy: Policy, long_pair: LongPair | None = None) -> Evidence | None:
    """Decide whether two documents are duplicates under a policy."""
    if not a.length or not b.length or (any(a.guard) and any(b.guard) and a.guard != b.guard):
        return None
    guards = Guards.compare(a, b)
    titles_differ, days, most = pair_evidence.titles_differ(a, b), guards.days_apart, policy.window_days
    is_within = days is None or most is None or days <= most
    levels = LEVELS[: LEVELS.index(policy.level) + 1] if is_within else LEVELS[:1]
    kinds = (kind for level in levels for kind in evidence.TABLE.at(level) if kind.weighs_titles or not titles_differ)
    decisions = (kind.decide(a, b, policy, guards) for kind in kinds if kind.decide)
    found = next(filter(None, decisions), None)
    if titles_differ or not is_within or long_pair is None or policy.level != "partial":
        return found
    relation = pair_evidence.relation_evidence(a, b, long_pair, policy, guards)
    return replace(found, why={**relation.why, **found.why}) if found and relation else found or relation


UNDECIDED = 255  # the code of a pair of long texts that only their long signatures can decide on

SLICE = 8_192  # pairs decided on at once: their columns stay in the processor's cache


def verify(columns: PackedColumns, a: Rows, b: Rows, policy: Policy) -> Codes:
    """Decide on many pairs."""
    if loops.IN_USE is None:
        return verify_one_by_one(columns, a, b, policy)
    codes = np.zeros(len(a), np.uint8)
    open_pairs = np.flatnonzero(screen(columns, a, b, policy.candidates))
    for start in range(0, len(open_pairs), SLICE):
        part = open_pairs[start : start + SLICE]
        codes[part] = strongest_codes(Pairs(columns, a[part], b[part]), policy)
    return codes


def verify_one_by_one(columns: PackedColumns, a: Rows, b: Rows, policy: Policy) -> Codes:
    """Decide on many pairs by the definition for one."""
    unpack = cache(lambda row: columns.unpack_row(row) if columns.length[row] else None)
    codes = np.zeros(len(a), np.uint8)
    for place, (row, other) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        one, another = unpack(row), unpack(other)
        if one is None or another is None:
            continue
        if found := decide(one, another, policy):
            codes[place] = evidence.TABLE.code(found.signature)
        elif policy.level == "partial" and policy.related is not None and pair_evidence.may_relate(one, another):
            codes[place] = UNDECIDED
    return codes


# The kinds of evidence that the compiled screen knows.
SCREENED = {"content", "minhash", "termvector", "fingerprint", "profile", "characters"}


def screen(columns: PackedColumns, a: Rows, b: Rows, policy: Policy) -> Bools:
    """Return which pairs a rule may accept, so that the rules run on few pairs.

    Every pair that a rule accepts passes, and some that none accepts.
    """
    if policy.level == "partial" or any(kind.name not in SCREENED for kind in evidence.TABLE.counted(policy)):
        return np.ones(len(a), bool)
    terms, characters = policy.terms, policy.characters
    arrays = [
        np.ascontiguousarray(each)
        for each in (
            columns.content,
            columns.fingerprint,
            columns.profile,
            columns.idf,
            columns.length,
            columns.slot_count,
            columns.term_count,
            columns.noise,
            column_rules.RUNS,
            columns.slots,
            columns.terms,
            column_rules.needed_by_size(terms.share if terms else 1.0),
        )
    ]
    figures = (
        min(policy.slots.equal, policy.slots.needed(LONG_TOKENS)) + 1 if policy.slots else 0,
        policy.fingerprint is not None,
        policy.profile is not None,
        terms is not None,
        int(np.searchsorted(column_rules.ESTIMATES, characters.least_share)) + 1 if characters else 0,
        characters.pairs if characters else 0,
        *noise.SLOT_OFFSETS,
    )
    of_characters = (characters.lengths, characters.misread, characters.misread_dense) if characters else (0.0,) * 3
    shares = (terms.lengths if terms else 0.0, *of_characters, noise.RUNS_OF_A_WORD, noise.RUNS_OF_A_BIGRAM)
    fields = (*map(loops.address, arrays), *figures, *np.array(shares, np.float64).view(np.uint64))
    loops.check(len(columns), a, b)
    passing = np.empty(len(a), bool)
    loops.call("ibidem_screen", np.array(fields, np.uint64), a, b, len(a), passing)
    return passing


def strongest_codes(pairs: Pairs, policy: Policy) -> Codes:
    """Check the levels up to the requested one; a pair keeps the first evidence that it passes."""
    codes = np.zeros(len(pairs.a), np.uint8)
    titled = (pairs.columns.flags[pairs.a] & pairs.columns.flags[pairs.b] & TITLED) != 0
    agree = ~titled | pairs.has_equal(pairs.columns.title)
    candidates = np.flatnonzero(column_rules.may_match(pairs) & (agree | (policy.learned is not None)))
    for level in LEVELS[: LEVELS.index(policy.level) + 1]:
        if level != "identical":
            candidates = candidates[column_rules.is_in_window(pairs.take(candidates), policy.window_days)]
        for kind in evidence.TABLE.at(level):
            if kind.verify and len(candidates):
                mask = kind.verify(pairs.take(candidates), policy) & (agree[candidates] | kind.weighs_titles)
                codes[candidates[mask]] = evidence.TABLE.code(kind.name)
                candidates = candidates[~mask]
    if policy.level == "partial" and policy.related is not None:
        candidates = candidates[agree[candidates]]
        codes[candidates[column_rules.may_relate(pairs.take(candidates))]] = UNDECIDED
    return codes


MAX_BYTES = 256 << 20  # limit of the cache: the long signatures of some three thousand books

AT_ONCE = 1_000

Read = Callable[[Sequence[DocumentRef]], Mapping[DocumentRef, bytes]]


class LongSignatureCache:
    """Long signatures by index and id."""

    def __init__(self, read: Read | None = None) -> None:
        self.missing: set[DocumentRef] = set()
        self._read = read
        self._cache: OrderedDict[DocumentRef, tuple[LongSignatures | None, int]] = OrderedDict()
        self._bytes = 0

    def want(self, names: Iterable[DocumentRef]) -> None:
        """Prefetch the long signatures of documents, in few requests."""
        unknown = [name for name in dict.fromkeys(names) if name not in self._cache]
        if self._read is None:
            self.missing.update(unknown)
            return
        for start in range(0, len(unknown), AT_ONCE):
            some = unknown[start : start + AT_ONCE]
            values = self._read(some)
            for name in some:
                self._put(name, values.get(name, b""))
                while self._bytes > MAX_BYTES and len(self._cache) > 1:
                    _, (_, size) = self._cache.popitem(last=False)
                    self._bytes -= size
            if self._bytes >= MAX_BYTES:
                return

    def take(self, values: Mapping[DocumentRef, bytes]) -> None:
        """Store missing signatures; documents without long signatures are not among the values."""
        room = MAX_BYTES - self._bytes
        for name in sorted(self.missing):
            value = values.get(name, b"")
            room -= len(value)
            self._put(name, value if room >= 0 else b"")
        self.missing.clear()

    def get(self, name: DocumentRef) -> LongSignatures | None:
        """Return the signatures of one document; None if it has none, or they are damaged or not loaded."""
        self.want([name])
        if name not in self._cache:
            return None
        self._cache.move_to_end(name)
        return self._cache[name][0]

    def _put(self, name: DocumentRef, value: bytes) -> None:
        self._cache[name] = (LongSignatures.decode(value), len(value))
        self._bytes += len(value)


@dataclass(frozen=True, eq=False, slots=True)
class LongTextMatcher:
    names: Sequence[DocumentRef]  # index and id of each row
    packed: Callable[[int], Packed | None]  # gives a row's packed value
    policy: Policy  # the decision for a pair
    # Gives long signatures; none where relations of long texts are not asked for.
    long_signatures: LongSignatureCache = field(default_factory=lambda: LongSignatureCache(lambda _: {}))
    verdicts: dict[tuple[int, int], Evidence | None] = field(default_factory=dict)  # decisions so far, by pair of rows

    def want(self, rows: Iterable[int]) -> None:
        """Prefetch the long signatures of rows to decide on."""
        self.long_signatures.want(self.names[row] for row in rows)

    def evidence(self, row: int, other_row: int) -> Evidence | None:
        """Return the relation of the first row to the second, by any evidence."""
        pair = row, other_row
        if pair not in self.verdicts:
            a, b = self.packed(row), self.packed(other_row)
            self.verdicts[pair] = decide(a, b, self.policy, self._long_pair(pair, (a, b))) if a and b else None
        return self.verdicts[pair]

    def _long_pair(self, rows: tuple[int, int], pair: tuple[Packed, Packed]) -> LongPair | None:
        """Return the long signatures of two texts, a page among them, if their relation may be asked for."""
        if self.policy.level != "partial" or not pair_evidence.may_relate(*pair):
            return None
        a, b = (
            self.long_signatures.get(self.names[row]) if packed.flags & LONG else pair_evidence.page_of(packed)
            for row, packed in zip(rows, pair, strict=True)
        )
        return (a, b) if a and b else None


BUDGET = 200_000  # pairs of entries that are spread out at once: bounds the memory


@dataclass(frozen=True, eq=False, slots=True)
class DuplicatePairs:
    row: Rows  # (m,) the later row; ascending
    earlier: Rows  # (m,) the earlier one; ascending for a row
    code: Codes  # (m,) the evidence


@dataclass(frozen=True, eq=False, slots=True)
class PairClassifier:
    """Classifies candidate pairs of rows as duplicates under a policy."""

    columns: PackedColumns  # the packed values
    policy: Policy  # the decision for a pair
    constraints: PairConstraints  # manual decisions, which come before all evidence
    matcher: LongTextMatcher | None = None  # decides on pairs of long texts; None where these are no duplicates
    long_index: KeyIndex | None = None  # keys of long texts, which packed values do not hold; None: no long texts

    @property
    def size(self) -> int:
        return len(self.columns)

    def shared_keys(self, is_copy: Bools | None = None) -> KeyIndex:
        """Return the keys that rows share, and a key for each pair that a manual decision joins."""
        joined = pair_keys(encode_pairs(self.constraints.same, self.size), self.size)
        long = [] if self.long_index is None else [self.long_index]
        return join_indexes([joined, *long, build_key_index(self.columns, self.policy, is_copy)])

    def classify(self, candidates: Iterator[Rows]) -> DuplicatePairs:
        decisions = [self.decide(pairs) for pairs in candidates]
        pairs = np.concatenate([np.empty(0, np.int64), *(pairs for pairs, _ in decisions)])
        code = np.concatenate([np.empty(0, np.uint8), *(code for _, code in decisions)])
        row, earlier = np.divmod(pairs, max(1, self.size))
        if self.matcher is not None:
            open_pairs = np.flatnonzero(code == UNDECIDED)
            open_rows = np.unique(np.concatenate((row[open_pairs], earlier[open_pairs])))
            self.matcher.want(open_rows[(self.columns.flags[open_rows] & LONG) > 0].tolist())
        return DuplicatePairs(row, earlier, code)

    def decide(self, pairs: Rows) -> tuple[Rows, Codes]:
        """Return the duplicates among candidates, encoded as `row * size + earlier`."""
        code = verify(self.columns, pairs // self.size, pairs % self.size, self.policy)
        if self.matcher is None:
            code[code == UNDECIDED] = 0
        must_link = np.isin(pairs, encode_pairs(self.constraints.same, self.size))
        code[must_link & np.isin(code, (0, UNDECIDED))] = evidence.TABLE.code("override")
        code[np.isin(pairs, encode_pairs(self.constraints.different, self.size))] = 0
        positions = np.flatnonzero(code)
        return pairs[positions], code[positions]

    def resolve(self, row: int, earlier: int, code: int) -> int:
        """Return the code of a pair's evidence, with its long signatures if these are needed; 0 for none."""
        if code != UNDECIDED or self.matcher is None:
            return code
        is_long = (self.columns.flags[[row, earlier]] & LONG) > 0
        if is_long.all():  # missing signatures are read first, then everything is grouped again
            found = None if self.matcher.long_signatures.missing else self.matcher.evidence(row, earlier)
            return evidence.TABLE.code(found.signature) if found else 0
        page, text = (row, earlier) if is_long[1] else (earlier, row)
        # Packed values, which only long texts keep, are not needed for a page.
        signatures = self.matcher.long_signatures.get(self.matcher.names[text])
        if signatures is None or self.policy.related is None:
            return 0
        profile = int(self.columns.profile[page].byteswap())
        relation = relate(as_page(int(self.columns.length[page]), profile), signatures)
        return evidence.TABLE.code("pages") if relation and relation.confidence >= self.policy.related else 0


def duplicates(
    columns: PackedColumns, policy: Policy, matcher: LongTextMatcher | None = None, long_index: KeyIndex | None = None
) -> DuplicatePairs:
    """Find all pairs of duplicates, also within groups."""
    classifier = PairClassifier(columns, policy, PairConstraints(), matcher, long_index)
    if loops.IN_USE is None:
        pairs = classifier.classify(pairs_sharing_values(columns, policy, np.arange(len(columns))))
    else:
        entries = classifier.shared_keys()
        pairs = classifier.classify(expand_pairs(entries, CandidateRanges.build(entries), classifier.size))
    for position in np.flatnonzero(pairs.code == UNDECIDED).tolist():
        pairs.code[position] = classifier.resolve(int(pairs.row[position]), int(pairs.earlier[position]), UNDECIDED)
    positions = np.flatnonzero(pairs.code)
    return DuplicatePairs(pairs.row[positions], pairs.earlier[positions], pairs.code[positions])


def pairs_sharing_values(columns: PackedColumns, policy: Policy, rows: Rows, most: int = MAX_ROWS) -> Iterator[Rows]:
    """Yield the pairs of rows that share a value, row by row; of each value with its first `most` rows alone."""
    values = SharedValues(columns, policy, PairConstraints(), most)
    for row in rows.tolist():
        yield row * len(columns) + np.array(values.earlier(row), np.int64)
        values.add(row)


def encode_pairs(pairs: frozenset[Pair], size: int) -> Rows:
    """Encode pairs of rows as `later * size + earlier`."""
    return np.array([max(pair) * size + min(pair) for pair in sorted(pairs)], np.int64)


def pair_keys(pairs: Rows, size: int) -> KeyIndex:
    """Create a key for each pair, so that the pair becomes a candidate."""
    rows = np.stack((pairs % max(1, size), pairs // max(1, size)), axis=1).ravel().astype(np.int32)
    return KeyIndex(np.arange(len(rows), dtype=np.int32) // 2, rows)


def first_entries(entries: KeyIndex) -> Rows:
    """Return for each entry the position of its key's first entry."""
    place = np.arange(len(entries.key))
    place[1:][np.diff(entries.key) == 0] = 0
    return np.maximum.accumulate(place)


def count_earlier(entries: KeyIndex) -> Rows:
    return np.arange(len(entries.key)) - first_entries(entries)


@dataclass(frozen=True, eq=False, slots=True)
class CandidateRanges:
    """The rows to pair with each entry."""

    rows: Numbers  # rows, those of a key side by side
    first: Rows  # (e,) where an entry's partners begin among them
    times: Rows  # (e,) how many they are

    @classmethod
    def build(cls, entries: KeyIndex, times: Rows | None = None) -> "CandidateRanges":
        """Pair each entry with the first rows that have its key; with all earlier rows if `times` is not given."""
        first = first_entries(entries)
        return cls(entries.row, first, np.arange(len(first)) - first if times is None else times)


def expand_pairs(entries: KeyIndex, postings: CandidateRanges, size: int) -> Iterator[Rows]:
    """Expand the pairs of rows that share enough keys."""
    loops.check(size, entries.row)
    order = np.empty(entries.row.size, np.int64)
    count = loops.call("ibidem_by_row", entries.row, postings.times, entries.row.size, size, order)
    order = order[:count]
    rows, times, first = entries.row[order].astype(np.int64), postings.times[order], postings.first[order]
    weak = entries.key[order] >= entries.first_weak
    loops.check(size, postings.rows)
    for start, end in slices(rows, times):
        chunk = [each[start:end] for each in (rows, weak, first, times)]
        loops.check(postings.rows.size, chunk[2])
        loops.check(postings.rows.size + 1, chunk[2] + chunk[3])
        pairs = np.empty(int(chunk[3].sum()), np.int64)
        columns = (*chunk, end - start, postings.rows, size, entries.min_shared)
        yield pairs[: loops.call("ibidem_pairs", *columns, pairs)]


def slices(rows: Rows, times: Rows) -> Iterator[tuple[int, int]]:
    """Split entries between two rows so that the pairs of a slice fit five budgets; a slice has at least one row."""
    total = np.cumsum(times)
    start = 0
    while start < len(rows):
        previous_total = int(total[start - 1]) if start else 0
        end = int(np.searchsorted(total, previous_total + 5 * BUDGET, side="right"))
        if end < len(rows):
            end = int(np.searchsorted(rows, rows[end]))
        if end <= start:
            end = int(np.searchsorted(rows, rows[start], side="right"))
        yield start, end
        start = end


def build_key_index(columns: PackedColumns, policy: Policy, is_copy: Bools | None = None) -> KeyIndex:
    """Return the keys that rows share under a policy."""
    has_words: Bools = columns.length > 0
    policy = policy.candidates
    if is_copy is not None:
        has_words &= ~is_copy
    parts: list[KeyIndex] = []
    for kind in sorted(evidence.TABLE.counted(policy), key=lambda kind: kind.has_weak_keys):
        marks = None if kind.marks is None else kind.marks(columns, policy)
        if kind.keys is not None and (marks is None or marks.any()):
            found = (drop_singletons(*each, marks) for each in kind.keys(columns, policy, has_words))
            parts += (replace(each, first_weak=0, min_shared=TERMS) if kind.has_weak_keys else each for each in found)
    return join_indexes(parts)


Values = Iterable[Hashable]


def _runs(packed: Packed, _: Policy) -> Values:
    if not any(packed.noise):
        return ()
    places = (0, *noise.SLOT_OFFSETS)
    return ((at, *(packed.noise[(at + place) % noise.SLOTS] for place in places)) for at in range(noise.SLOTS))


# The values of a document, by kind of evidence: a pair that the kind joins shares one of them.
VALUES: Mapping[str, Callable[[Packed, Policy], Values]] = {
    "content": lambda packed, _: [packed.content],
    "minhash": lambda packed, policy: (
        (at, packed.slots[at : at + policy.band_rows])
        for at in range(0, len(packed.slots) - policy.band_rows + 1, policy.band_rows)
    ),
    "termvector": lambda packed, _: packed.terms,
    "fingerprint": lambda packed, _: [packed.fingerprint] * any(packed.fingerprint),
    "profile": lambda packed, _: [packed.profile] * any(packed.profile),
    "characters": _runs,
    "shingles": lambda packed, _: enumerate(packed.slots),
    "pages": lambda packed, _: [LONG] * bool(packed.flags & LONG or pair_evidence.page_of(packed)),
}


class SharedValues:
    """Inverted index from value to rows, filled row by row."""

    def __init__(
        self, columns: PackedColumns, policy: Policy, constraints: PairConstraints, most: int = MAX_ROWS
    ) -> None:
        self._most = most  # rows of a value that later ones are paired with
        self._columns, self._policy = columns, policy.candidates
        self._kinds = [kind.name for kind in evidence.TABLE.counted(self._policy) if kind.keys is not None]
        self._same: defaultdict[int, set[int]] = defaultdict(set)
        for a, b in constraints.same:
            self._same[max(a, b)].add(min(a, b))
        self._rows: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._added: set[int] = set()

    def earlier(self, row: int) -> Sequence[int]:
        """Return the added rows that share a value with a row, or that a manual decision joins to it, ascending."""
        sharing = (self._rows[value] for value in self._values(row) if value in self._rows)
        return sorted(set().union(*sharing) | (self._same[row] & self._added))

    def add(self, row: int) -> None:
        """Add a row, which later rows may share values with."""
        self._added.add(row)
        for value in set(self._values(row)):
            if len(self._rows[value]) < self._most:
                self._rows[value].append(row)

    def _values(self, row: int) -> Iterator[Hashable]:
        packed = self._columns.unpack_row(row) if self._columns.length[row] else None
        if packed is not None:
            for name in self._kinds:
                # Of a kind that is not listed all rows are compared.
                values = VALUES[name](packed, self._policy) if name in VALUES else [None]
                yield from ((name, value) for value in values)


# How many values of a class of long texts are asked for, where one is not enough.
MIN_SHARED: dict[LookupField, int] = {"sampled": 2}


MAX_TEXTS_PER_KEY = 100  # texts that may share a key: what more carry is a banner page, an oath or a stock form


@dataclass(slots=True)
class PageKeys:
    """Look-up keys of long texts, collected text by text."""

    names: list[DocumentRef] = field(default_factory=list)  # index and id of each text
    # For each look-up field of long texts the hashes of each text.
    hashes: dict[LongField, list[Hashes]] = field(default_factory=lambda: {name: [] for name in LONG_FIELDS})
    profiles: list[Hashes] = field(default_factory=list)  # the profiles of each text's pages, each once
    # For each class how many of its keys were left out when the index was built, since too many texts carry them.
    capped_keys: dict[LongField, int] = field(default_factory=dict)

    def add(self, name: DocumentRef, signatures: LongSignatures) -> None:
        self.names.append(name)
        self.profiles.append(np.unique(signatures.profiles[signatures.profiles != 0]))
        keys = signatures.lookup_keys()
        for lookup_field, entries in self.hashes.items():
            values = keys.get(lookup_field, [])
            entries.append(np.fromiter(map(xxh3_64_intdigest, map(str.encode, values)), np.uint64, len(values)))

    def key_index(self, names: Sequence[DocumentRef], columns: PackedColumns) -> KeyIndex:
        """Return the rows that share a key, and those that may be a page of another."""
        if loops.IN_USE is None:  # all long texts are compared then
            return KeyIndex(np.empty(0, np.int32), np.empty(0, np.int32))
        row = {name: number for number, name in enumerate(names)}
        rows = np.array([row[name] for name in self.names], np.int64)
        pages = pair_keys(self._page_pairs(rows, columns), len(names))
        return join_indexes([*self._parts(rows, len(names)), pages])

    def _page_pairs(self, rows: Rows, columns: PackedColumns) -> Rows:
        """Return the pairs of a short text and a long one with its profile, as `row * size + row`."""
        if not rows.size:
            return rows
        pages = np.flatnonzero(column_rules.may_be_page(columns))
        profiles, text = np.concatenate(self.profiles), np.repeat(rows, [each.size for each in self.profiles])
        order = np.argsort(profiles, kind="stable")
        wanted = columns.profile[pages].byteswap()
        return join_sorted(wanted, pages, profiles[order], text[order], len(columns), MAX_TEXTS_PER_KEY)

    def _parts(self, rows: Rows, size: int) -> Iterator[KeyIndex]:
        for lookup_field, entries in self.hashes.items():
            lengths = [len(each) for each in entries]
            if not sum(lengths):
                continue
            key_index = drop_singletons(np.concatenate(entries), np.repeat(rows, lengths))
            if count := int(np.count_nonzero(np.bincount(key_index.key) > MAX_TEXTS_PER_KEY)):
                self.capped_keys[lookup_field] = count
            shared = key_index.keep(np.bincount(key_index.key, minlength=1)[key_index.key] <= MAX_TEXTS_PER_KEY)
            shared = replace(shared, key=np.unique(shared.key, return_inverse=True)[1].astype(np.int32))
            if (min_shared := MIN_SHARED.get(lookup_field, 1)) > 1:
                weak = replace(shared, first_weak=0, min_shared=min_shared)
                pairs = expand_pairs(weak, CandidateRanges.build(weak), size)
                shared = pair_keys(np.concatenate([np.empty(0, np.int64), *pairs]), size)
            yield shared
