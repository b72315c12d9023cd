"""Window of a ranking, its groups, and the response in the engine's own format, so that existing clients keep working.

The window holds the hits that were read, their packed columns, groups and evidence. It grows in steps. A page is `size`
groups in the order of their first occurrences, cut from the fewest steps that hold enough groups; so a page shows the
same whether or not later ones were asked for. What a later step adds to a group of an earlier page is `late`, shown on
the first page that needed the step. The counts of its account add up; facets are by source, idf table and year.

Passages are texts that a retriever cut from documents; which of them overlap is decided by their words.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import xxhash
from numpy.typing import NDArray

from ibidem_dedupe.leader_clustering import Grouping, group
from ibidem_dedupe.overrides import AppliedOverrides, DocumentRef, Override, Pair, PairConstraints, apply_overrides
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher, encode_pairs, pair_keys
from ibidem_dedupe.parameters import MAX_WINDOW, DedupeRequest, Keep, KeepBy
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.relations import RUN, hash_words, runs
from ibidem_engines.engine import StoredDocument
from ibidem_engines.stored_groups import Hit, hit_names, read_packed
from ibidem_ingest.dates import iso_day
from ibidem_ingest.errors import UsageError, short_repr
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.packed import IDF_BYTES, LONG, NO_DATE, PackedColumns, hash_value

# Passages of a document that may begin with the same run: a heading that more of them repeat is ignored from then on.
# What follows in a list changes nothing before it, so that a longer list moves no passage of a shorter one.
MAX_HOLDERS = 4

MAX_STARTS = 1_000  # places where an overlap may begin: in a text of one word again and again it is each of them

Side = Literal["before", "after", "within"]


@dataclass(frozen=True, slots=True)
class Passage:
    """Text that was cut from a document.

    Args:
        text: The text.
        document: Name of the document; empty: it is not known, and the passage overlaps no other.
        date: ISO 8601; decides where the earliest, latest or current is kept.
        source: Its publisher; decides where sources are kept in an order.
        title: Title of the document; decides with its name, by what they say of its version, where the current is kept.
    """

    text: str
    document: str = ""
    date: str = ""
    source: str = ""
    title: str = ""

    @classmethod
    def of(cls, value: object, place: int) -> "Passage":
        """Return a passage as it is, and a text as a passage of an unknown document.

        Args:
            value: What a caller has given.
            place: Its place in the list, for the error.

        Raises:
            UsageError: It is no text, or a field of the passage is no string.

        >>> Passage.of("Rent is due.", 0)
        Passage(text='Rent is due.', document='', date='', source='', title='')
        """
        passage = value if isinstance(value, cls) else cls(value)  # type: ignore[arg-type]  # checked on the next lines
        for name in cls.__slots__:
            part = getattr(passage, name)
            if not isinstance(part, str):
                what = f"text {place}" if name == "text" else f"{name} of passage {place}"
                raise UsageError(f"{what} is {short_repr(part)}, no string", f"give each {name} as a string")
        return passage


class Overlap(NamedTuple):
    """Words that two passages of one document share at their edges."""

    words: int  # how many
    side: Side  # where the first passage stands, seen from the second
    of: int  # words of the shorter passage

    @property
    def evidence(self) -> Evidence:
        """The reason why the first passage belongs to the second."""
        reason = {"signature": "overlap", "words": self.words, "of": self.of, "side": self.side}
        return Evidence("partial", "overlap", round(self.words / self.of, 3), reason)


# Pairs of passages that overlap, each pair in both orders, by their places.
Overlaps = Mapping[tuple[int, int], Overlap]

NO_OVERLAPS: Overlaps = {}


def overlaps(passages: Sequence[Passage]) -> dict[tuple[int, int], Overlap]:
    """Return the pairs of passages that overlap in their document, by position, each pair in both orders.

    Words that two passages share at their edges are a run at the least; of several overlaps of two the longest counts.
    The text decides, not a position: loaders count characters from the start of a page or of a file, and do not say
    which. Passages with equal words do not overlap; they are duplicates.

    >>> cut = [Passage(text, "lease") for text in ("a b c d e f g h", "d e f g h i j k", "x y z")]
    >>> overlaps(cut)[1, 0]
    Overlap(words=5, side='after', of=8)
    """
    by_document: dict[str, list[int]] = defaultdict(list)
    for place, passage in enumerate(passages):
        if passage.document:
            by_document[passage.document].append(place)
    shared = [place for places in by_document.values() if len(places) > 1 for place in places]
    hashes, ends = hash_words([passages[place].text for place in shared])
    found: dict[tuple[int, int], Overlap] = {}
    for (number, begins), starts in _starts([passages[place].document for place in shared], hashes, ends).items():
        own, other = hashes[ends[number] : ends[number + 1]], hashes[ends[begins] : ends[begins + 1]]
        matches = (at for at in starts if np.array_equal(own[at : at + len(other)], other[: len(own) - at]))
        if np.array_equal(own, other) or (begin := next(matches, None)) is None:
            continue
        size, least = min(len(own) - begin, len(other)), min(len(own), len(other))
        earlier, later = shared[number], shared[begins]
        behind = Overlap(size, "within" if size == len(other) else "after", least)
        before = Overlap(size, "within" if size == len(own) else "before", least)
        for pair, overlap in (((later, earlier), behind), ((earlier, later), before)):
            if pair not in found or size > found[pair].words:
                found[pair] = overlap
    return found


_TOP = np.uint64(48)  # bits below those by which most runs that begin no passage are set aside


def _starts(
    documents: Sequence[str], hashes: NDArray[np.uint64], ends: Sequence[int]
) -> Mapping[tuple[int, int], list[int]]:
    """Return the positions in passages at which another passage of the document may start.

    `documents` are those of the passages, `hashes` all their words, which begin and end at `ends`.
    """
    starts: dict[tuple[int, int], list[int]] = defaultdict(list)
    begins = [number for number in range(len(documents)) if ends[number + 1] - ends[number] >= RUN]
    keys = runs(hashes)
    first = keys[[ends[number] for number in begins]]
    holders: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, key in zip(begins, first.tolist(), strict=True):
        holders[documents[number], key].append(number)
    is_first = np.zeros(1 << 16, np.bool_)
    is_first[first >> _TOP] = True
    rows = np.flatnonzero(is_first[keys >> _TOP])
    numbers = np.searchsorted(ends, rows, "right") - 1
    for row, number, key in zip(rows.tolist(), numbers.tolist(), keys[rows].tolist(), strict=True):
        others = holders.get((documents[number], key), ())
        if row + RUN > ends[number + 1] or (len(others) > MAX_HOLDERS and number >= others[MAX_HOLDERS]):
            continue
        for other in others[:MAX_HOLDERS]:
            if other != number and len(starts[number, other]) < MAX_STARTS:
                starts[number, other].append(row - ends[number])
    return starts


class WindowMembers(Protocol):
    """Threads or works by which a window is grouped: the hook `window_members` of a side package."""

    is_ordered: bool  # whether the document on top is the current one

    def set_name(self, row: int) -> str:
        """Return the thread or work of a row; empty for other documents."""

    def top(self, rows: Sequence[int]) -> int:
        """Return the row to show on top."""

    def order(self, rows: Sequence[int], top: int) -> tuple[Sequence[int], Mapping[int, int]]:
        """Return the other rows, those to show where few are first, and how deep each is, from 1, in display order."""

    def mark(self, row: int, others: Sequence[int] | None) -> dict[str, Any]:
        """Return what the hit of a row says of it; a lead gets the other rows of its group."""

    def why(self, row: int) -> dict[str, Any] | None:
        """Return why a row belongs to its thread or work."""

    def stats(self, ranked: int) -> dict[str, Any]:
        """Return the account's counts of the ranked rows."""


