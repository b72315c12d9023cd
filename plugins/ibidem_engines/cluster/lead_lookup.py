"""Look-up of the leads that a few hundred documents may join, by two kinds of searches.

One search asks for all values of which one is enough. Values of which several are needed are asked for document by
document, as many in a search as a query may have clauses.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ibidem_engines.cluster.client import build_failure
from ibidem_engines.cluster.dsl import Clause, packed_options
from ibidem_engines.cluster.index import Layout
from ibidem_engines.cluster.lookup import with_value_query
from ibidem_engines.cluster.ranking import read_hits
from ibidem_engines.requests import RequestFlow, Target
from ibidem_engines.stored_groups import Hit, LeadKeys, Several
from ibidem_ingest.signatures.lookup_keys import LookupField

TOGETHER = 250  # documents whose values are asked for in one search

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
