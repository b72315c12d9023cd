"""Look-up by signature in a cluster: the keys of hundreds of documents in one search.

A search for the values of one document takes a server about a millisecond, one for the values of 400 takes 35: few of
them are carried by anything. So they are asked for together, and each hit is given to the documents whose values its
packed signatures hold. Only what brings too many hits, such as a form that half of the index repeats, is asked
for alone, and then says what was cut.

The leads that a few hundred documents may join are looked up by two kinds of searches: one for all values of which one
is enough, and, document by document, as many in a search as a query may have clauses, for those of which several are
needed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from ibidem_engines.cluster.client import build_failure
from ibidem_engines.cluster.dsl import Clause, ids_query, packed_options, with_ids
from ibidem_engines.cluster.index import Layout
from ibidem_engines.cluster.ranking import read_hits
from ibidem_engines.engine import LookupResult, SignatureLookup
from ibidem_engines.requests import RequestFlow, Target
from ibidem_engines.stored_groups import Hit, LeadKeys, Several
from ibidem_ingest.signatures.lookup_keys import LONG_CLUES, LookupField, lookup_keys
from ibidem_ingest.signatures.packed import unpack

TOGETHER = 250  # searches asked for together; each may bring three prefixes, and a query takes 1,024 clauses

SEARCHES_PER_REQUEST = 30  # searches in a request when each is asked for alone

MAX_TOGETHER = 1_000  # hits from which on searches are parted

# If a query has too many hits, every tenth is sampled; values that five samples share get a query of their own, and the
# rest are retried.
SAMPLE_EVERY, FREQUENT = 10, 5

# Classes that have a field of their own in the layout `full`, and are among the keys in `lean`.
OWN_FIELD: frozenset[LookupField] = frozenset(("fingerprint", "profile"))


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """The values of one class for one search; compared by identity."""

    position: int
    name: LookupField
    search: SignatureLookup

    @property
    def values(self) -> list[str]:
        return list(dict.fromkeys(self.search.values[self.name]))

    @property
    def min_shared(self) -> int:
        """Minimum number of values that a document must share."""
        return self.search.min_shared.get(self.name, 1)

    @property
    def limit(self) -> int:
        return self.search.hit_limit(self.name)


@dataclass(slots=True)
class _Answer:
    """The answer to one search."""

    hits: dict[tuple[str, str], Hit] = field(default_factory=dict)
    capped: list[LookupField] = field(default_factory=list)
    copies: int = 0

    def add(self, question: _Question, hits: Sequence[Hit], total: int) -> None:
        """Add the documents with the values of one class: the first by sequence number, up to the limit."""
        for hit in hits[: question.limit]:
            self.hits[hit.index, hit.id] = hit
        if question.name == "content":
            self.copies = total
        elif total > question.limit:
            self.capped.append(question.name)


class LookUp:
    """Look-ups in one index, or in several."""

    def __init__(self, target: Target, layout: Layout, clause: Clause | None) -> None:
        self._target = target
        self._kinds = layout.kinds
        self._limit = layout.max_hits
        self._clause = clause
        self._answers: list[_Answer] = []

    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        """Look up values; see `Engine.find`."""
        self._answers = [_Answer() for _ in searches]
        questions = [_Question(at, name, search) for at, search in enumerate(searches) for name in search.values]
        questions = [each for each in questions if len(each.values) >= each.min_shared]
        chunks = [range(at, at + TOGETHER) for at in range(0, len(searches), TOGETHER)]
        direct = [each for each in questions if each.min_shared <= 1 and each.name not in LONG_CLUES]
        parts = [asking for chunk in chunks if (asking := [each for each in direct if each.position in chunk])]
        separate = self._distinct_bodies([each for each in questions if each.min_shared > 1])
        batch = list(separate)[:SEARCHES_PER_REQUEST]
        answers = yield from self._send([*map(self._shared_body, parts), *map(orjson.loads, batch)])
        for asking, (hits, total) in zip(parts, answers, strict=False):
            yield from self._assign_hits(asking, hits, total)
        yield from self._distribute(separate, batch, answers[len(parts) :])
        yield from self._send_separately(separate, list(separate)[SEARCHES_PER_REQUEST:])
        yield from self._ask_in_parts([each for each in questions if each.min_shared <= 1 and each.name in LONG_CLUES])
        return [
            LookupResult(
                sorted(each.hits.values(), key=lambda hit: (hit.index, hit.id)), tuple(each.capped), each.copies
            )
            for each in self._answers
        ]

    def _ask_together(self, questions: Sequence[_Question]) -> RequestFlow[None]:
        """Search for all values at once, or in parts if there are too many hits."""
        if questions:
            ((hits, total),) = yield from self._send([self._shared_body(questions)])
            yield from self._assign_hits(questions, hits, total)

    def _shared_body(self, questions: Sequence[_Question]) -> Clause:
        """Build one search for the values of all lookups."""
        clauses = [self._carries(name, values, 1) for name, values in _group_values(questions).items()]
        return self._body(clauses, MAX_TOGETHER)

    def _assign_hits(self, questions: Sequence[_Question], hits: Sequence[Hit], total: int) -> RequestFlow[None]:
        """Add the hits to their lookups; values with too many hits are searched for separately."""
        hits_by_question = self._hits_by_question(questions, hits if total <= MAX_TOGETHER else hits[::SAMPLE_EVERY])
        if total <= MAX_TOGETHER:
            for question, hits_by_name in hits_by_question.items():
                sorted_hits = sorted(hits_by_name.values(), key=lambda hit: hit.order)
                self._answers[question.position].add(question, sorted_hits, len(sorted_hits))
            return
        frequent = {question for question, hits in hits_by_question.items() if len(hits) >= FREQUENT}
        yield from self._ask_apart([each for each in questions if not frequent or each in frequent])
        yield from self._ask_together([each for each in questions if frequent and each not in frequent])

    def _hits_by_question(
        self, questions: Sequence[_Question], hits: Sequence[Hit]
    ) -> Mapping[_Question, dict[tuple[str, str], Hit]]:
        """Assign each hit to the questions whose values it has."""
        asking: defaultdict[tuple[str, str], list[_Question]] = defaultdict(list)
        for question in questions:
            for value in question.values:
                asking[question.name, value].append(question)
        hits_by_question: defaultdict[_Question, dict[tuple[str, str], Hit]] = defaultdict(dict)
        for hit in hits:
            for question in {question for key in _hit_values(hit) for question in asking.get(key, ())}:
                if hit.id != question.search.own_id:
                    hits_by_question[question][hit.index, hit.id] = hit
        return hits_by_question

    def _ask_apart(self, questions: Sequence[_Question]) -> RequestFlow[None]:
        """Search for each class of each lookup separately."""
        questions_by_body = self._distinct_bodies(questions)
        yield from self._send_separately(questions_by_body, list(questions_by_body))

    def _distinct_bodies(self, questions: Sequence[_Question]) -> dict[bytes, list[_Question]]:
        """Build a search for each class of each lookup; equal searches are sent once."""
        questions_by_body: defaultdict[bytes, list[_Question]] = defaultdict(list)
        for question in questions:
            clause = self._carries(question.name, question.values, question.min_shared)
            questions_by_body[orjson.dumps(self._body([clause], question.limit + 1))].append(question)
        return questions_by_body

    def _send_separately(
        self, questions_by_body: Mapping[bytes, list[_Question]], requests: Sequence[bytes]
    ) -> RequestFlow[None]:
        for position in range(0, len(requests), SEARCHES_PER_REQUEST):
            batch = requests[position : position + SEARCHES_PER_REQUEST]
            answers = yield from self._send(list(map(orjson.loads, batch)))
            yield from self._distribute(questions_by_body, batch, answers)

    def _distribute(
        self,
        questions_by_body: Mapping[bytes, list[_Question]],
        requests: Sequence[bytes],
        answers: Sequence[tuple[list[Hit], int]],
    ) -> RequestFlow[None]:
        """Add the hits of each search to the lookups that share it."""
        for request, (hits, total) in zip(requests, answers, strict=True):
            for question in questions_by_body[request]:
                yield from self._add_others(question, hits, total)

    def _add_others(self, question: _Question, hits: Sequence[Hit], total: int) -> RequestFlow[None]:
        """Add the hits of one class, without the searching document itself."""
        other_hits = [hit for hit in hits if hit.id != question.search.own_id]
        if len(other_hits) < len(hits):
            total -= 1
        elif question.search.own_id and question.name == "content" and total > len(hits):
            clause = self._carries(question.name, question.values, question.min_shared)
            ((_, total),) = yield from self._send([self._body([clause], 0, question.search.own_id)])
        self._answers[question.position].add(question, other_hits, total)

    def _ask_in_parts(self, questions: Sequence[_Question]) -> RequestFlow[None]:
        """Search for values of long texts, in halves if there are too many hits; too frequent values are skipped.

        A hit does not say which of these values it has. A banner page or a stock form is in very many documents, and
        without this what else they share would be cut with it.
        """
        parts = [(question, tuple(question.values)) for question in questions]
        hits_by_question: defaultdict[_Question, dict[tuple[str, str], Hit]] = defaultdict(dict)
        while parts:
            halves: list[tuple[_Question, tuple[str, ...]]] = []
            answers = yield from self._send_parts(parts)
            for (question, values), (hits, total) in zip(parts, answers, strict=True):
                other_hits = [hit for hit in hits if hit.id != question.search.own_id]
                if total - (len(hits) - len(other_hits)) <= question.limit:
                    hits_by_question[question] |= {(hit.index, hit.id): hit for hit in other_hits}
                elif len(values) > 1:
                    middle = len(values) // 2
                    halves += [(question, values[:middle]), (question, values[middle:])]
                elif question.name not in self._answers[question.position].capped:
                    self._answers[question.position].capped.append(question.name)
            parts = halves
        for question, hits_by_name in hits_by_question.items():
            answer = self._answers[question.position]
            sorted_hits = sorted(hits_by_name.values(), key=lambda hit: hit.order)
            answer.add(question, sorted_hits, 0 if question.name in answer.capped else len(sorted_hits))

    def _send_parts(
        self, parts: Sequence[tuple[_Question, tuple[str, ...]]]
    ) -> RequestFlow[list[tuple[list[Hit], int]]]:
        """Search for values, one search per part."""
        answers: list[tuple[list[Hit], int]] = []
        for position in range(0, len(parts), SEARCHES_PER_REQUEST):
            bodies = [
                self._body([self._carries(question.name, values, 1)], question.limit + 1)
                for question, values in parts[position : position + SEARCHES_PER_REQUEST]
            ]
            answers += yield from self._send(bodies)
        return answers

    def _send(self, bodies: Sequence[Clause]) -> RequestFlow[list[tuple[list[Hit], int]]]:
        if not bodies:
            return []
        answers: list[Mapping[str, Any]] = (yield self._target.searches(bodies))["responses"]
        for answer in answers:
            if "error" in answer:
                raise build_failure(int(answer["status"]), answer)
        return [
            (list(replace(read_hits(answer), sorts=())), int(answer["hits"]["total"]["value"])) for answer in answers
        ]

    def _body(self, clauses: Sequence[Clause], limit: int, own_id: str = "") -> Clause:
        """Build one search, with hits ordered by sequence number."""
        filters: list[Clause] = [{"bool": {"should": list(clauses), "minimum_should_match": 1}}]
        if self._clause is not None:
            filters.append(self._clause)
        query: Clause = {"bool": {"filter": filters}}
        if own_id:
            query["bool"]["must_not"] = [ids_query([own_id])]
        return with_ids(
            {
                "query": query,
                "size": min(limit, self._limit),
                "track_total_hits": True,
                "sort": ["_seq_no"],
                **packed_options(),
            }
        )

    def _carries(self, name: LookupField, values: Sequence[str], min_count: int) -> Clause:
        """Build the query for documents with at least `min_count` of the values of one class."""
        return with_value_query(self._kinds, name, values, min_count)


def with_value_query(kinds: Collection[str], name: LookupField, values: Sequence[str], min_count: int = 1) -> Clause:
    """Build the query for documents with at least `min_count` of the values of one class."""
    if name == "content":
        return _terms("ibidem.content", values, min_count)
    if name not in OWN_FIELD:
        return _terms("ibidem.keys", values, min_count)
    paths = [f"ibidem.{name}"] * ("lean" not in kinds or "full" in kinds) + ["ibidem.keys"] * ("lean" in kinds)
    ways = [_terms(path, values, min_count) for path in paths]
    return ways[0] if len(ways) == 1 else _match_least(ways, 1)


def _terms(path: str, values: Sequence[str], min_count: int) -> Clause:
    if min_count <= 1:
        return {"terms": {path: list(values)}}
    return _match_least([{"term": {path: value}} for value in values], min_count)


def _match_least(clauses: Sequence[Clause], min_count: int) -> Clause:
    return {"bool": {"should": list(clauses), "minimum_should_match": max(1, min_count)}}


def _group_values(questions: Iterable[_Question]) -> dict[LookupField, list[str]]:
    values: defaultdict[LookupField, dict[str, None]] = defaultdict(dict)
    for question in questions:
        values[question.name].update(dict.fromkeys(question.values))
    return {name: list(keys) for name, keys in values.items()}


def _hit_values(hit: Hit) -> list[tuple[str, str]]:
    packed = unpack(hit.packed) if hit.packed else None
    if packed is None:
        return []
    return [(name, value) for name, values in lookup_keys(packed).items() for value in values]


# documents whose values are asked for in one search

CLAUSES = 900  # clauses of a query; a server takes 1,024


class LeadLookUp:
    """Look-ups among leads."""

    def __init__(self, target: Target, layout: Layout, conditions: Sequence[Clause]) -> None:
        self._target = target
        self._kinds, self._hit_limit = layout.kinds, layout.max_hits
        self._conditions = list(conditions)

    def with_value(self, keys: Sequence[LeadKeys]) -> RequestFlow[list[Hit]]:
        """Read the leads that have any of the values, each once."""
        with_value: dict[tuple[str, str], Hit] = {}
        parts = [keys[start : start + TOGETHER] for start in range(0, len(keys), TOGETHER)]
        while bodies := [(part, body) for part in parts for body in self._bodies(part)]:
            retries: list[Sequence[LeadKeys]] = []
            for answer, (part, _) in zip((yield from self._send([body for _, body in bodies])), bodies, strict=True):
                hits, total = read_hits(answer), int(answer["hits"]["total"]["value"])
                if total > len(hits) and len(part) > 1:
                    retries += [part[: len(part) // 2], part[len(part) // 2 :]]
                with_value |= {(hit.index, hit.id): hit for hit in hits if hit.id}
            parts = list({id(part[0]): part for part in retries}.values())
        return list(with_value.values())

    def _send(self, bodies: Sequence[Clause]) -> RequestFlow[list[Mapping[str, Any]]]:
        answers = (yield self._target.searches(bodies))["responses"]
        for answer in answers:
            if "error" in answer:
                raise build_failure(int(answer["status"]), answer)
        return list(answers)

    def _bodies(self, keys: Sequence[LeadKeys]) -> list[Clause]:
        value_clauses = [
            with_value_query(self._kinds, lookup_field, values) for lookup_field, values in by_class(keys).items()
        ]
        bodies = [self._body(value_clauses)] if value_clauses else []
        several = [
            (lookup_field, values)
            for each in keys
            for lookup_field, values in each.several.items()
            if len(values.values) >= values.min_shared
        ]
        size = max(1, CLAUSES // (2 + max((len(values.values) for _, values in several), default=0)))
        clauses = [self._share_several(lookup_field, values) for lookup_field, values in several]
        return bodies + [self._body(clauses[start : start + size]) for start in range(0, len(clauses), size)]

    def _share_several(self, lookup_field: LookupField, keys: Several) -> Clause:
        """Build a query for documents that share several values of a class, with a length within bounds."""
        lengths = {"range": {"ibidem.length": {"gte": keys.shortest, "lte": keys.longest}}}
        return {
            "bool": {"filter": [with_value_query(self._kinds, lookup_field, keys.values, keys.min_shared), lengths]}
        }

    def _body(self, clauses: Sequence[Clause]) -> Clause:
        """Build one search, with hits ordered by sequence number."""
        clause: Clause = {"bool": {"should": list(clauses), "minimum_should_match": 1}}
        return {
            "query": {"bool": {"filter": [*self._conditions, clause]}},
            "size": self._hit_limit,
            "track_total_hits": True,
            "sort": ["_seq_no"],
            **packed_options(),
        }


def by_class(keys: Sequence[LeadKeys]) -> dict[LookupField, list[str]]:
    """Return the distinct values of those classes for which one shared value is enough."""
    values: defaultdict[LookupField, dict[str, None]] = defaultdict(dict)
    for each in keys:
        for lookup_field, entries in each.values.items():
            values[lookup_field].update(dict.fromkeys(entries))
    return {lookup_field: list(entries) for lookup_field, entries in values.items()}
