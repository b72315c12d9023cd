"""A cluster in memory: what is written is searched after a refresh, and is a conflict onto a state that has changed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeVar
from zlib import crc32

import orjson

from ibidem_core.errors import NoIndex
from ibidem_engines.cluster.client import CONFLICT, NOT_FOUND, Action, ActionOutcome
from ibidem_engines.engine import Record
from ibidem_engines.stored_groups import SeqNoRange, ShardRef
from ibidem_ingest.signatures.lookup_keys import LookupField, stored_keys

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stored:
    """A document in a shard."""

    record: Record  # as it was written
    version: int  # its version to ibidem
    group: str
    lead: bool = True  # whether it leads the group
    order: int = 0  # number of the write that it comes from, from 1
    engine_version: int = 1  # the engine's own count of writes to it

    @property
    def id(self) -> str:
        return self.record.document.id

    @property
    def state(self) -> tuple[int, int]:
        """What another write changes."""
        return self.order, 1

    @property
    def values(self) -> Mapping[LookupField, frozenset[str]]:
        """Its look-up values."""
        return values_of(self.record.packed, self.record.long)


@lru_cache(maxsize=4_096)
def values_of(packed: bytes, long: bytes = b"") -> Mapping[LookupField, frozenset[str]]:
    """Read look-up values out of signatures."""
    (values,) = stored_keys([(packed, long)])
    return {field: frozenset(each) for field, each in values.items()}


@dataclass(slots=True)
class Shard:
    documents: dict[str, Stored] = field(default_factory=dict)  # documents as they are
    view: dict[str, Stored] = field(default_factory=dict)  # documents as searches see them
    last: int = 0  # number of the last write
    deletions: int = 0  # how many deletions there have been

    def refresh(self) -> None:
        """Show searches all that was written."""
        self.view = dict(self.documents)

    def put(self, document: Stored, engine_version: int | None = None) -> ActionOutcome:
        before = self.documents.get(document.id)
        self.last += 1
        version = engine_version or (before.engine_version + 1 if before else 1)
        self.documents[document.id] = replace(document, order=self.last, engine_version=version)
        return ActionOutcome(200 if before else 201, self.last - 1)

    def remove(self, id_: str) -> ActionOutcome:
        """Delete a document."""
        if id_ not in self.documents:
            return ActionOutcome(NOT_FOUND)
        del self.documents[id_]
        self.last += 1
        self.deletions += 1
        return ActionOutcome(200, self.last - 1)


@dataclass(slots=True)
class MemoryIndex:
    name: str
    uuid: str  # the engine's own name of it
    shards: list[Shard]

    def shard(self, id_: str) -> Shard:
        return self.shards[crc32(id_.encode()) % len(self.shards)]

    def get(self, id_: str) -> Stored | None:
        """Read a document, visible to searches or not."""
        return self.shard(id_).documents.get(id_)


@dataclass(slots=True)
class MemoryCluster:
    """Indexes, aliases and records."""

    shards: int = 1  # how many shards an index gets
    indices: dict[str, MemoryIndex] = field(default_factory=dict)  # the indexes by name
    aliases: dict[str, str] = field(default_factory=dict)  # the index behind each alias
    # JSON by the name next to which it is, ledger and key.
    records: dict[tuple[str, str], dict[str, bytes]] = field(default_factory=dict)
    bodies: dict[bytes, Stored] = field(default_factory=dict)  # what the bodies of actions stand for
    _made: int = 0

    def create(self, name: str) -> None:
        if name not in self.indices and name not in self.aliases:
            self._made += 1
            self.indices[name] = MemoryIndex(name, f"uuid-{self._made}", [Shard() for _ in range(self.shards)])
            self.records[name, "runs"] = {}

    def resolve(self, name: str) -> MemoryIndex:
        """Return the index of a name, or behind an alias."""
        index = self.indices.get(self.aliases.get(name, name))
        if index is None:
            raise NoIndex(f"no index {name!r} in memory", "create it with: ibidem ingest PATH")
        return index

    def shard(self, part: ShardRef) -> Shard:
        return self.resolve(part.index).shards[part.shard]

    def body(self, document: Stored) -> bytes:
        """Return the body of an action that writes a document."""
        key = str(len(self.bodies)).encode()
        self.bodies[key] = document
        return key

    def act(self, action: Action) -> ActionOutcome:
        """Do one action of a bulk request."""
        index = self.resolve(action.index)
        shard, before = index.shard(action.id), index.get(action.id)
        if action.verb == "create" and before is not None:
            return ActionOutcome(CONFLICT)
        if action.state is not None and (before is None or before.state != action.state):
            return ActionOutcome(CONFLICT)
        if action.version is not None and before is not None and before.engine_version > action.version:
            return ActionOutcome(CONFLICT)
        if action.verb == "delete":
            return shard.remove(action.id)
        if action.body is None:
            raise ValueError(action)
        if action.verb == "update":
            return self._update(shard, before, orjson.loads(action.body)["doc"])
        return shard.put(self.bodies[action.body], action.version)

    @staticmethod
    def _update(shard: Shard, before: Stored | None, change: Mapping[str, Any]) -> ActionOutcome:
        if before is None:
            return ActionOutcome(NOT_FOUND)
        fields = {name: value for name, value in change.get("ibidem", change).items() if name in CHANGED}
        return shard.put(replace(before, **fields))

    def names_next_to(self, name: str) -> str:
        """Return the name next to which the records of an index are."""
        return self.aliases.get(name, name)


CHANGED = ("version", "group", "lead")  # what a partial update changes of a document


class Link:
    """The way of requests from one process to the cluster; this one loses and delays nothing."""

    label = "memory"
    waits = False

    def __init__(self, cluster: MemoryCluster) -> None:
        self.cluster = cluster
        self.resend_count = 0

    def call(self, effect: Callable[[], T], what: str = "") -> T:
        """Send a request, and wait for its answer."""
        return effect()

    def each(self, effects: Sequence[Callable[[], T]], what: str = "") -> list[T]:
        """Send a bulk request: each action succeeds or fails alone, and others may come between two."""
        return [effect() for effect in effects]

    def newest(self, parts: Sequence[ShardRef]) -> dict[ShardRef, int]:
        """Refresh parts, and return up to which number each is written."""

        def refresh() -> dict[ShardRef, int]:
            for part in parts:
                self.cluster.shard(part).refresh()
            return {part: self.cluster.shard(part).last for part in parts}

        return self.call(refresh, "newest")

    def states(self, seq_range: SeqNoRange) -> list[Stored]:
        """Return the documents that searches see of a stretch, in the order of writing."""
        found = self.call(lambda: list(self.cluster.shard(seq_range.part).view.values()), "search")
        chosen = [each for each in found if seq_range.after < each.order <= seq_range.end]
        return sorted(chosen, key=lambda each: each.order)
