"""Validating reader of records: damaged records are skipped, counted and reported."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from ibidem_core.errors import DamagedRecord, Unavailable
from ibidem_core.records import REMOVE, parse_record
from ibidem_dedupe.overrides import Override
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Ledger, RecordState
from ibidem_ingest.document import Document
from ibidem_ingest.errors import IbidemError

T = TypeVar("T")
Parse = Callable[[Mapping[str, Any]], T]  # makes a value of a record, or raises an error of ours


@dataclass(frozen=True, slots=True)
class DamagedEntry:
    """A record that cannot be read."""

    ledger: Ledger
    key: str
    why: str  # the fault


def check_entry(entry: object, parse: Parse[T]) -> T:
    """Parse a record."""
    if not isinstance(entry, dict):
        raise _damaged("it is not a JSON object")
    try:
        return parse(entry)
    except DamagedRecord:
        raise
    except (IbidemError, KeyError, TypeError, ValueError) as error:
        raise _damaged(str(error) if isinstance(error, IbidemError) else f"{type(error).__name__}: {error}") from error


def _damaged(reason: str) -> DamagedRecord:
    return DamagedRecord(f"a record stored with the index is damaged: {reason}", REMOVE)


def read_entries(entries: Iterable[tuple[str, object]], parse: Parse[T]) -> Iterator[tuple[str, T]]:
    """Yield the valid records, by key."""
    for key, entry in entries:
        try:
            record = check_entry(entry, parse)
        except DamagedRecord:
            continue
        yield key, record


def read_ledger(engine: Engine, ledger: Ledger, parse: Parse[T], prefix: str = "") -> Iterator[tuple[str, T]]:
    """Yield the valid records of a ledger, in key order; `ibidem doctor` lists the others."""
    return read_entries(engine.get_records(ledger, prefix), parse)


def read_key(engine: Engine, ledger: Ledger, key: str, parse: Parse[T]) -> T | None:
    """Read the record of one key; None if it is missing or damaged."""
    return next((record for _, record in read_entries([(key, engine.get_record(ledger, key))], parse)), None)


def find_damaged(engine: Engine, ledger: Ledger, parse: Callable[[str], Parse[object]]) -> Iterator[DamagedEntry]:
    """Yield the damaged records of a ledger."""
    for key, entry in engine.get_records(ledger):
        try:
            check_entry(entry, parse(key))
        except DamagedRecord as error:
            yield DamagedEntry(ledger, key, error.what)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """Record of a deletion."""

    version: int  # documents of this version or an older one stay away
    at: str = ""  # when it was set, ISO 8601 with a time zone; empty if that is not known

    @property
    def time(self) -> datetime | None:
        """Time of the deletion."""
        return datetime.fromisoformat(self.at) if self.at else None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Tombstone":
        """Parse a tombstone."""
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
    """Read all overrides."""
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
        """Write the record unconditionally."""
        for _ in range(ATTEMPTS):
            state = self.engine.replace_record(self.ledger, self.key, entry, self._state)
            if state is not None:
                self._state = state
                return
            _, self._state = self.engine.read_record(self.ledger, self.key)  # an earlier request may have been late
        raise Unavailable(
            f"the record {self.key!r} of the ledger {self.ledger!r} is constantly changed by others",
            "try again once the other process has ended",
        )
