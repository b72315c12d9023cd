"""Documents of an index in memory, to be copied into another; see `ReindexSource` and `ReindexTarget`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import orjson
from typing_extensions import override

from ibidem_engines.cluster.client import CONFLICT, Action, ActionOutcome
from ibidem_engines.cluster.index import write_order
from ibidem_engines.engine import (
    Destination,
    FieldCounts,
    Outcome,
    Record,
    ReindexSource,
    ReindexTarget,
    Signed,
    SourceDocument,
    WriteStatus,
)
from ibidem_engines.stored_groups import Ledger, Marks, Name, SeqNoRange, ShardRef, new_group
from ibidem_ingest.signatures.schema import SCHEMA, StoredSignatures
from simulation.memory_cluster import Link, Stored


class MemorySource(ReindexSource):
    """Documents of an index in memory."""

    text_field = "text"
    updates_in_part = False

    def __init__(self, link: Link, index: str) -> None:
        self.index = index
        self._link = link
        self._parts: list[ShardRef] = []

    @property
    @override
    def alias(self) -> str:
        return self.index if self.index in self._link.cluster.aliases else ""

    @override
    def check(self, target: Destination) -> None:
        self.parts()

    @override
    def missing_fields(self) -> list[str]:
        return []

    @override
    def parts(self) -> list[ShardRef]:
        if not self._parts:
            found = self._link.call(lambda: self._link.cluster.resolve(self.index), "layout")
            self._parts = [ShardRef(found.name, number) for number in range(len(found.shards))]
        return self._parts

    @override
    def uuids(self) -> Mapping[str, str]:
        found = self._link.cluster.resolve(self.parts()[0].index)
        return {found.name: found.uuid}

    @override
    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        return self._link.newest(self.parts())

    @override
    def count(self, seq_range: SeqNoRange) -> int:
        return len(self._link.states(seq_range))

    @override
    def names(self, seq_range: SeqNoRange, size: int) -> list[Name]:
        return [Name(seq_range.part.index, each.id, each.order) for each in self._link.states(seq_range)[:size]]

    @override
    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        found = self._link.call(lambda: [self._link.cluster.resolve(each.index).get(each.id) for each in names], "mget")
        return [self._document(name, each) for name, each in zip(names, found, strict=True) if each is not None]

    @staticmethod
    def _document(name: Name, each: Stored) -> SourceDocument:
        record = each.record
        return SourceDocument(
            name,
            record.document,
            fault="",
            version=each.version,
            digest=record.digest,
            schema=SCHEMA,
            idf=record.signatures.idf,
            packed=record.packed,
            state=each.state,
            order=each.order,
            engine_version=each.engine_version,
        )

    @override
    def count_fields(self) -> FieldCounts:
        return FieldCounts()

    @override
    def deletions(self) -> int:
        return self._link.call(lambda: sum(self._link.cluster.shard(part).deletions for part in self.parts()))

    @override
    def get_records(self, ledger: Ledger) -> Iterator[tuple[str, Any]]:
        name = self.parts()[0].index
        found = self._link.call(lambda: sorted(self._link.cluster.records.get((name, ledger), {}).items()))
        return ((key, orjson.loads(body)) for key, body in found)

    @override
    def copy_to(self, name: str) -> "MemoryCopy":
        return MemoryCopy(self._link, self.parts()[0].index, name)

    @override
    def close(self) -> None:
        """Close nothing."""


class MemoryCopy(ReindexTarget):
    """The copy of an index in memory, written as that of a cluster is."""

    def __init__(self, link: Link, source: str, name: str) -> None:
        self.index = name
        self._link, self._source = link, source

    @override
    def exists(self) -> bool:
        return self._link.call(lambda: self.index in self._link.cluster.indices)

    @override
    def is_unfilled(self) -> bool:
        return not any(self.newest().values())

    @override
    def create(self, *, with_fields: bool = True) -> None:
        self._link.call(lambda: self._link.cluster.create(self.index), "create")

    def _parts(self) -> list[ShardRef]:
        return [ShardRef(self.index, number) for number in range(len(self._link.cluster.resolve(self.index).shards))]

    @override
    def newest(self, marks: Marks | None = None) -> dict[ShardRef, int]:
        return self._link.newest(self._parts())

    @override
    def count_fields(self) -> FieldCounts:
        return FieldCounts()

    @override
    def take(self, documents: Sequence[Signed]) -> list[Outcome]:
        return self._write(documents, lambda each: ("index", None, each.engine_version))

    @override
    def take_late(self, documents: Sequence[Signed], end: Marks) -> list[Outcome]:
        wanted = {each.name.id for each, _ in documents}
        known = {
            each.id: each.state
            for part, number in end.items()
            for each in self._link.states(SeqNoRange(part, 0, number))
            if each.id in wanted
        }
        outcomes = self._write(
            documents, lambda each: ("index" if each.name.id in known else "create", known.get(each.name.id), None)
        )
        return self._replace_older(documents, outcomes)

    def _replace_older(self, documents: Sequence[Signed], outcomes: list[Outcome]) -> list[Outcome]:
        for at, (each, _) in enumerate(documents):
            while outcomes[at].status is WriteStatus.STALE and each.version:
                there = self._link.call(lambda each=each: self._link.cluster.resolve(self.index).get(each.name.id))
                if there is None or there.version >= each.version:
                    break
                (outcomes[at],) = self._write(
                    [documents[at]],
                    lambda _, there=there: ("index", there.state, None),  # type: ignore[misc]
                )
        return outcomes

    def _write(
        self,
        documents: Sequence[Signed],
        base: Callable[[SourceDocument], tuple[str, tuple[int, int] | None, int | None]],
    ) -> list[Outcome]:
        actions = []
        for each, record in documents:
            own = record or Record(each.document, StoredSignatures(0, "", b""), each.version, digest="", packed=b"")
            verb, state, version = base(each)
            body = self._link.cluster.body(Stored(own, own.version, new_group()))
            actions.append(Action(verb, self.index, each.name.id, body, state, version=version))
        results = self._link.each([partial(self._link.cluster.act, action) for action in actions], "copy")
        return [_outcome(each.name.id, result) for (each, _), result in zip(documents, results, strict=True)]

    @override
    def prune(self, end: Marks) -> int:
        removed = 0
        for part, number in end.items():
            there = self._link.states(SeqNoRange(part, 0, number))
            gone = self._link.call(
                lambda there=there: [
                    each for each in there if self._link.cluster.resolve(self._source).get(each.id) is None
                ],
                "mget",
            )
            actions = [Action("delete", self.index, each.id, state=each.state) for each in gone]
            results = self._link.each([partial(self._link.cluster.act, action) for action in actions], "prune")
            removed += sum(each.status < 300 for each in results)
        return removed

    @override
    def check_alias(self, alias: str) -> None:
        """Refuse none."""

    @override
    def finish(self, alias: str) -> None:
        if alias:
            self._link.call(lambda: self._link.cluster.aliases.update({alias: self.index}), "move alias")


def _outcome(id_: str, result: ActionOutcome) -> Outcome:
    if result.status == CONFLICT:
        return Outcome(id_, WriteStatus.STALE, why="a newer one exists")
    return Outcome(id_, WriteStatus.INDEXED, write_order(result.place))