@dataclass(frozen=True, eq=False, slots=True)
class Window:
    """The top of a ranking, grouped; documents found by a wider scope may follow."""

    hits: Sequence[Hit]  # in rank order, then those found
    ranked: int  # how many of them are the ranking's
    policy: Policy  # the decision for a pair
    columns: PackedColumns  # their packed values, maybe with those of rows that were cut off
    overrides: AppliedOverrides  # manual decisions about pairs of them
    grouping: Grouping  # lead of each row, with the evidence
    matcher: LongTextMatcher  # decides on pairs
    # Names of groups that are stored, by the row of their first occurrence.
    group_names: Mapping[int, str] = field(default_factory=dict)
    overlaps: Overlaps = field(default_factory=dict)  # pairs of rows that overlap in their document
    # The stored memberships of its documents, if they are grouped by thread or work.
    members: WindowMembers | None = None

    @classmethod
    def group(  # noqa: PLR0913 - options, all by keyword
        cls,
        hits: Sequence[Hit],
        policy: Policy,
        overrides: Iterable[Override] = (),
        *,
        ranked: int = -1,
        long_signatures: LongSignatureCache | None = None,
        candidates: Iterable[Pair] = (),
        overlaps: Overlaps = NO_OVERLAPS,
        lead: Sequence[int] | None = None,
        group_names: Mapping[int, str] | None = None,
    ) -> "Window":
        """Group hits, except where the row that leads each is given."""
        columns = PackedColumns.decode(read_packed(hits))
        names = hit_names(hits)
        applied_overrides = apply_overrides(overrides, names, columns)
        longs = long_signatures or LongSignatureCache(lambda _: {})
        matcher = LongTextMatcher(names, cache(columns.unpack_row), policy, longs)
        looked_up = pair_keys(encode_pairs(frozenset(candidates), len(hits)), len(hits))
        constraints = applied_overrides.constraints
        if overlaps:
            must_link = constraints.same | {(a, b) for a, b in overlaps if a < b}
            constraints = PairConstraints(must_link, constraints.different)
        if lead is None:
            grouping = group(columns, policy, constraints, matcher, looked_up)
        else:
            grouping = Grouping.alone(len(hits))
            grouping.lead[:] = lead
        ranked = len(hits) if ranked < 0 else ranked
        return cls(hits, ranked, policy, columns, applied_overrides, grouping, matcher, group_names or {}, overlaps)

    def head(self, rows: int) -> "Window":
        """Return the first rows of the window, with the same groups."""
        if rows >= len(self.hits):
            return self
        grouping = Grouping(self.grouping.lead[:rows], self.grouping.evidence[:rows], self.grouping.crowded[:rows])
        overlaps = {pair: each for pair, each in self.overlaps.items() if max(pair) < rows}
        first = replace(self, hits=self.hits[:rows], ranked=rows, overrides=self.overrides.head(rows))
        return replace(first, grouping=grouping, overlaps=overlaps)

    def regroup(self, kind: str, members: WindowMembers, overrides: Iterable[Override]) -> "Window":
        """Group rows by stored threads or works, and the other rows by their texts."""
        names = [members.set_name(row) for row in range(len(self.hits))]
        grouping, first = Grouping.alone(len(names)), {name: row for row, name in reversed([*enumerate(names)])}
        grouping.lead[:] = [first[name] if name else row for row, name in enumerate(names)]
        others = np.array([row for row, name in enumerate(names) if not name], np.int64)
        if others.size:
            alone = Window.group([self.hits[row] for row in others.tolist()], self.policy, overrides).grouping
            grouping.lead[others], grouping.evidence[others] = others[alone.lead], alone.evidence
            grouping.crowded[others] = alone.crowded
        ids = {row: xxhash.xxh3_64_hexdigest(f"{kind}\0{name}".encode())[:12] for name, row in first.items() if name}
        return replace(self, grouping=grouping, group_names=ids, members=members)

    def group_id(self, lead: int) -> str:
        """Return the id of a row's group; it stays the same while the row is the group's first occurrence."""
        if lead in self.group_names:
            return self.group_names[lead]
        parts = (self.hits[lead].index, self.policy.level, self.hits[lead].id)
        return xxhash.xxh3_64_hexdigest("\0".join(parts).encode())[:12]

    def may_need_long(self, row: int) -> bool:
        """Return whether a row has long signatures that the policy uses."""
        has_relations = self.policy.level == "partial" and self.policy.related is not None
        return has_relations and bool(self.columns.flags[row] & LONG)

    def long_signatures(self, row: int) -> LongSignatures | None:
        return self.matcher.long_signatures.get(self.hits[row].name) if self.may_need_long(row) else None

    def evidence(self, row: int, other_row: int) -> Evidence | None:
        """Return the evidence for two rows: an overlap, else signatures, else a manual decision."""
        word = self.overrides.valid.get((min(row, other_row), max(row, other_row)))
        if word is not None and word.verdict == "not":
            return None
        if (overlap := self.overlaps.get((row, other_row))) is not None:
            return overlap.evidence
        evidence = self.matcher.evidence(row, other_row)
        return evidence or (word.evidence(self.policy.level) if word else None)


