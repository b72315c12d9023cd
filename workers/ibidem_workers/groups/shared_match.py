"""Match of a block, shared with workers on the queue; this process resolves the remaining parts.

Workers take the parts from the front. Who settles takes them from the back, looks for an answer first, and matches the
part itself where there is none. So it never waits: with no worker, a worker that was killed, or one that answers late
or wrongly, it does the work itself.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Protocol
from uuid import uuid4

from ibidem_core.errors import DamagedRecord, EngineError
from ibidem_core.records import parse_record
from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Marks, marks_as_record
from ibidem_workers.groups.block import Join, Row
from ibidem_workers.groups.lookup_match import LookUpMatch, make_row
from ibidem_workers.groups.match_task import OPEN, MatchAnswer, MatchRequest, digest
from ibidem_workers.groups.settle import Settler

_log = logging.getLogger(__name__)


class MatchQueue(Protocol):
    """Queue of match requests to workers."""

    def publish(self, requests: Sequence[Mapping[str, object]]) -> None:
        """Publish requests.

        Raises:
            EngineError: The broker does not take them.
        """

    def purge(self) -> None:
        """Remove the requests that no worker has taken.

        Raises:
            EngineError: The broker does not answer.
        """


@dataclass(eq=False, slots=True)
class SharedMatch:
    """Matches blocks of an index with the help of workers."""

    engine: Engine  # the index; workers note their answers next to it
    settler: Settler  # its groups, and the rules that documents are settled by
    queue: MatchQueue  # where workers are asked
    heartbeat: Callable[[], None]  # called between parts; what it raises ends the match
    size: int  # documents in a part
    _session: str = field(default_factory=lambda: uuid4().hex)
    _blocks: int = 0
    _has_answers: bool = True
    _is_refused: bool = False

    def __call__(self, rows: Sequence[Row], marks: Marks) -> list[Join]:
        """Return the joins of a block."""
        self.settler.refresh()  # workers do not know which leads joined a group meanwhile
        parts = [rows[start : start + self.size] for start in range(0, len(rows), self.size)]
        match = LookUpMatch(self.settler.store, self.settler.rules, marks)
        requests = self._ask(parts, marks)
        joins: dict[DocumentRef, Join] = {}
        answers = 0
        for position in reversed(range(len(parts))):
            self.heartbeat()
            found = self._answer(requests[position], parts[position], match) if position < len(requests) else None
            answers += found is not None
            joins |= (
                {name: join for name, (join, _) in match.first_leads(parts[position]).items()}
                if found is None
                else found
            )
        self._end(requests, answers)
        among_themselves = self.settler.rules.joins([], [row for row in rows if row.name not in joins])
        joins |= {join.name: join for join in among_themselves}
        return [joins[row.name] for row in rows if row.name in joins]

    def _ask(self, parts: Sequence[Sequence[Row]], marks: Marks) -> list[MatchRequest]:
        """Ask workers to match parts; only for one part if the last block got no answers."""
        if self._is_refused or len(parts) < 2:
            return []
        self._blocks += 1
        requests = [self._request(at, part, marks) for at, part in enumerate(parts[: None if self._has_answers else 1])]
        self.engine.put_records("runs", {OPEN: requests[0].is_open})
        try:
            self.queue.publish([asdict(each) for each in requests])
        except EngineError as error:
            _log.warning("groups are settled without workers: %s", error)
            self._is_refused = True
            return []
        return requests

    def _request(self, position: int, rows: Sequence[Row], marks: Marks) -> MatchRequest:
        rules = self.settler.rules
        return MatchRequest(
            self.engine.index,
            self._session,
            self._blocks,
            position,
            [(*row.name, row.order) for row in rows],
            digest(rows, rules),
            marks_as_record(marks),
            asdict(rules.policy),
        )

    def _answer(
        self, request: MatchRequest, rows: Sequence[Row], match: LookUpMatch
    ) -> Mapping[DocumentRef, Join] | None:
        """Return the joins that a worker found for a part; None if there is no valid answer."""
        entry = self.engine.get_record("runs", request.key)
        try:
            answer = parse_record(MatchAnswer, entry) if isinstance(entry, dict) else None
        except DamagedRecord:
            return None
        if answer is None or (answer.digest, answer.is_for) != (request.digest, request.is_open):
            return None
        return verify(answer, rows, match)

    def _end(self, requests: Sequence[MatchRequest], answers: int) -> None:
        """Withdraw open requests, and remove the answers."""
        if not requests:
            return
        self._has_answers = answers > 0
        self.engine.delete_records("runs", [OPEN, *(each.key for each in requests)])
        if answers < len(requests):
            try:
                self.queue.purge()
            except EngineError as error:
                _log.warning("match requests stay in the queue, and no worker answers them: %s", error)


def verify(answer: MatchAnswer, rows: Sequence[Row], match: LookUpMatch) -> Mapping[DocumentRef, Join] | None:
    """Return the joins of an answer; None unless all leads are unchanged and the documents duplicate them."""
    claims = {at: ((index, id_), order) for at, index, id_, order in answer.leads}
    if len(claims) < len(answer.leads) or not all(0 <= at < len(rows) for at in claims):
        return None
    if not claims:
        return {}
    documents = match.store.read(sorted({name for name, _ in claims.values()}), match.marks)
    leads = {(row.name, row.order): row for each in documents if each.lead for row in [make_row(each)]}
    if not all(claim in leads for claim in claims.values()):
        return None
    pairs = [(rows[at], leads[claim]) for at, claim in claims.items()]
    levels = match.rules.levels(pairs)
    joins = {
        row.name: Join(row.name, lead.name, level)
        for (row, lead), level in zip(pairs, levels, strict=True)
        if level is not None
    }
    return joins if len(joins) == len(pairs) else None
