"""Records next to an index: tombstones, overrides, the progress of settling, presets.

A damaged record is skipped, counted and reported; of a damaged progress only the policy is kept.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, TypeVar

import orjson
from xxhash import xxh3_64_hexdigest

from ibidem_core.errors import REMOVE, DamagedRecord, NoIndex, Unavailable, parse_record
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.parameters import PRESETS, Preset
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Outcome, Record, WriteStatus
from ibidem_engines.stored_groups import Ledger, Marks, RecordState, ShardRef, parse_marks
from ibidem_ingest.document import MAX_ID_BYTES, Document
from ibidem_ingest.errors import IbidemError, UsageError
from ibidem_ingest.signatures.lookup_keys import LookupField, stored_keys

T = TypeVar("T")
LookupValues = dict[LookupField, list[str]]  # values under which a document is looked up
Parse = Callable[[Mapping[str, Any]], T]  # makes a value of a record, or raises an error of ours


def check_entry(entry: object, parse: Parse[T]) -> T:
    """Parse a record; every fault is an error of a damaged record."""
    why = "it is not a JSON object"
    try:
        if isinstance(entry, dict):
            return parse(entry)
    except DamagedRecord:
        raise
    except IbidemError as error:
        why = str(error)
    except (KeyError, TypeError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
    raise DamagedRecord(f"a record stored with the index is damaged: {why}", REMOVE)


def read_entries(entries: Iterable[tuple[str, object]], parse: Parse[T]) -> Iterator[tuple[str, T]]:
    """Yield the valid records, by key."""
    for key, entry in entries:
        with suppress(DamagedRecord):
            yield key, check_entry(entry, parse)


def read_ledger(engine: Engine, ledger: Ledger, parse: Parse[T], prefix: str = "") -> Iterator[tuple[str, T]]:
    """Yield the valid records of a ledger, in key order; `ibidem doctor` lists the others."""
    return read_entries(engine.get_records(ledger, prefix), parse)


def read_key(engine: Engine, ledger: Ledger, key: str, parse: Parse[T]) -> T | None:
    """Read the record of one key; None if it is missing or damaged."""
    return next((record for _, record in read_entries([(key, engine.get_record(ledger, key))], parse)), None)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Record of a deletion."""

    version: int  # documents of this version or an older one stay away
    at: str = ""  # when it was set, ISO 8601 with a time zone; empty if that is not known

    @property
    def time(self) -> datetime | None:
        return datetime.fromisoformat(self.at) if self.at else None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Tombstone":
        stone = parse_record(cls, record)
        if (time := stone.time) is not None and time.tzinfo is None:
            raise ValueError(f"at: {stone.at!r} has no time zone")
        return stone


@dataclass(frozen=True, slots=True)
class DeletedDocument:
    """A deleted document; it is kept by its id, as long as its tombstone."""

    version: int  # the version that was stored
    document: Document


def load_overrides(engine: Engine) -> list[Override]:
    return [word for _, word in read_ledger(engine, "overrides", Override.from_record)]


ATTEMPTS = 20  # earlier requests of this process that may be carried out one after the other before each new one


@dataclass(slots=True)
class OwnRecord:
    """A record whose writes replace only its own last write, never a newer record of another process."""

    engine: Engine  # the index that it is next to
    ledger: Ledger
    key: str
    _state: RecordState | None = field(default=None, init=False)

    def write(self, entry: Mapping[str, object]) -> None:
        for _ in range(ATTEMPTS):
            state = self.engine.replace_record(self.ledger, self.key, entry, self._state)
            if state is not None:
                self._state = state
                return
            _, self._state = self.engine.read_record(self.ledger, self.key)  # an earlier request may have been late
        raise contention_error(self.ledger, self.key)


def contention_error(ledger: Ledger, key: str, label: str = "") -> Unavailable:
    """Return the error of a record that others keep changing."""
    return Unavailable(
        f"{label}the record {key!r} of the ledger {ledger!r} is constantly changed by others",
        "try again once the other process has ended",
    )


