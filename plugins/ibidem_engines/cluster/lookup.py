"""Look-up by signature in a cluster: the keys of hundreds of documents in one search.

A search for the values of one document takes a server about a millisecond, one for the values of 400 takes 35. So they
are asked for together, and each hit is given to the documents whose values its packed signatures hold. Only what brings
too many hits, such as a form that half of the index repeats, is asked for alone, and then says what was cut. The leads
that a few hundred documents may join are looked up by one search for all values of which one is enough, and others for
those of which several are needed.

Ranking: the top hits with packed signatures, ties ordered by index and id, read from one view of the index. A packed
value holds an id, which spares a window the engine's own: to read those takes as long as the search. But whoever may
write a document may write any value into it, so what is read by it is compared with the window by `is_same_state`;
where the engine gives its own id, a value that names another document counts as missing.
"""

from binascii import a2b_base64
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import orjson

from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.cluster import dsl
from ibidem_engines.cluster.client import read_responses
from ibidem_engines.cluster.index import Layout, beside_key, write_order
from ibidem_engines.cluster.source import COLLAPSIBLE
from ibidem_engines.engine import LookupResult, SignatureLookup
from ibidem_engines.query import ReadView
from ibidem_engines.requests import Json, RequestFlow, Target, in_slices
from ibidem_engines.stored_groups import Hit, HitColumns, LeadKeys
from ibidem_ingest.signatures.lookup_keys import LONG_FIELDS, LookupField, lookup_keys
from ibidem_ingest.signatures.packed import MISSING, ROOM, PackedValues

# Decodes a window's values in a thirtieth of the time; the extra `fast` installs it.
FAST_BASE64: Any = import_module("pybase64") if find_spec("pybase64") else None

# Padding to whole quads of a value without any, by its characters beyond them; one character is no base64.
PREFIX_PADDING = ("", "===", "AA", "A")

