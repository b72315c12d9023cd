"""Dead letters: documents that could not be ingested, stored with the reason for a retry.

Of a document that cannot be stored, the id and the beginning of its JSON are kept.
"""

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass
from functools import partial

import orjson

from ibidem_core.records import parse_record
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import read_ledger
from ibidem_ingest.document import ORIGIN, Document, place, printable_id, read_record
from ibidem_ingest.errors import Refusal, Refused, UsageError
from ibidem_ingest.readers.formats import text_hash


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One document that could not be ingested."""

    run: str  # the run that brought it
    refusal: Refusal  # where, which document, which field and why
    tries: int  # how often it was tried
    when: float  # the time of the last try, in seconds since 1970
    record: Mapping[str, object]  # the record as received

    @property
    def key(self) -> str:
        """Key in the ledger, unique per run, so that a failure in a later run does not overwrite it."""
        origin = self.document[1]
        return f"{self.run}/{self.refusal.id}" + (f"/{text_hash(origin)}" if origin else "")

    @property
    def document(self) -> tuple[str, str]:
        """Id and origin of the document, since documents of two files may have the same id."""
        return self.refusal.id, str(self.record.get(ORIGIN, ""))

    def as_json(self) -> dict[str, object]:
        """Return the entry for `ibidem status --dead --json`, with the field, the place and the run."""
        refusal, when = self.refusal, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.when))
        found = {"id": refusal.id, "why": refusal.why, "tries": self.tries, "when": when}
        return {**found, "field": refusal.field, "where": refusal.where, "run": self.run}


def add_dead_letters(engine: Engine, letters: Iterable[DeadLetter]) -> None:
    engine.put_records("dead", {letter.key: asdict(letter) for letter in letters})


def letters(engine: Engine, ids: Collection[str] = ()) -> list[DeadLetter]:
    """Return the latest dead letter of each document, or of some documents."""
    last: dict[tuple[str, str], DeadLetter] = {}
    for _, letter in read_ledger(engine, "dead", read_letter):
        known = last.get(letter.document)
        if (not ids or letter.refusal.id in ids) and (known is None or known.when < letter.when):
            last[letter.document] = letter
    missing = sorted(set(ids) - {id_ for id_, _ in last})
    if missing:
        raise UsageError(f"no failed document {', '.join(map(repr, missing))}", "list them with: ibidem status --dead")
    return list(last.values())


def read_again(letters: Iterable[DeadLetter], max_text: int) -> Iterator[Document | Refusal]:
    """Read the documents of dead letters again, with their original versions, so that newer versions win."""
    for letter in letters:
        try:
            location = place(letter.record, f"failed document of run {letter.run}")
            yield read_record(letter.record, location, max_text, "")
        except Refused as error:
            yield error.refusal


def forget(engine: Engine, letters: Iterable[DeadLetter]) -> None:
    """Delete dead letters, and older ones of the same documents."""
    last = {letter.document: letter.when for letter in letters}
    known = (letter for _, letter in read_ledger(engine, "dead", read_letter))
    engine.delete_records("dead", [each.key for each in known if each.when <= last.get(each.document, 0.0)])


read_letter = partial(parse_record, DeadLetter)

MAX_RECORD = 50 << 20  # bytes of a record that is kept whole; engines take requests of twice that

RECORD_EXCERPT = 10_000  # characters that are kept of a larger record


def writable(record: Mapping[str, object]) -> Mapping[str, object]:
    """Return a record that every engine can store: the same, or its id with the beginning of its JSON.

    >>> writable({"id": "a", "text": 1 << 64})
    {'id': 'a', 'unwritable': '{"id": "a", "text": 18446744073709551616}'}
    """
    try:
        if len(orjson.dumps(record)) <= MAX_RECORD:
            return record
    except (TypeError, ValueError):
        pass
    origin = {ORIGIN: record[ORIGIN]} if ORIGIN in record else {}
    return {"id": printable_id(record)} | origin | {"unwritable": _as_text(record)[:RECORD_EXCERPT]}


def printable(refusal: Refusal) -> Refusal:
    """Return a refusal that every engine can store, with lone surrogates escaped."""
    return Refusal(*(text.encode(errors="backslashreplace").decode() for text in astuple(refusal)))


def _as_text(record: Mapping[str, object]) -> str:
    try:
        return json.dumps(record)
    except (TypeError, ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