KEY = "checkpoint"

POLICY = Policy()  # of groups before figures of the collection are counted, or others named


class Conflict(Exception):
    """Another process settles: it has written the checkpoint since it was read, or taken the lease."""


@dataclass(slots=True)
class GroupCheckpoint:
    """Progress of settling, and the policy of the groups."""

    done: dict[str, int] = field(default_factory=dict)  # for each part the number of the last write that is settled
    # For each part the number of the last write when the index was last followed.
    seen: dict[str, int] = field(default_factory=dict)
    joined: dict[str, int] = field(default_factory=dict)  # how many documents have joined a lead so far, by level
    # Index and id of the documents that were about to be written; a process that ended, or stands still, may have
    # written some of them, or write them yet.
    in_hand: list[tuple[str, str]] = field(default_factory=list)
    takeovers: int = 0  # how often a process has gone on where another had documents in hand
    deletions: int = 0  # the engine's count of deletions when groups without a lead were last looked for
    # A hash of each manual decision that groups follow, by its key.
    overrides: dict[str, str] = field(default_factory=dict)
    # The figures that groups are settled by.
    policy: dict[str, object] = field(default_factory=lambda: asdict(POLICY))
    # Where these come from: the default, figures counted in the collection, or a command that named them.
    origin: Literal["default", "collection", "named"] = "default"
    # Whether all documents, and not the new ones alone, are still to be settled by these figures.
    everything: bool = False
    by: Literal["auto", "window"] = "auto"  # the way of searches that name none, as the owner of the index has set it
    guarded: bool = False  # whether any document has fields that must not differ
    counted: int = 0  # number of writes when figures of the collection were last counted
    # The engine's own identity of each index when it was last followed.
    uuids: dict[str, str] = field(default_factory=dict)
    # The engine's state of the record that was read, which it is written in place of; None if there was none. It is no
    # part of the record.
    state: RecordState | None = field(default=None, compare=False)

    def follow_indices(self, parts: Iterable[ShardRef], uuids: Mapping[str, str]) -> bool:
        """Remove the progress of indexes that were deleted or created again; returns whether there were any."""
        known = {**uuids, **self.uuids}
        there = {str(part) for part in parts if known.get(part.index) == uuids.get(part.index)}
        gone = {*self.done, *self.seen} - there
        self.done = {part: number for part, number in self.done.items() if part in there}
        self.seen = {part: number for part, number in self.seen.items() if part in there}
        self.uuids = dict(uuids)
        return bool(gone)

    def choose(self, count: Callable[[Policy | None], Policy | None], *, guarded: bool) -> Policy:
        """Return the policy of all documents: of the collection, unless it was named or too few can be counted.

        `count` returns that of the collection by its earlier one, if it has one, and is called only if it is needed.
        """
        policy, self.guarded = parse_policy(self.policy), guarded
        if self.origin == "named" or (found := count(policy if self.origin == "collection" else None)) is None:
            return policy
        self.policy, self.origin = asdict(found), "collection"
        return found

    def settled_write(self, part: ShardRef) -> int:
        return self.done.get(str(part), 0)

    def take_over(self, engine: Engine) -> None:
        """Take over the checkpoint, so that another process with documents in progress can no longer write it."""
        self.takeovers += 1
        self.save(engine)

    def settle(self, part: ShardRef, end: int, joins: Mapping[str, int]) -> None:
        """Mark all writes of a part up to a sequence number as settled."""
        self.joined = dict(Counter(self.joined) + Counter(joins))
        self.done[str(part)] = end
        self.in_hand = []

    @classmethod
    def read(cls, engine: Engine) -> "GroupCheckpoint":
        """Read the checkpoint of an index; a new one if there is none."""
        entry, state = engine.read_record("groups", KEY)
        checkpoint = cls() if entry is None else checkpoint_of(entry)
        checkpoint.state = state
        return checkpoint

    @classmethod
    def from_record(cls, record: Mapping[str, object]) -> "GroupCheckpoint":
        checkpoint = parse_record(cls, record)
        parse_policy(checkpoint.policy)
        parse_marks({**checkpoint.done, **checkpoint.seen})
        return checkpoint

    def save(self, engine: Engine) -> None:
        """Write the checkpoint next to the index, in place of the one that was read."""
        self.state = engine.replace_record("groups", KEY, self._as_record(), self.state)
        if self.state is None:
            raise Conflict

    def put(self, engine: Engine) -> None:
        """Write the checkpoint next to the index unconditionally; other processes that settle by it start again."""
        engine.put_records("groups", {KEY: self._as_record()})

    def _as_record(self) -> dict[str, object]:
        return {name: value for name, value in asdict(self).items() if name != "state"}