ROOM_AS_BASE64 = "A" * -(-ROOM // 3 * 4)


def read_hits(answer: Json, sorted_by: int | None = None) -> HitColumns:
    """Parse the hits of a search, with so many of their sort values; those that have ids get them from the engine."""
    hits = dsl.hits_of(answer)
    packed = read_packed(hits)
    ids = packed.ids
    if hits and "_id" in hits[0]:
        ids = [hit["_id"] for hit in hits]
        packed = packed.keep_own(ids)
    return HitColumns(
        [hit["_index"] for hit in hits],
        ids,
        [hit.get("_score") or 0.0 for hit in hits],
        packed,
        [write_order(hit["_seq_no"]) for hit in hits] if hits and "_seq_no" in hits[0] else [0] * len(hits),
        [tuple(hit["sort"][:sorted_by]) for hit in hits] if hits and "sort" in hits[0] else [()] * len(hits),
    )


def read_packed(hits: Sequence[Json]) -> PackedValues:
    """Decode the packed values of hits at once; one by one if a value is missing or not base64."""
    try:
        values = [hit["fields"][dsl.PACKED][0].rstrip("=") for hit in hits]
        base64 = "".join([*(value + PREFIX_PADDING[len(value) % 4] for value in values), ROOM_AS_BASE64])
        base64 = base64.replace("-", "+").replace("_", "/")
        text: bytes = (
            a2b_base64(base64, strict_mode=True)
            if FAST_BASE64 is None
            else FAST_BASE64.b64decode(base64, validate=True)
        )
    except (LookupError, AttributeError, ValueError):
        return PackedValues.join([read_binary(hit, dsl.PACKED) for hit in hits])
    length = np.array([len(value) for value in values], np.int64)
    room = (length + 3) // 4 * 3
    return PackedValues(text, np.cumsum(room) - room, length * 3 // 4)


def is_same_state(raw: Json, hit: Hit) -> bool:
    """Return whether a document is the hit's document: a packed id may be false.

    The engine numbers the writes of a shard, so no two of its documents have one number; those of two shards may, and
    then have different packed values, unless one was copied.
    """
    return write_order(raw["_seq_no"]) == hit.order and hit.packed in (None, read_binary(raw, dsl.PACKED))


def read_binary(hit: Json, field: str) -> bytes | None:
    """Decode a binary value: Elasticsearch uses standard base64, OpenSearch the URL-safe form without padding.

    One that is no base64 counts as missing, so its document as unsigned.
    """
    values = hit.get("fields", {}).get(field)
    try:
        return a2b_base64(f"{values[0]}==".replace("-", "+").replace("_", "/")) if values else None
    except ValueError:
        return None


RankedHits = tuple[Json, HitColumns]  # an answer as the server gave it, and its hits in rank order


def rank(
    target: Target, body: Json, limit: int, *, ids: bool = False, beside: Sequence[str] = ()
) -> RequestFlow[RankedHits]:
    """Search for a window; signatures that their index does not hold are read from those beside it.

    Without a sort some more hits are asked for, so that equal scores are put in order here, unless even they all score
    as the last one: a hit that was left out might then precede one that was not.
    """
    size, is_sorted = body["size"], "sort" in body
    depth = size if is_sorted else min(limit, size + max(20, size // 10))
    body = {**(dsl.with_ids(body) if ids else body), "size": depth}
    answer, hits = yield from window(target, body)
    if not is_sorted and (len(hits) < depth or hits.scores[-1] != hits.scores[size - 1]):
        hits = hits.sort()[:size]
    elif not is_sorted:
        # Ties ordered on the server, which takes it a third longer.
        order = [{"_score": "desc"}, {"_index": "asc"}, {"ibidem.id": {"order": "asc", "unmapped_type": "keyword"}}]
        answer, hits = yield from window(target, {**body, "size": size, "sort": order, "track_scores": True})
        hits = replace(hits, sorts=[()] * len(hits)).sort()
    return (yield from fill_from_beside((answer, hits), beside))


def fill_from_beside(ranking: RankedHits, beside: Sequence[str]) -> RequestFlow[RankedHits]:
    """Read the signatures that hits lack from the indexes beside theirs, if there are any."""
    answer, hits = ranking
    missing = np.flatnonzero(hits.packed.size == MISSING).tolist() if beside else []
    if not missing:
        return ranking
    keys = {beside_key(hits.indices[row], hits.ids[row]): row for row in missing}
    request = {"query": dsl.ids_query([*keys]), "size": len(keys), "track_total_hits": False, **dsl.PACKED_STATES}
    found = read_hits((yield beside_target(beside).search(request, packed=True)))
    packed = list(hits.packed)
    for each in found:  # without ids, which a server loads from stored fields: each value names its document
        if each.id in keys:
            packed[keys[each.id]] = each.packed
    return answer, replace(hits, packed=PackedValues.join(packed), cache={})


def beside_target(beside: Sequence[str]) -> Target:
    return Target(",".join(beside), params={"ignore_unavailable": "true"})


def window(target: Target, body: Json) -> RequestFlow[RankedHits]:
    """Search for packed signatures; repeat with ids if a hit has no signatures and therefore no id."""
    answer = yield target.search(body, packed=True)
    hits = read_hits(answer)
    if not all(hits.ids):
        answer = yield target.search(dsl.with_ids(body), packed=True)
        hits = read_hits(answer)
    return answer, hits


LONG_AT_ONCE = 200  # documents in a request: the long signatures of a book take some 100 KB


def long_values(
    target: Target, ids: Sequence[DocumentRef], beside: Sequence[str] = ()
) -> RequestFlow[dict[DocumentRef, bytes]]:
    """Read the long signatures of documents by (index, id); documents without any are omitted."""
    if not beside:
        return read_long((yield from long_hits(target, ids)))
    names = {beside_key(*name): name for name in ids}
    entries = [(index, key) for index in beside for key in names]
    held = read_long((yield from long_hits(beside_target(beside), entries)))
    return {names[key]: value for (_, key), value in held.items()}


def long_hits(
    target: Target, ids: Sequence[DocumentRef], matching: dsl.Clause | None = None
) -> RequestFlow[list[Json]]:
    """Read documents with long signatures by (index, id), with their packed values and sequence numbers."""
    clauses = [{"exists": {"field": dsl.LONG}}, *([] if matching is None else [matching])]
    return dsl.fetch_parts(
        target, ids, dsl.STATES | {"docvalue_fields": [dsl.LONG, dsl.PACKED]}, *clauses, at_once=LONG_AT_ONCE
    )


def read_long(hits: Sequence[Json]) -> dict[DocumentRef, bytes]:
    values = {(hit["_index"], hit["_id"]): read_binary(hit, dsl.LONG) for hit in hits}
    return {name: value for name, value in values.items() if value}


# Aggregation of the highest sequence number among matches.
NEWEST: dsl.Clause = {"ibidem": {"max": {"field": "_seq_no"}}}


def limit_writes(query: dsl.Clause, newest: int) -> dsl.Clause:
    return {"bool": {"must": [query], "filter": [{"range": {"_seq_no": {"lte": newest}}}]}}


def apply_view(body: Json, view: ReadView) -> dsl.Clause:
    """Restrict a search to a view; without one, request the newest sequence number."""
    if view.newest is not None:
        return {**body, "query": limit_writes(body["query"], view.newest)}
    return {**body} if view.point else {**body, "aggs": NEWEST}


def next_view(view: ReadView, answer: Json) -> ReadView:
    if view.newest is not None:
        return view
    return ReadView(None if view.point else read_newest(answer), answer.get("pit_id", view.point))


def read_newest(answer: Json) -> int:
    """Read the result of the aggregation; -1 if nothing matched, or no index was searched."""
    value = answer["aggregations"]["ibidem"]["value"] if "aggregations" in answer else None
    return -1 if value is None else int(value)


SEARCH_BATCH = 250  # searches asked for together; each may bring three prefixes, and a query takes 1,024 clauses

SEARCHES_PER_REQUEST = 30  # searches in a request when each is asked for alone

MAX_TOGETHER = 1_000  # hits from which on searches are parted

# If a query has too many hits, every tenth is sampled; values that five samples share get a query of their own, and the
# rest are retried.
SAMPLE_EVERY, FREQUENT = 10, 5

FoundHits = tuple[list[Hit], int]  # hits of a search, and how many documents match


TOGETHER, APART, IN_PARTS = range(3)  # ways in which a question is asked, in this order


@dataclass(slots=True, eq=False)
class _Question:
    """The values of one class for one search, and what is found by them; compared by identity."""

    search: SignatureLookup
    name: LookupField
    values: list[str]
    hits: dict[DocumentRef, Hit] = field(default_factory=dict)
    total: int = 0  # documents that match, where more of them do than are listed

    @property
    def min_shared(self) -> int:
        return self.search.min_shared.get(self.name, 1)

    @property
    def limit(self) -> int:
        return self.search.hit_limit(self.name)

    @property
    def way(self) -> int:
        """How it is asked; several of its values are needed, or a hit does not say which of them it has."""
        return APART if self.min_shared > 1 else IN_PARTS if self.name in LONG_FIELDS else TOGETHER

    @property
    def count(self) -> int:
        return max(self.total, len(self.hits))


Part = tuple[dsl.Clause, list[str], list[_Question]]  # a search for some values, and the questions that share it


@dataclass(frozen=True, slots=True)
class LookUp:
    """Look-ups in one index, or in several."""

    target: Target
    layout: Layout
    clause: dsl.Clause | None  # what hits must match besides

    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        """Look up values; see `Engine.find`."""
        asked = list(map(_questions, searches))
        chunks = [
            [each for own in part for each in own if each.way == TOGETHER] for part in in_slices(asked, SEARCH_BATCH)
        ]
        chunks = [chunk for chunk in chunks if chunk]
        apart = sorted((each for own in asked for each in own if each.way != TOGETHER), key=lambda each: each.way)
        parts = self._parts((each, each.values) for each in apart)
        bodies = [*map(self._shared_body, chunks), *(body for body, *_ in parts[:SEARCHES_PER_REQUEST])]
        answers = yield from self._send(bodies)
        for chunk, (hits, total) in zip(chunks, answers, strict=False):
            yield from self._assign_hits(chunk, hits, total)
        yield from self._ask_apart(parts, answers[len(chunks) :])
        return list(map(_result, asked))

    def _shared_body(self, questions: Sequence[_Question]) -> dsl.Clause:
        """Build one search for the values of all lookups."""
        values = distinct_values((each.name, each.values) for each in questions)
        return self._body([with_value_query(self.layout.kinds, *item) for item in values.items()], MAX_TOGETHER)

    def _assign_hits(self, questions: Sequence[_Question], hits: Sequence[Hit], total: int) -> RequestFlow[None]:
        """Add the hits to their lookups; values with too many hits are searched for separately."""
        found = _hits_by_question(questions, hits if total <= MAX_TOGETHER else hits[::SAMPLE_EVERY])
        if total <= MAX_TOGETHER:
            for question, own in found.items():
                question.hits = own
            return
        frequent = {question for question, own in found.items() if len(own) >= FREQUENT}
        apart = [each for each in questions if not frequent or each in frequent]
        yield from self._ask_apart(self._parts((each, each.values) for each in apart))
        if together := [each for each in questions if frequent and each not in frequent]:
            ((hits, total),) = yield from self._send([self._shared_body(together)])
            yield from self._assign_hits(together, hits, total)

    def _parts(self, asked: Iterable[tuple[_Question, list[str]]]) -> list[Part]:
        """Build a search for some values of each question; questions with equal searches share one."""
        parts: dict[bytes, Part] = {}
        for question, values in asked:
            clause = with_value_query(self.layout.kinds, question.name, values, question.min_shared)
            body = self._body([clause], question.limit + 1)
            parts.setdefault(orjson.dumps(body), (body, values, []))[2].append(question)
        return list(parts.values())

    def _ask_apart(self, parts: Sequence[Part], answers: Sequence[FoundHits] = ()) -> RequestFlow[None]:
        """Add the hits of each search to the questions that share it; the first may be answered already.

        Values of long texts are searched for in halves if there are too many hits, and a too frequent one is skipped: a
        banner page or a stock form is in very many documents, and what else they share would be cut with it.
        """
        while parts:
            answers = list(answers)
            for batch in in_slices(parts[len(answers) :], SEARCHES_PER_REQUEST):
                answers += yield from self._send([body for body, *_ in batch])
            halves: list[tuple[_Question, list[str]]] = []
            for (body, values, questions), (hits, total) in zip(parts, answers, strict=True):
                for question in questions:
                    others = {(hit.index, hit.id): hit for hit in hits if hit.id != question.search.own_id}
                    count, middle = total - (len(others) < len(hits)), len(values) // 2
                    if question.way != IN_PARTS:
                        question.hits = others
                        question.total = count
                        if len(others) == len(hits) < total:  # the searching document may be among the rest
                            question.total = yield from self._count_others(question, body, count)
                    elif count <= question.limit:
                        question.hits |= others
                    elif middle:
                        halves += [(question, values[:middle]), (question, values[middle:])]
                    else:
                        question.total = count
            parts, answers = self._parts(halves), ()

    def _count_others(self, question: _Question, body: dsl.Clause, count: int) -> RequestFlow[int]:
        """Count the documents with a content hash apart from the searching one; of other values what matches."""
        own_id = question.search.own_id
        if not own_id or question.name != "content":
            return count
        others = {"bool": {"must": [body["query"]], "must_not": [dsl.ids_query([own_id])]}}
        ((_, count),) = yield from self._send([{**body, "query": others, "size": 0}])
        return count

    def _send(self, bodies: Sequence[dsl.Clause]) -> RequestFlow[list[FoundHits]]:
        answers = read_responses((yield self.target.searches(bodies))) if bodies else []
        return [(list(read_hits(answer, 0)), dsl.total_of(answer)) for answer in answers]

    def _body(self, clauses: Sequence[dsl.Clause], limit: int) -> dsl.Clause:
        filters = [dsl.any_of(clauses), *([] if self.clause is None else [self.clause])]
        return dsl.with_ids(search_in_order(filters, min(limit, self.layout.max_hits)))


def _questions(search: SignatureLookup) -> list[_Question]:
    questions = [_Question(search, name, list(dict.fromkeys(values))) for name, values in search.values.items()]
    return sorted((each for each in questions if len(each.values) >= each.min_shared), key=lambda each: each.way)


def _hits_by_question(
    questions: Sequence[_Question], hits: Sequence[Hit]
) -> Mapping[_Question, dict[DocumentRef, Hit]]:
    """Assign each hit to the questions whose values it has."""
    asking: defaultdict[DocumentRef, list[_Question]] = defaultdict(list)
    for question in questions:
        for value in question.values:
            asking[question.name, value].append(question)
    hits_by_question: defaultdict[_Question, dict[DocumentRef, Hit]] = defaultdict(dict)
    for hit, values_by_name in zip(hits, lookup_keys([hit.packed for hit in hits]), strict=True):
        keys = [(name, value) for name, values in values_by_name.items() for value in values]
        for question in {question for key in keys for question in asking.get(key, ())}:
            if hit.id != question.search.own_id:
                hits_by_question[question][hit.index, hit.id] = hit
    return hits_by_question


def _result(questions: Sequence[_Question]) -> LookupResult:
    """Return the documents with the values of each class: the first by sequence number, up to the limit."""
    hits: dict[DocumentRef, Hit] = {}
    for each in questions:
        hits |= dict(sorted(each.hits.items(), key=lambda item: item[1].order)[: each.limit])
    capped = tuple(each.name for each in questions if each.name != "content" and each.count > each.limit)
    return LookupResult(
        [hits[name] for name in sorted(hits)], capped, sum(each.count for each in questions if each.name == "content")
    )


def search_in_order(filters: Sequence[dsl.Clause], size: int) -> dsl.Clause:
    """Build a search for packed values, with hits ordered by sequence number."""
    return {
        "query": dsl.all_of(*filters),
        "size": size,
        "track_total_hits": True,
        "sort": ["_seq_no"],
        **dsl.PACKED_STATES,
    }


def with_value_query(
    kinds: Collection[str], name: LookupField, values: Sequence[str], min_count: int = 1
) -> dsl.Clause:
    """Build the query for documents with at least `min_count` of the values of one class."""
    if name == "content":
        return dsl.terms("ibidem.content", values, min_count)
    if name not in dict(COLLAPSIBLE):
        return dsl.terms("ibidem.keys", values, min_count)
    paths = [f"ibidem.{name}"] * ("lean" not in kinds or "full" in kinds) + ["ibidem.keys"] * ("lean" in kinds)
    return dsl.any_of([dsl.terms(path, values, min_count) for path in paths])


def distinct_values(items: Iterable[tuple[LookupField, Iterable[str]]]) -> dict[LookupField, list[str]]:
    """Return the distinct values of each class."""
    values: defaultdict[LookupField, dict[str, None]] = defaultdict(dict)
    for name, entries in items:
        values[name].update(dict.fromkeys(entries))
    return {name: list(entries) for name, entries in values.items()}


MAX_CLAUSES = 900  # clauses of a query; a server takes 1,024


def leads_with_value(
    target: Target, layout: Layout, conditions: Sequence[dsl.Clause], keys: Sequence[LeadKeys]
) -> RequestFlow[list[Hit]]:
    """Read the leads that have any of the values, each once."""
    with_value: dict[DocumentRef, Hit] = {}
    parts = list(in_slices(keys, SEARCH_BATCH))
    while clauses := [(part, clause) for part in parts for clause in _lead_clauses(layout.kinds, part)]:
        bodies = [search_in_order([*conditions, clause], layout.max_hits) for _, clause in clauses]
        answers = read_responses((yield target.searches(bodies)))
        retries: list[Sequence[LeadKeys]] = []
        for answer, (part, _) in zip(answers, clauses, strict=True):
            hits, total = read_hits(answer), dsl.total_of(answer)
            if total > len(hits) and len(part) > 1:
                retries += [part[: len(part) // 2], part[len(part) // 2 :]]
            with_value |= {(hit.index, hit.id): hit for hit in hits if hit.id}
        parts = list({id(part[0]): part for part in retries}.values())
    return list(with_value.values())


def _lead_clauses(kinds: Collection[str], keys: Sequence[LeadKeys]) -> list[dsl.Clause]:
    """Build a clause for all values of which one is enough, and clauses for those of which several are needed."""
    values = distinct_values(item for each in keys for item in each.values.items() if item[0] not in each.min_shared)
    several = [
        (name, each) for each in keys for name, least in each.min_shared.items() if len(each.values[name]) >= least
    ]
    shares: list[dsl.Clause] = []
    for name, each in several:
        shortest, longest = each.lengths[name]
        length = {"range": {"ibidem.length": {"gte": shortest, "lte": longest}}}
        query = with_value_query(kinds, name, each.values[name], each.min_shared[name])
        shares.append(dsl.all_of(query, length))
    size = max(1, MAX_CLAUSES // (2 + max((len(each.values[name]) for name, each in several), default=0)))
    batches = list(in_slices(shares, size))
    if values:
        batches.insert(0, [with_value_query(kinds, *item) for item in values.items()])
    return [dsl.any_of(batch) for batch in batches]
