"""Match as a task: a message asks a worker to match documents; the answer is stored next to the index.

A message names the documents; the worker reads them itself, and looks up the leads that are settled. Nothing in an
answer is believed: who asked reads the leads that it names, and decides on each pair once more. That a document has
no lead cannot be seen, so an answer holds only for the very texts, figures and manual decisions of the question.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

import orjson

from ibidem_core.errors import EngineError
from ibidem_core.records import parse_record
from ibidem_dedupe.overrides import Overrides
from ibidem_engines.engine import Engine
from ibidem_engines.group_checkpoint import parse_policy
from ibidem_engines.ledger import load_overrides
from ibidem_engines.stored_groups import Marks, StoredGroups, parse_marks
from ibidem_ingest.distribution import installed_version
from ibidem_ingest.errors import UsageError
from ibidem_workers.groups.block import Row, Rules
from ibidem_workers.groups.lookup_match import LookUpMatch, make_row

OPEN = "groups/match"  # key of the record that names the block whose documents are matched now

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """Documents of a block to match against the settled leads."""

    index: str  # the index, as the settings of its workers name it
    session: str  # name of the settling that asks; leads do not change their numbers while it lasts
    block: int  # number of the block in it
    part: int  # number of these documents in the block
    # Index and id of each, and the number of the write that it comes from, in the order of writing.
    names: list[tuple[str, str, int]]
    digest: str  # of their packed values, the rules and the program, as `digest` makes it
    marks: dict[str, int]  # up to which write of each part leads are settled
    policy: dict[str, object]  # the figures that groups are settled by

    @property
    def key(self) -> str:
        """Key of the answer's record; the next block uses the same key."""
        return f"{OPEN}/{self.part}"

    @property
    def is_open(self) -> dict[str, object]:
        """Record of an open request."""
        return {"session": self.session, "block": self.block}


@dataclass(frozen=True, slots=True)
class MatchAnswer:
    """The first settled lead of each document that duplicates one."""

    digest: str  # that of the request
    session: str  # that of the request
    block: int  # that of the request
    # Position of a document in the request, index and id of its lead, and the number of the lead's write.
    leads: list[tuple[int, str, str, int]]

    @property
    def is_for(self) -> dict[str, object]:
        """Record of the answer's block."""
        return {"session": self.session, "block": self.block}


def digest(rows: Sequence[Row], rules: Rules) -> str:
    """Return a digest of everything that a match depends on, except for the leads."""
    # Another version of the program may decide in another way.
    state = sha256(
        orjson.dumps([installed_version(), asdict(rules.policy), [word.as_record() for word in rules.overrides.words]])
    )
    for row in rows:
        state.update(orjson.dumps([*row.name, row.order, len(row.value)]))
        state.update(row.value)
    return state.hexdigest()


class MatchWorker:
    """Answers match requests for one index."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session = ""
        self._store: StoredGroups | None = None

    def answer(self, message: Mapping[str, object]) -> bool:
        """Match the documents of a request, and store the answer; returns whether the request was still open.

        What cannot be answered is left to who asked.
        """
        try:
            request = parse_record(MatchRequest, message)
            marks = parse_marks(request.marks)
            self._engine = self._engine.group_set(use_cache=True)
            if request.index != self._engine.index or not self._is_awaited(request):
                return False
            answer = self._match(request, marks)
            if answer is None or not self._is_awaited(request):
                return False
            self._engine.put_records("runs", {request.key: asdict(answer)})
        except (EngineError, UsageError, ValueError) as error:
            _log.warning("documents are not matched by this worker, but by the process that asked: %s", error)
            return False
        return True

    def _is_awaited(self, request: MatchRequest) -> bool:
        return bool(self._engine.get_record("runs", OPEN) == request.is_open)

    def _match(self, request: MatchRequest, marks: Marks) -> MatchAnswer | None:
        """Match documents; None if they, the rules or the index's parts have changed since the request."""
        store = self._store_of(request.session)
        documents = {(each.name.index, each.name.id): each for each in store.read([name[:2] for name in request.names])}
        rows = [make_row(documents[name[:2]]) for name in request.names if name[:2] in documents]
        rules = Rules(parse_policy(request.policy), Overrides(load_overrides(self._engine)))
        if digest(rows, rules) != request.digest or set(marks) != set(store.parts()):
            return None
        position = {row.name: at for at, row in enumerate(rows)}
        found = LookUpMatch(store, rules, marks).first_leads(rows)
        leads = [(position[name], *join.lead, order) for name, (join, order) in found.items()]
        return MatchAnswer(request.digest, request.session, request.block, leads)

    def _store_of(self, session: str) -> StoredGroups:
        """Return the store of a session; its cached leads are discarded at the end of the session."""
        if self._store is None or session != self._session:
            self._session, self._store = session, self._engine.groups()
        return self._store