def checkpoint_of(entry: object) -> GroupCheckpoint:
    """Parse a checkpoint; of a damaged one only the policy and its origin are kept: everything is settled again.

    >>> checkpoint_of({"done": "all", "policy": {"window_days": 42}}).policy["window_days"]
    42
    """
    kept = {name: entry[name] for name in ("policy", "origin") if name in entry} if isinstance(entry, dict) else {}
    for record in (entry, kept):
        with suppress(DamagedRecord):
            return check_entry(record, GroupCheckpoint.from_record)
    return GroupCheckpoint()


def has_settled(engine: Engine, goal: Marks) -> bool:
    """Return whether the writes up to some sequence numbers are settled.

    Only these numbers of the record are read: to check the whole record takes a process as long as to settle some
    hundred documents, and most processes only wait.
    """
    entry = engine.get_record("groups", KEY)
    done = entry.get("done") if isinstance(entry, dict) else None
    numbers = done if isinstance(done, dict) else {}
    return all(isinstance(settled := numbers.get(str(part), 0), int) and settled >= end for part, end in goal.items())


def override_hashes(overrides: Sequence[Override]) -> dict[str, str]:
    return {word.key: xxh3_64_hexdigest(orjson.dumps(word.as_record())) for word in overrides}


def parse_policy(record: Mapping[str, object]) -> Policy:
    """Parse a policy; figures missing in the record are the default ones."""
    return parse_record(Policy, record)


MAX_NAME = 100
NO_PRESET = "none"


read_preset = partial(parse_record, Preset)


def check_name(name: str) -> None:
    if name.lower() in {*PRESETS, NO_PRESET}:
        raise UsageError(f"the preset {name!r} is built in", "choose another name")
    if not 0 < len(name) <= MAX_NAME or not all(each.isalnum() or each in "-_." for each in name):
        raise UsageError(f"preset name {name!r} is not allowed", f"use letters, digits, - _ and ., at most {MAX_NAME}")


def save_preset(engine: Engine, name: str, preset: Preset) -> None:
    """Store a preset with an index, replacing a preset of the same name."""
    check_name(name)
    if not engine.info().exists:
        what = f"there is no index {engine.index!r} to store a preset with"
        raise NoIndex(what, "create it first with: ibidem ingest PATH")
    record = {"name": name, "about": preset.about, "policy": asdict(preset.policy)}
    engine.put_records("presets", {name: record})


def lookup_presets(engine: Engine, name: str | None) -> Mapping[str, Preset]:
    """Return the presets for a name: the built-in ones, and those of the index if the name is none of these."""
    if not name or name in PRESETS or name.lower() == NO_PRESET:
        return PRESETS
    presets = dict(PRESETS)
    with suppress(NoIndex):
        presets |= dict(read_ledger(engine, "presets", read_preset))
    if name not in presets:
        with suppress(NoIndex):
            if (record := engine.get_record("presets", name)) is not None:
                check_entry(record, read_preset)  # a damaged one is refused with the reason
    return presets