NO_DAY = 1 << 40


def sort_key_earliest(columns: PackedColumns, row: int) -> int:
    """Return the first day of a row's date; rows without a date come last."""
    day = int(columns.date_from[row])
    return day if columns.is_signed[row] and day != NO_DATE else NO_DAY


Places = Mapping[int, int]  # the place of each row among the versions of its group, the current one last
NO_PLACES: Places = {}


def choose_lead(columns: PackedColumns, members: Sequence[int], keep: Keep, places: Places = NO_PLACES) -> int:
    """Return the member that is shown as the lead; ties go to the first in rank.

    A packed value holds four bytes of a hash of the source: two names meet once in four billion pairs. Rows without a
    date, and those whose source is not listed, come last.
    """
    listed = list(enumerate(keep.sources))
    sources = {int.from_bytes(hash_value(name.encode()), "little"): place for place, name in reversed(listed)}
    # For each way of choosing a number that is least for the member to show.
    worse: Mapping[KeepBy, Callable[[int], int]] = {
        "rank": lambda row: row,
        "earliest": lambda row: sort_key_earliest(columns, row),
        "latest": lambda row: -int(columns.date_to[row]) if sort_key_earliest(columns, row) != NO_DAY else NO_DAY,
        "longest": lambda row: -int(columns.length[row]),
        "current": lambda row: -places.get(row, -1),
        "source": lambda row: sources.get(int(columns.source[row]), NO_DAY),
    }
    return min(members, key=lambda row: (worse[keep.by](row), row))


