"""Look-up of group leads in a cluster: the candidates of some hundred documents, in two kinds of search.

One search asks for all values of which one is enough. Values of which several are needed are asked for document by
document, as many in a search as a query may have clauses.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ibidem_engines.cluster.dsl import Clause, only_packed
from ibidem_engines.cluster.errors import failure_of
from ibidem_engines.cluster.index import Layout
from ibidem_engines.cluster.lookup import holders_query
from ibidem_engines.cluster.ranking import read_hits
from ibidem_engines.cluster.requests import RequestFlow, Target
from ibidem_engines.engine import Hit
from ibidem_engines.stored_groups import Several, Wanted
from ibidem_ingest.signatures.lookup_keys import LookupField

TOGETHER = 250
"""Documents whose values are asked for in one search."""

CLAUSES = 900
"""Clauses of a query; a server takes 1,024."""


class LeadLookUp:
    """Look-ups among leads.

    Args:
        target: Where they are sent.
        layout: What the index was made for.
        among: The leads to be looked among.
    """

    def __init__(self, target: Target, layout: Layout, among: Sequence[Clause]) -> None:
        self._target = target
        self._kinds, self._most = layout.kinds, layout.most_hits
        self._among = list(among)

    def carriers(self, wanted: Sequence[Wanted]) -> RequestFlow[list[Hit]]:
        """Read the leads that carry what is wanted, each once."""
        carriers: dict[tuple[str, str], Hit] = {}
        parts = [wanted[at : at + TOGETHER] for at in range(0, len(wanted), TOGETHER)]
        while parts:
            bodies = [(part, body) for part in parts for body in self._bodies(part)]
            if not bodies:
                break
            again: list[Sequence[Wanted]] = []
            for answer, (part, _) in zip((yield from self._sent([body for _, body in bodies])), bodies, strict=True):
                hits, total = read_hits(answer), int(answer["hits"]["total"]["value"])
                if total > len(hits) and len(part) > 1:
                    again += [part[: len(part) // 2], part[len(part) // 2 :]]
                carriers |= {(hit.index, hit.id): hit for hit in hits if hit.id}
            parts = list({id(part[0]): part for part in again}.values())
        return list(carriers.values())

    def _sent(self, bodies: Sequence[Clause]) -> RequestFlow[list[Mapping[str, Any]]]:
        answers = (yield self._target.searches(bodies))["responses"]
        for answer in answers:
            if "error" in answer:
                raise failure_of(int(answer["status"]), answer)
        return list(answers)

    def _bodies(self, wanted: Sequence[Wanted]) -> list[Clause]:
        one = [holders_query(self._kinds, clue, some) for clue, some in by_class(wanted).items()]
        bodies = [self._body(one)] if one else []
        several = [(clue, one) for each in wanted for clue, one in each.several.items() if len(one.values) >= one.least]
        size = max(1, CLAUSES // (2 + max((len(one.values) for _, one in several), default=0)))
        clauses = [self._several(clue, one) for clue, one in several]
        return bodies + [self._body(clauses[at : at + size]) for at in range(0, len(clauses), size)]

    def _several(self, clue: LookupField, wanted: Several) -> Clause:
        """Ask for enough of a document's values of a class, at a length within bounds."""
        lengths = {"range": {"ibidem.length": {"gte": wanted.shortest, "lte": wanted.longest}}}
        return {"bool": {"filter": [holders_query(self._kinds, clue, wanted.values, wanted.least), lengths]}}

    def _body(self, clauses: Sequence[Clause]) -> Clause:
        """Write one search, its hits in the order of writing."""
        one: Clause = {"bool": {"should": list(clauses), "minimum_should_match": 1}}
        return {
            "query": {"bool": {"filter": [*self._among, one]}},
            "size": self._most,
            "track_total_hits": True,
            "sort": ["_seq_no"],
            **only_packed(),
        }


def by_class(wanted: Sequence[Wanted]) -> dict[LookupField, list[str]]:
    """Gather the values of which one is enough, each once."""
    values: defaultdict[LookupField, dict[str, None]] = defaultdict(dict)
    for each in wanted:
        for clue, some in each.values.items():
            values[clue].update(dict.fromkeys(some))
    return {clue: list(some) for clue, some in values.items()}