MAX_VERSION = (1 << 63) - 1
_WHOLE_NUMBERS = range(-(1 << 63), MAX_VERSION + 1)


class UnstorableRecord(ValueError):
    """A record that no engine can store, with the field and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field, self.why = field, reason


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """The stored version of a document, for a conditional write."""

    version: int | None  # its version; None when ibidem never wrote it
    digest: str  # of its record
    state: tuple[int, int]  # two numbers of the engine's own, which another write changes
    origin: str = ""  # the file or place that it was read from; empty if unknown
    index: str = ""  # the index that holds it
    group: str = ""  # name of the group that it leads; empty if it leads none
    others: tuple[str, ...] = ()  # other indexes that hold a document with its id


_AT_FAULT = {WriteStatus.STALE: "version", WriteStatus.REFUSED: "id"}


def decide(record: Record, stored: StoredVersion | None, tombstone: int | None, *, retry: bool = False) -> Outcome:
    """Decide on a write; with `retry`, an equal document may be that of an earlier try."""
    outcome = partial(_outcome, record.document.id, stored)
    if stored and stored.others:
        return outcome(WriteStatus.REFUSED, _several(stored))
    is_equal = stored is not None and stored.digest == record.digest
    if stored and not is_equal and (reason := _clash(record, stored.origin)):
        return outcome(WriteStatus.REFUSED, reason)
    if stored and stored.version is not None and stored.version > record.version:
        return outcome(WriteStatus.STALE, _older(record.version, stored.version))
    if tombstone is not None and tombstone >= record.version:
        return outcome(WriteStatus.STALE, f"version {record.version} was deleted with version {tombstone}")
    if stored and is_equal and not (retry and stored.version == record.version):
        return outcome(WriteStatus.UNCHANGED)
    return outcome(WriteStatus.INDEXED)


def decide_deletions(
    ids: Sequence[str], stored_versions: Mapping[str, StoredVersion], version: int, *, any_version: bool
) -> tuple[dict[str, int], dict[str, Outcome]]:
    """Decide on the deletion of documents; returns the version of each one's tombstone, and the outcome."""
    versions: dict[str, int] = {}
    outcomes: dict[str, Outcome] = {}
    for id_ in ids:
        stored, status, reason = stored_versions.get(id_), WriteStatus.DELETED, ""
        before = stored.version if any_version and stored else None
        versions[id_] = version if before is None else max(version, min(before + 1, MAX_VERSION))
        if stored is None:
            status = WriteStatus.MISSING
        elif stored.others:
            status, reason = WriteStatus.REFUSED, _several(stored)
        elif stored.version is not None and stored.version > versions[id_]:
            status, reason = WriteStatus.STALE, _older(versions[id_], stored.version)
        outcomes[id_] = _outcome(id_, stored, status, reason)
    return versions, outcomes


def _outcome(id_: str, stored: StoredVersion | None, status: WriteStatus, reason: str = "") -> Outcome:
    """Return the outcome of a decision, before anything is written."""
    old_version = stored.version if stored else None
    return Outcome(id_, status, previous_version=old_version, field=_AT_FAULT.get(status, ""), why=reason)


def _older(version: int, stored_version: int) -> str:
    return f"version {version} is older than the one in the index, {stored_version}"


def _several(stored: StoredVersion) -> str:
    """Return why nothing is done with an id that several documents have."""
    indices = ", ".join((stored.index, *stored.others))
    return f"it is in several indexes: {indices}; name one of them in IBIDEM_INDEX, or remove one"


def _clash(record: Record, origin: str) -> str:
    """Return why a record may not replace a document of another origin; empty if it may."""
    document = record.document
    if not origin or not document.origin or document.origin == origin or document.origin.startswith(f"{origin}/"):
        return ""
    return (
        f"the index has this id from {origin}, and this document is from {document.origin}; give --id-prefix, or "
        "delete the other one first"
    )


