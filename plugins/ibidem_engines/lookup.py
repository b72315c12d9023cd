"""Looking up signature values in a cluster: one search for each document, thirty in a request."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from ibidem_engines.dsl import Clause, by_id, only_packed, with_ids
from ibidem_engines.engine import CONTENT_HITS, Clue, Found, Hit, Search
from ibidem_engines.faults import failure_of, judged
from ibidem_engines.hits import needs_ids, read_hits
from ibidem_engines.wire import Cluster
from ibidem_ingest.signatures.clues import clues
from ibidem_ingest.signatures.packed import unpack

AT_ONCE = 30
"""Searches in a request: fifty documents of twenty-five terms in one query pass the servers' limit of clauses."""

PREFIXED: frozenset[Clue] = frozenset(("fingerprint", "fingerprint_binned", "profile"))
"""Hashes of which the index holds more digits than are looked up."""

Question = tuple[Search, Sequence[Clue], int]


class LookUp:
    """Look-ups in one index.

    Args:
        cluster: The cluster.
        index: The index.
        kinds: The layouts of what the name stands for: `full`, `lean` or both.
        among: The only documents to be looked among; None for all.
    """

    def __init__(self, cluster: Cluster, index: str, kinds: frozenset[str], among: Clause | None) -> None:
        self._cluster = cluster
        self._index = index
        self._kinds = kinds
        self._among = among

    def find(self, searches: Sequence[Search]) -> list[Found]:
        """Look up values; see `Engine.find`.

        All classes of a document are asked for at once. Only where that brings more hits than one class may have is
        each class asked for alone, to say which of them was cut.
        """
        questions = [(search, _asked(search), search.limit) for search in searches]
        answers = self._answers([question for question in questions if question[1]])
        found: list[Found | None] = []
        for search, classes, limit in questions:
            hits, total = next(answers) if classes else ([], 0)
            found.append(_found(search, hits) if total <= limit else None)
        return [each or self._one_by_one(search) for each, search in zip(found, searches, strict=True)]

    def _one_by_one(self, search: Search) -> Found:
        """Look up each class alone."""
        hits: dict[tuple[str, str], Hit] = {}
        capped: list[Clue] = []
        same = 0
        classes = _asked(search)
        limits = [max(search.limit, CONTENT_HITS) if name == "content" else search.limit for name in classes]
        answers = self._answers([(search, [name], limit) for name, limit in zip(classes, limits, strict=True)])
        for name, limit, (some, total) in zip(classes, limits, answers, strict=True):
            hits |= {(hit.index, hit.id): hit for hit in some}
            if name == "content":
                same = total
            elif total > limit:
                capped.append(name)
        return Found(_ordered(hits.values()), capped, same)

    def _answers(self, questions: Sequence[Question]) -> Iterator[tuple[list[Hit], int]]:
        """Ask in requests of thirty; yields hits and their exact number."""
        for at in range(0, len(questions), AT_ONCE):
            bodies = [self._body(*question) for question in questions[at : at + AT_ONCE]]
            yield from self._send(bodies)

    def _send(self, bodies: Sequence[Clause]) -> list[tuple[list[Hit], int]]:
        """Send searches; those with hits that hold no id are sent once more."""
        answers = self._msearch(bodies)
        again = [at for at, answer in enumerate(answers) if needs_ids(answer)]
        for at, answer in zip(again, self._msearch([with_ids(bodies[at]) for at in again]), strict=True):
            answers[at] = answer
        return [(read_hits(answer), int(answer["hits"]["total"]["value"])) for answer in answers]

    def _msearch(self, bodies: Sequence[Clause]) -> list[Mapping[str, Any]]:
        if not bodies:
            return []
        head = orjson.dumps({"allow_partial_search_results": False})
        lines = [line for body in bodies for line in (head, orjson.dumps(body))]
        answers: list[Mapping[str, Any]] = self._cluster.ask_lines(f"/{self._index}/_msearch", lines)["responses"]
        for answer in answers:
            if "error" in answer:
                raise judged(failure_of(int(answer["status"]), answer), self._cluster.shown)
        return answers

    def _body(self, search: Search, classes: Sequence[Clue], limit: int) -> Clause:
        """Write one search."""
        should = [self._carries(name, search) for name in classes]
        kept: list[Clause] = [{"bool": {"should": should, "minimum_should_match": 1}}]
        if self._among is not None:
            kept.append(self._among)
        query: Clause = {"bool": {"filter": kept}}
        if search.own:
            query["bool"]["must_not"] = [by_id([search.own])]
        return {"query": query, "size": limit, "track_total_hits": True, "sort": ["_doc"], **only_packed()}

    def _carries(self, name: Clue, search: Search) -> Clause:
        """Ask for documents that carry enough of the values of one class."""
        values = list(dict.fromkeys(search.values[name]))
        least = search.least.get(name, 1)
        ways = [_lean(values, least)] if "lean" in self._kinds else []
        if "full" in self._kinds or not ways:
            ways.append(_full(name, values, least))
        return ways[0] if len(ways) == 1 else {"bool": {"should": ways, "minimum_should_match": 1}}


def _full(name: Clue, values: Sequence[str], least: int) -> Clause:
    """Ask in the field of the class."""
    field = f"ibidem.{name}"
    if name in PREFIXED:
        return _at_least([{"prefix": {field: value}} for value in values], least)
    return _terms(field, values, least)


def _lean(values: Sequence[str], least: int) -> Clause:
    """Ask in the one field that holds all; values of two classes are never alike."""
    return _terms("ibidem.keys", values, least)


def _terms(field: str, values: Sequence[str], least: int) -> Clause:
    if least <= 1:
        return {"terms": {field: list(values)}}
    return _at_least([{"term": {field: value}} for value in values], least)


def _at_least(clauses: Sequence[Clause], least: int) -> Clause:
    return {"bool": {"should": list(clauses), "minimum_should_match": max(1, least)}}


def _asked(search: Search) -> list[Clue]:
    """List the classes with enough values to be found."""
    return [name for name, values in search.values.items() if len(set(values)) >= search.least.get(name, 1)]


def _found(search: Search, hits: Sequence[Hit]) -> Found:
    """Count the copies among hits that are all there are."""
    contents = set(search.values.get("content", ()))
    same = sum(not contents.isdisjoint(_contents(hit)) for hit in hits) if contents else 0
    return Found(_ordered(hits), (), same)


def _contents(hit: Hit) -> list[str]:
    packed = unpack(hit.packed) if hit.packed else None
    return [] if packed is None else clues(packed)["content"]


def _ordered(hits: Iterable[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (hit.index, hit.id))
