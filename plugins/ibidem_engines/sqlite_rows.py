"""A record as the rows that SQLite stores; what cannot be stored is refused before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import orjson

from ibidem_engines.engine import Fate, Outcome, Record
from ibidem_engines.seen import marks
from ibidem_engines.sqlite_file import Row
from ibidem_engines.sqlite_keys import marked, values_of_record, words
from ibidem_engines.superseded import superseded
from ibidem_ingest.dates import interval
from ibidem_ingest.groupname import group_name

MOST_CHARACTERS = 200_000_000
"""SQLite takes values of 1,000,000,000 bytes; a character may need four, and a row holds more than its text."""

_WHOLE_NUMBERS = range(-(1 << 63), 1 << 63)


class _Unfit(ValueError):
    """A record that cannot be stored: which field, and why."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(field, why)
        self.field = field
        self.why = why


@dataclass(frozen=True, slots=True)
class Ready:
    """A record as rows.

    Args:
        at: Its place in the call.
        record: The record.
        row: The columns of its row in the documents table, from `id` on.
        keys: Its look-up values as words, those of its long signatures too.
    """

    at: int
    record: Record
    row: Row
    keys: str

    @property
    def id(self) -> str:
        """The document's id."""
        return self.record.document.id


def prepare(records: Sequence[Record]) -> tuple[list[Ready], dict[int, Outcome]]:
    """Make rows of records.

    Returns:
        The rows, one for each id, and the outcomes of records that are refused, or that another record of the same call
        supersedes, by their place in the call.
    """
    outcomes = superseded(records)
    facts: dict[int, Row] = {}
    for at, record in enumerate(records):
        if at not in outcomes:
            try:
                facts[at] = _facts(record)
            except _Unfit as unfit:
                outcomes[at] = Outcome(record.document.id, Fate.REFUSED, field=unfit.field, why=unfit.why)
    values = {at: values_of_record(records[at]) for at in facts}
    hashes = _marks([marked(values[at]) for at in facts])
    ready = [
        Ready(at, records[at], (*_head(records[at]), its_marks, *its_facts), words(values[at]))
        for (at, its_facts), its_marks in zip(facts.items(), hashes, strict=True)
    ]
    return ready, outcomes


def _head(record: Record) -> Row:
    """Fill the columns from `id` to `packed`."""
    return record.document.id, record.version, record.digest, record.packed or None


def _facts(record: Record) -> Row:
    """Fill the columns from `signed` to `group`, once the record is found fit to be stored."""
    document, signatures = record.document, record.signatures
    _check(record)
    try:
        first, last = interval(document.date)
    except ValueError as error:
        raise _Unfit("date", str(error)) from error
    try:
        meta = orjson.dumps(dict(document.meta)).decode()
    except TypeError as error:
        raise _Unfit("meta", f"JSON cannot hold it: {error}") from error
    signed = int(bool(record.packed) and signatures.length > 0)
    names = (document.source, document.language, first, last, document.date, document.url)
    return (signed, signatures.idf, *names, document.version, len(document.pages), meta, group_name(document.id))


def _check(record: Record) -> None:
    """Refuse what SQLite cannot hold."""
    document = record.document
    if len(document.text) > MOST_CHARACTERS:
        raise _Unfit("text", f"{len(document.text)} characters; SQLite takes {MOST_CHARACTERS}")
    for version in (record.version, document.version):
        if version is not None and version not in _WHOLE_NUMBERS:
            raise _Unfit("version", f"{version} does not fit in 64 bits")
    for field in ("id", "text", "title", "source", "language", "date", "url"):
        value: str = getattr(document, field)
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise _Unfit(field, f"half a character (lone surrogate) at {error.start}") from error


def _marks(values: Sequence[list[str]]) -> list[bytes]:
    """Hash each document's values, all in one go."""
    hashes = marks(list(chain.from_iterable(values)))
    ends = list(accumulate(map(len, values)))
    return [hashes[end - len(some) : end].tobytes() for end, some in zip(ends, values, strict=True)]