@dataclass(frozen=True, slots=True)
class Group:
    id: str  # its name
    first: int  # row of its first occurrence, which gives it its place
    lead: int  # row of the member that is shown as its lead
    duplicates: tuple[int, ...]  # rows of the others, in rank order
    shown_count: int  # how many of these are shown
    offset: int = 0  # how many come before those
    unread_count: int = 0  # how many further ones match that were not read
    stored_lead: int | None = None  # row of its stored lead, with which its documents were compared, if that was read
    # Of a thread or work, how deep each duplicate is, from 1; those that are shown are in this order.
    depths: Mapping[int, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of all known members, including the lead."""
        return 1 + len(self.duplicates) + self.unread_count

    @property
    def shown_rows(self) -> tuple[int, ...]:
        """The shown rows, the lead first."""
        shown = set(self.duplicates[self.offset : self.offset + self.shown_count])
        return (self.lead, *(row for row in self.depths or self.duplicates if row in shown))

    def portion(self, offset: int, size: int) -> "Group":
        """Return the group with a different range of its duplicates."""
        return replace(self, offset=offset, shown_count=max(0, min(len(self.duplicates) - offset, size)))


def build_group(window: Window, first: int, rows: Sequence[int], request: DedupeRequest, places: Places) -> Group:
    """Build one group; its lead is chosen among the members in the window step where the group began.

    A neighbour of the first never leads, since the best passage of a document was found. A thread or a work has an
    order of its own, unless the request names another lead.
    """
    step, members = rows_of_step(window, first, rows, request), window.members
    if members is None or not members.set_name(first):
        passages = [row for row in step if (row, first) not in window.overlaps]
        return group_of(window, first, rows, choose_lead(window.columns, passages, request.keep, places), request)
    is_own = request.keep.by == "rank" or (request.keep.by == "current" and members.is_ordered)
    lead = members.top(step) if is_own else choose_lead(window.columns, step, request.keep, places)
    others, depths = members.order(rows, lead)
    return replace(group_of(window, first, (lead, *others), lead, request), depths=depths)


def group_of(window: Window, first: int, rows: Sequence[int], lead: int, request: DedupeRequest) -> Group:
    """Return a group with its lead, and as many of its duplicates shown as are asked for."""
    duplicates = tuple(row for row in rows if row != lead)
    limit = len(duplicates) if request.max_per_group is None else request.max_per_group
    return Group(window.group_id(first), first, lead, duplicates, min(len(duplicates), limit))


def rows_of_step(window: Window, first: int, rows: Sequence[int], request: DedupeRequest) -> list[int]:
    """Return the rows of a group that are in the window step where the group began."""
    step_end = min(window.ranked, (first // request.window + 1) * request.window)
    return [row for row in rows if row < step_end]


Json = dict[str, Any]  # a value that is written as JSON

DUPLICATES = "duplicates"  # under which name a lead carries its duplicates


@dataclass(frozen=True, eq=False, slots=True)
class ResponseRenderer:
    window: Window  # the grouped hits
    groups: Sequence[Group]  # the page's groups
    request: DedupeRequest  # how to show them
    documents: Mapping[DocumentRef, Json]  # the documents that are shown as hits hold them, by index and id
    # Documents that a scope found and that do not match the query.
    outside: frozenset[DocumentRef] = field(default_factory=frozenset)

    def hits(self) -> list[Json]:
        """Return the list of hits: `indent` puts duplicates after their lead, `collapse` inside it."""
        if self.request.mode == "collapse":
            return [self.collapse(group) for group in self.groups]
        return [self.entry(group, row) for group in self.groups for row in group.shown_rows]

    def collapse(self, group: Group) -> Json:
        """Return a lead that contains its duplicates, without itself, as native collapse does."""
        inner = [self.entry(group, row) for row in group.shown_rows[1:]]
        total = {"value": group.size - 1, "relation": "eq"}
        hits = {"total": total, "max_score": None, "hits": inner}
        lead = self.entry(group, group.lead)
        if DUPLICATES in (others := lead.get("inner_hits", {})):
            what = f"inner_hits named {DUPLICATES!r} cannot be combined with dedupe=collapse"
            raise UsageError(what, "give them another name")
        return lead | {"inner_hits": {**others, DUPLICATES: {"hits": hits}}}

    def entry(self, group: Group, row: int) -> Json:
        hit = self.window.hits[row]
        score = hit.score if row < self.window.ranked else None
        return to_hit(hit, self.documents.get(hit.name), score) | {"_dedupe": self.mark(group, row)}

    def mark(self, group: Group, row: int) -> Json:
        mark: Json = {
            "group": group.id,
            "indent": 0 if row == group.lead else group.depths.get(row, 1),
            "size": group.size,
            "shown": 1 + group.shown_count,
            "hidden": group.size - 1 - group.shown_count,
            **dict.fromkeys(("level", "score", "of", "why")),
        }
        if self.window.members is not None:
            mark |= self.window.members.mark(row, group.duplicates if row == group.lead else None)
        notes = list(self.override_notes(group, row))
        if row != group.lead:
            mark |= self.reason(group, row, notes)
        if self.window.hits[row].name in self.outside:
            mark["outside"] = True
        if self.window.hits[row].name not in self.documents:
            notes.append("no longer in the index")
        return mark | ({"notes": notes} if notes else {})

    def reason(self, group: Group, row: int, notes: list[str]) -> Json:
        """Return the reason of a duplicate: against the shown lead, else against the first occurrence."""
        if self.window.members is not None and (why := self.window.members.why(row)) is not None:
            of = why.get("parent") or self.window.hits[group.lead].id
            return {"level": why["signature"], "of": of, "why": why if self.request.explain else None}
        target = group.lead
        evidence = self.window.evidence(row, target)
        if evidence is None:
            is_hidden = self.request.by == "stored" and group.stored_lead is None
            without = "; the lead of its group is not among the results" if is_hidden else ""
            notes.append(f"would not pass against {self.window.hits[target].id} alone{without}")
            target = group.first if group.stored_lead is None else group.stored_lead
            evidence = self.window.evidence(row, target) if row != target else None
        by_stored_lead = target == group.stored_lead and target not in (group.lead, row)
        details = {"through": self.window.hits[target].id} if by_stored_lead else {}
        if evidence is None:
            return details
        if isinstance(side := evidence.why.get("side"), str):
            details["side"] = side
        return details | {
            "level": evidence.level,
            "score": evidence.score,
            "of": self.window.hits[target].id,
            "why": dict(evidence.why) if self.request.explain else None,
        }

    def override_notes(self, group: Group, row: int) -> Iterator[str]:
        for other_row, word, holds in self.window.overrides.for_row(row):
            other_id = self.window.hits[other_row].id
            other_group = self.window.group_id(int(self.window.grouping.lead[other_row]))
            if holds and word.verdict == "same" and other_group != group.id:
                yield f"declared same as {other_id}, group {other_group}"
            elif self.request.explain:
                verdict = "the same as" if word.verdict == "same" else "not a duplicate of"
                byline = ", ".join(filter(None, (word.author and f"by {word.author}", word.date)))
                note = " ".join(filter(None, (f"declared {verdict} {other_id}", byline)))
                note += f": {word.reason}" if word.reason else ""
                yield note if holds else f"{note} (stale: a text has changed since)"


def to_hit(hit: Hit, source: Json | None, score: float | None) -> Json:
    """Return a hit without the layer's own fields."""
    fields = {"_source": {}} if source is None else source
    result = {"_index": hit.index, "_id": hit.id, "_score": score} | fields | {"_score": score}
    return result | ({"sort": list(hit.sort)} if hit.sort else {})


def to_source(entry: StoredDocument) -> Json:
    highlights = {"title": [entry.title] if entry.title else [], "text": list(entry.snippets)}
    highlight = {field: passages for field, passages in highlights.items() if passages}
    return {"_source": entry.document.as_record()} | ({"highlight": highlight} if highlight else {})


SHINGLE = 5  # tokens in a shingle: a shorter text is one shingle, and only its equals are near it


def request_stats(request: DedupeRequest) -> dict[str, object]:
    """Return the account's part about the request, with all counts zero."""
    return {
        "mode": request.mode,
        "level": request.level,
        "keep": str(request.keep),
        "window": request.window,
        "scope": request.scope,
        "documents": {},
        "groups": {},
        "duplicates": 0,
        "unsigned": 0,
        "crowded": 0,
        "too_short": 0,
        "capped": [],
        "mixed_tables": 0,
        "late": [],
        "cursor": "",
        "took_ms": 0,
    }


def count_stats(  # noqa: PLR0913, PLR0917 - numbers by name in the account
    match_count: int, ranked_count: int, shown_count: int, leads: int, groups: int, deepest: int = MAX_WINDOW
) -> dict[str, object]:
    beyond, matched = max(0, match_count - ranked_count), max(match_count, ranked_count)
    return {
        "documents": {"matched": matched, "in_window": ranked_count, "beyond_window": beyond, "on_page": shown_count},
        "groups": {"in_window": leads, "on_page": groups, "exact": not beyond},
        "limited": beyond > 0 and ranked_count >= deepest,
    }


def count_signed(window: Window, current: Collection[str]) -> dict[str, object]:
    """Count the read documents with nothing signed, those of fewer than five tokens, and those of an outdated table."""
    length, idf = window.columns.length[: window.ranked], window.columns.idf[: window.ranked]
    return {
        "unsigned": int(np.count_nonzero(length == 0)),
        "too_short": int(np.count_nonzero((length > 0) & (length < SHINGLE))),
        "mixed_tables": count_others(Counter(idf[idf != 0].tolist()), current),  # some have no table
    }


def count_others(names: Counter[int], current: Collection[str]) -> int:
    """Count the documents with an outdated table; without current names, the most frequent table is current."""
    current_names = {int.from_bytes(bytes.fromhex(name)[:IDF_BYTES], "little") for name in current}
    current_names = current_names or {name for name, _ in names.most_common(1)}
    return sum(count for name, count in names.items() if name not in current_names)


# Counts of a window: `sources` and `tables`, idf tables of one language each, the most frequent first, and `years`, the
# latest first. Each has the number of `documents` and `groups`, and `index` and `id` of a document with its value, or
# the `year`.
Facets = Mapping[str, Sequence[Json]]


def count_facets(window: Window) -> Facets:
    """Count a window by source, idf table and year, as the plugin does."""
    columns, ranked = window.columns, window.ranked
    days = columns.date_from[:ranked].tolist()
    years = np.array([int(iso_day(day)[:4]) if day != NO_DATE else 0 for day in days], np.int64)
    by_year = count_values(window, years * columns.is_signed[:ranked])
    latest_first = sorted(((int(years[row]), documents, groups) for row, documents, groups in by_year), reverse=True)
    return {
        "sources": most_frequent(window, columns.source[:ranked].astype(np.int64)),
        "tables": most_frequent(window, columns.idf[:ranked].view(np.int64)),
        "years": [{"year": year, "documents": documents, "groups": groups} for year, documents, groups in latest_first],
    }


def most_frequent(window: Window, values: NDArray[np.int64]) -> list[Json]:
    """Count the documents of each value, the most frequent first; a value is named by one of its documents."""
    counts = sorted(count_values(window, values), key=lambda each: (-each[1], each[0]))
    return [
        {"index": window.hits[row].index, "id": window.hits[row].id, "documents": documents, "groups": groups}
        for row, documents, groups in counts
    ]


def count_values(window: Window, values: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Return for each value that is not 0 a row that has it, and how many documents and groups have it."""
    rows = np.flatnonzero(values)
    _, first, place, documents = np.unique(values[rows], return_index=True, return_inverse=True, return_counts=True)
    pairs = np.unique(np.stack((place, window.grouping.lead[rows])), axis=1)
    groups = np.bincount(pairs[0], minlength=first.size) if pairs.size else np.zeros(first.size, np.int64)
    return list(zip(rows[first].tolist(), documents.tolist(), groups.tolist(), strict=True))


def with_current_tables(account: Json, current: Collection[str]) -> Json:
    """Add the number of documents with outdated idf tables to the plugin's account."""
    tables: Mapping[str, int] = account["tables"]
    names = Counter({int.from_bytes(bytes.fromhex(name), "little"): count for name, count in tables.items()})
    facts = {name: value for name, value in account.items() if name != "tables"}
    facts |= {"grouper": account.get("grouper", account["by"])}
    return facts | {"mixed_tables": count_others(names, current)}
