"""Write target: the index, the fields and the connection for writing documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ibidem_core.address import Fields
from ibidem_engines.cluster.bulk import Action, ActionOutcome, run
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.records import LedgerStore
from ibidem_engines.cluster.source import Values, as_source
from ibidem_engines.cluster.stored_version import StoredVersion, read_versions
from ibidem_engines.engine import Record
from ibidem_engines.ledger import Tombstone, read_entries
from ibidem_engines.stored_groups import own_group
from ibidem_ingest.signatures.content import group_name


@dataclass(slots=True)
class WriteMode:
    """Whether a write reads the stored version first, depending on this process's recent writes."""

    # Skip the read while most documents are new. The first write always reads: a missing shard then fails at once, not
    # after the one-minute write timeout.
    expects_new: bool = False

    def learn(self, count: int, documents: int) -> None:
        """Record how many of some documents already existed."""
        self.expects_new = 2 * count <= documents


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """The index, fields and connection for writing documents."""

    cluster: ClusterClient
    index: str  # the index that new documents are written to, or the data stream
    fields: Fields  # names of a document's fields in it
    layout: str  # `full` or `lean`
    ledgers: LedgerStore  # the records next to the index
    mode: WriteMode = field(default_factory=WriteMode)  # whether a write reads first
    indices: tuple[str, ...] = ()  # all indexes of the name, the newest last: a document is replaced where it is
    is_set: bool = False  # whether other indexes may hold the same ids

    def group(self, id_: str, stored_version: StoredVersion | None = None) -> str:
        """Return the name of the group that a document leads after it is written.

        A lead keeps the name of its group, so that its followers are found.
        """
        if stored_version and stored_version.group:
            return stored_version.group
        if not self.is_set:
            return group_name(id_)
        newest = self.index if self.index in self.indices else self.indices[-1]
        return own_group(stored_version.index if stored_version else newest, id_)

    def source(
        self, record: Record, values: Values | None = None, stored_version: StoredVersion | None = None
    ) -> bytes:
        """Serialize a record as JSON."""
        return as_source(record, self.fields, self.layout, values, group=self.group(record.document.id, stored_version))

    def stored_versions(self, ids: Sequence[str]) -> dict[str, StoredVersion]:
        """Read the stored versions of some ids."""
        return read_versions(self.cluster, self.indices or (self.index,), ids) if ids else {}

    @property
    def reads_first(self) -> bool:
        """Whether a write must read first: with several indexes, only a read shows where a document is."""
        return len(self.indices) > 1 or not self.mode.expects_new

    def tombstones(self, ids: Sequence[str]) -> dict[str, int]:
        """Read the tombstone versions of some ids."""
        return tombstone_versions(self.ledgers.get_keys("tombstones", ids))

    def run(self, actions: Sequence[Action]) -> list[ActionOutcome]:
        """Run actions as bulk requests."""
        return run(self.cluster, actions)


def tombstone_versions(entries: Mapping[str, Any]) -> dict[str, int]:
    """Return the versions of tombstones by document id; damaged ones are omitted."""
    return {id_: stone.version for id_, stone in read_entries(entries.items(), Tombstone.from_record)}