def tombstone_versions(entries: Mapping[str, Any]) -> dict[str, int]:
    """Return the versions of tombstones by document id; damaged ones are omitted."""
    return {id_: stone.version for id_, stone in read_entries(entries.items(), Tombstone.from_record)}


def new_tombstones(versions: Mapping[str, int], there: Mapping[str, int]) -> dict[str, dict[str, object]]:
    """Return the tombstones of deletions, unless a newer one is there."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    newest = {id_: version for id_, version in versions.items() if there.get(id_, version) <= version}
    return {id_: {"version": version, "at": at} for id_, version in newest.items()}


def write_in_turns(
    records: Sequence[Record],
    prepare: Callable[[Record, LookupValues], T],
    write: Callable[[Mapping[str, T]], Mapping[str, Outcome]],
) -> list[Outcome]:
    """Write the records of one call; in several turns if an id has several origins.

    Only a stored document decides whether a record of another origin is refused; a record that was refused itself must
    not keep the next one out. In each turn `write` gets by id what `prepare` has made of the records.
    """
    last: dict[str, tuple[int, str]] = {}  # the turn and the origin of each id so far
    # In each turn of one origin per id, by id the position of what is written.
    turns: defaultdict[int, dict[str, int]] = defaultdict(dict)
    outcomes: dict[int, Outcome] = {}
    for position, record in enumerate(records):
        id_, origin = record.document.id, record.document.origin
        turn, before = last.get(id_, (0, origin))
        turn += before != origin
        last[id_] = turn, origin
        if (rival := turns[turn].setdefault(id_, position)) != position:
            best, loser = (position, rival) if record.version >= records[rival].version else (rival, position)
            turns[turn][id_] = best
            reason = f"the same id occurs again in this batch, with version {records[best].version}"
            outcomes[loser] = Outcome(id_, WriteStatus.STALE, field="id", why=reason)
    for positions in turns.values():
        current = {at: records[at] for at in sorted(positions.values())}
        ready, unfit = prepare_each(current, lambda at, values: prepare(records[at], values))
        written = write({records[at].document.id: each for at, each in ready.items()}) if ready else {}
        outcomes |= unfit | {at: written[records[at].document.id] for at in ready}
    return [outcomes[at] for at in range(len(records))]


def prepare_each(
    records: Mapping[int, Record], prepare: Callable[[int, LookupValues], T]
) -> tuple[dict[int, T], dict[int, Outcome]]:
    """Prepare records by position, with their look-up values; returns outcomes of those that no engine can store."""
    ready: dict[int, T] = {}
    unfit: dict[int, Outcome] = {}
    keys = stored_keys([(record.packed, record.long) for record in records.values()])
    for (position, record), values in zip(records.items(), keys, strict=True):
        try:
            ready[position] = prepare(position, values)
        except UnstorableRecord as error:
            unfit[position] = Outcome(record.document.id, WriteStatus.REFUSED, field=error.field, why=error.why)
    return ready, unfit


def check_storable(record: Record) -> None:
    """Refuse documents that no engine can store; one of them would make the request fail for all."""
    document = record.document
    for version in (record.version, document.version):
        if version is not None and version not in _WHOLE_NUMBERS:
            raise UnstorableRecord("version", f"{version} does not fit in 64 bits")
    for name in ("id", "title", "text", "date", "source", "url", "language"):
        value: str = getattr(document, name)
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise UnstorableRecord(name, f"a lone surrogate (half a character) at {error.start}") from error
    if not document.id or len(document.id.encode()) > MAX_ID_BYTES:
        raise UnstorableRecord("id", f"an id has 1 to {MAX_ID_BYTES} bytes")


# Remedy for documents of another idf table or schema.
SIGN_AGAIN = (
    "sign them again with: ibidem backfill --into NAME; in SQLite with ibidem ingest PATH, into another IBIDEM_INDEX"
)
