"""Documents signed as records, and checked for values that an engine can store."""

from collections.abc import Callable, Iterator, Sequence

from ibidem_engines.engine import Engine, Outcome, Record, WriteStatus
from ibidem_ingest.document import MAX_ID_BYTES, Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, long_clues, lookup_keys_batch
from ibidem_ingest.signatures.packed import guard, unpack
from ibidem_ingest.signatures.sign import batches, digest, sign_and_pack

_TEXTS = ("id", "title", "text", "date", "source", "url", "language")
_WHOLE_NUMBERS = range(-(1 << 63), 1 << 63)


class UnstorableRecord(ValueError):
    """A record that no engine can store, with the field and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field, reason)
        self.field = field
        self.why = reason


def clash(record: Record, origin: str) -> str:
    """Return why a record may not replace a document of another origin; empty if it may."""
    document = record.document
    if not origin or not document.origin or document.origin == origin or document.origin.startswith(f"{origin}/"):
        return ""
    return (
        f"the index has this id from {origin}, and this document is from {document.origin}; give --id-prefix, or "
        "delete the other one first"
    )


def write_in_turns(records: Sequence[Record], write: Callable[[Sequence[Record]], list[Outcome]]) -> list[Outcome]:
    """Write the records of one call; in several turns if an id has several origins.

    Only a stored document decides whether a record of another origin is refused; a record that was refused itself must
    not keep the next one out.
    """
    outcomes: dict[int, Outcome] = {}
    for turn in divide_by_origin(records):
        outcomes |= zip(turn, write([records[at] for at in turn]), strict=True)
    return [outcomes[at] for at in range(len(records))]


def divide_by_origin(records: Sequence[Record]) -> list[list[int]]:
    """Split records into turns with one origin per id; returns their positions in the call."""
    last: dict[str, tuple[int, str]] = {}
    turns: list[list[int]] = []
    for position, record in enumerate(records):
        id_, origin = record.document.id, record.document.origin
        turn, before = last.get(id_, (0, origin))
        turn += before != origin
        last[id_] = turn, origin
        if turn == len(turns):
            turns.append([])
        turns[turn].append(position)
    return turns


def check_storable(record: Record) -> None:
    """Refuse documents that no engine can store; one of them would make the request fail for all."""
    document = record.document
    for version in (record.version, document.version):
        if version is not None and version not in _WHOLE_NUMBERS:
            raise UnstorableRecord("version", f"{version} does not fit in 64 bits")
    for name in _TEXTS:
        value: str = getattr(document, name)
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise UnstorableRecord(name, f"a lone surrogate (half a character) at {error.start}") from error
    if not document.id or len(document.id.encode()) > MAX_ID_BYTES:
        raise UnstorableRecord("id", f"an id has 1 to {MAX_ID_BYTES} bytes")


def find_superseded(records: Sequence[Record]) -> dict[int, Outcome]:
    """Return the outcomes of records that a newer or later record of the same turn replaces."""
    best: dict[str, int] = {}
    outcomes: dict[int, Outcome] = {}
    for position, record in enumerate(records):
        rival = best.setdefault(record.document.id, position)
        winner, loser = (position, rival) if record.version >= records[rival].version else (rival, position)
        best[record.document.id] = winner
        if loser != winner:
            reason = f"the same id occurs again in this batch, with version {records[winner].version}"
            outcomes[loser] = Outcome(record.document.id, WriteStatus.STALE, field="id", why=reason)
    return outcomes


def values_of_records(records: Sequence[Record]) -> list[dict[LookupField, list[str]]]:
    """Compute the look-up values of records from their signatures, in one batch."""
    keys = lookup_keys_batch([record.packed for record in records])
    for values, record in zip(keys, records, strict=True):
        if values and record.long:
            values.update(long_clues(LongSignatures.decode(record.long)))
    return keys


def records(documents: Sequence[Document], tables: Tables, distinct: Sequence[str] = ()) -> Iterator[Record]:
    """Sign documents in one batch and return their records."""
    for batch in batches(documents):
        for document, (signatures, packed) in zip(batch, sign_and_pack(batch, tables, distinct), strict=True):
            yield Record(
                document=document,
                signatures=signatures,
                version=document.version or 0,
                digest=digest(document, signatures.idf),
                packed=packed,
            )


# Remedy for documents of another idf table or schema.
SIGN_AGAIN = (
    "sign them again with: ibidem backfill --into NAME; in SQLite with ibidem ingest PATH, into another IBIDEM_INDEX"
)

SAMPLE = 100  # documents that are looked at; one that changed since it was signed decides nothing alone


def check_distinct(engine: Engine, distinct: Sequence[str], *, writes: bool = False) -> None:
    """Refuse fields that an index was not signed with; whoever only reads may name none."""
    if not (distinct or writes):
        return
    hits = next(iter(engine.scan(size=SAMPLE)), [])
    values = [(hit, unpack(hit.packed)) for hit in hits if hit.packed]
    stored = {(hit.index, hit.id): packed.guard for hit, packed in values if packed is not None}
    wanted = dict.fromkeys(stored, bytes(4))
    if distinct and stored:
        wanted |= {(each.index, each.document.id): guard(each.document, distinct) for each in engine.fetch([*stored])}
    judged = [stored[name] == wanted[name] for name in stored if any(stored[name]) or any(wanted[name])]
    if sum(judged) * 2 < len(judged):
        raise UsageError(
            f"IBIDEM_DISTINCT={','.join(distinct)!r}, but index {engine.index!r} was signed with another value",
            "set it to the value of that time; or sign again: on a cluster with ibidem backfill, else with ibidem "
            "ingest into another IBIDEM_INDEX",
        )
