"""Dead letters: documents that could not be ingested, with the reason, kept so that they can be tried again.

Of a document that cannot be stored, the id and the beginning of its JSON are kept.
"""

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import orjson

from ibidem_core.records import parse_record
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document, printable_id, read_record
from ibidem_ingest.errors import Refusal, Refused, UsageError


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One document that could not be ingested.

    Args:
        run: The run that brought it.
        refusal: Where, which document, which field and why.
        tries: How often it was tried.
        when: The time of the last try, in seconds since 1970.
        record: The document as it came.
    """

    run: str
    refusal: Refusal
    tries: int
    when: float
    record: Mapping[str, object]

    @property
    def key(self) -> str:
        """Its key in the ledger: a later run that fails again never overwrites it, and dropping one drops no other."""
        return f"{self.run}/{self.refusal.id}"

    def as_json(self) -> dict[str, object]:
        """Return an entry of `ibidem dead list --json`, with the field, the place and the run."""
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.when))
        refusal = self.refusal
        return {
            "id": refusal.id,
            "why": refusal.why,
            "tries": self.tries,
            "when": when,
            "field": refusal.field,
            "where": refusal.where,
            "run": self.run,
        }


def add_dead_letters(engine: Engine, letters: Iterable[DeadLetter]) -> None:
    """Store dead letters."""
    engine.put_records("dead", {letter.key: _to_entry(letter) for letter in letters})


def letters(engine: Engine, ids: Collection[str] = ()) -> list[DeadLetter]:
    """Return the last dead letter of each document, or of some documents.

    Raises:
        UsageError: A document has no dead letter.
    """
    last: dict[str, DeadLetter] = {}
    for letter in _read_all(engine):
        id_ = letter.refusal.id
        if (not ids or id_ in ids) and (id_ not in last or last[id_].when < letter.when):
            last[id_] = letter
    missing = sorted(set(ids) - last.keys())
    if missing:
        raise UsageError(f"no failed document {', '.join(map(repr, missing))}", "see: ibidem dead list")
    return list(last.values())


def drop(engine: Engine, ids: Collection[str]) -> int:
    """Delete the dead letters of some documents; returns of how many documents."""
    dead_letters = letters(engine, ids) if ids else []
    forget(engine, dead_letters)
    return len(dead_letters)


def read_again(letters: Iterable[DeadLetter], max_text: int) -> Iterator[Document | Refusal]:
    """Read the documents of dead letters again, each with the version it came with: a newer one still wins.

    Args:
        letters: The letters.
        max_text: The most characters that a text may have.
    """
    for letter in letters:
        try:
            yield read_record(letter.record, f"failed document of run {letter.run}", max_text, "")
        except Refused as error:
            yield error.refusal


def forget(engine: Engine, letters: Iterable[DeadLetter]) -> None:
    """Delete dead letters, and older ones of the same documents."""
    last = {letter.refusal.id: letter.when for letter in letters}
    engine.delete_records(
        "dead", [entry.key for entry in _read_all(engine) if entry.when <= last.get(entry.refusal.id, 0.0)]
    )


def _read_all(engine: Engine) -> Iterator[DeadLetter]:
    for _, entry in engine.get_records("dead"):
        yield read_letter(entry)


def _to_entry(letter: DeadLetter) -> dict[str, object]:
    return {
        "run": letter.run,
        "refusal": letter.refusal.as_json(),
        "tries": letter.tries,
        "when": letter.when,
        "record": dict(letter.record),
    }


def read_letter(entry: Mapping[str, object]) -> DeadLetter:
    """Read a dead letter from its record.

    Raises:
        DamagedRecord: It is no such record.
    """
    return parse_record(DeadLetter, entry)


MOST = 50 << 20
"""Bytes of a record that is kept whole; engines take requests of twice that."""

BEGINNING = 10_000
"""Characters that are kept of a larger record."""


def writable(record: Mapping[str, object]) -> Mapping[str, object]:
    """Return a record that every engine stores: this one, or its id with the beginning of its JSON.

    >>> writable({"id": "a", "text": 1 << 64})
    {'id': 'a', 'unwritable': '{"id": "a", "text": 18446744073709551616}'}
    """
    try:
        if len(orjson.dumps(record)) <= MOST:
            return record
    except (TypeError, ValueError):
        pass
    return {"id": printable_id(record), "unwritable": _as_text(record)[:BEGINNING]}


def printable(refusal: Refusal) -> Refusal:
    """Return a refusal that every engine stores: half a surrogate pair is replaced by its number."""
    return Refusal(
        where=_escape(refusal.where),
        id=_escape(refusal.id),
        field=_escape(refusal.field),
        why=_escape(refusal.why),
    )


def _as_text(record: Mapping[str, object]) -> str:
    try:
        return json.dumps(record)
    except (TypeError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


def _escape(text: str) -> str:
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
