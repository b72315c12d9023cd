"""Records of documents: signed, checked for what an engine can store."""

from collections.abc import Iterator, Sequence

from ibidem_engines.engine import Outcome, Record, WriteStatus
from ibidem_ingest.document import MAX_ID_BYTES, Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, long_clues, lookup_keys_batch
from ibidem_ingest.signatures.sign import batches, digest, sign_and_pack

_TEXTS = ("id", "title", "text", "date", "source", "url", "language")
_WHOLE_NUMBERS = range(-(1 << 63), 1 << 63)


class UnstorableRecord(ValueError):
    """A record that no engine can store: which field, and why."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(field, why)
        self.field = field
        self.why = why


def clash(record: Record, origin: str) -> str:
    """Return why a record may not replace a document of another origin; empty where it may, or no origin is known.

    Args:
        record: The record to write.
        origin: Where the document in the index was read.
    """
    document = record.document
    if not origin or not document.origin or origin == document.origin:
        return ""
    return (
        f"{document.id} from {document.origin} would replace {document.id} from {origin}; give --id-prefix, or delete "
        "the other one first"
    )


def check_storable(record: Record) -> None:
    """Refuse what no engine can hold; one such document would spoil the request for all others.

    Raises:
        UnstorableRecord: The first field that cannot be stored.
    """
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
                raise UnstorableRecord(name, f"half a character (lone surrogate) at {error.start}") from error
    if not document.id or len(document.id.encode()) > MAX_ID_BYTES:
        raise UnstorableRecord("id", f"an id has 1 to {MAX_ID_BYTES} bytes")


def find_superseded(records: Sequence[Record]) -> dict[int, Outcome]:
    """Find the records of which the same call holds a newer version, or the same one later.

    Returns:
        Their outcomes by their place in the call.
    """
    best: dict[str, int] = {}
    outcomes: dict[int, Outcome] = {}
    for at, record in enumerate(records):
        rival = best.setdefault(record.document.id, at)
        winner, loser = (at, rival) if record.version >= records[rival].version else (rival, at)
        if why := clash(record, records[rival].document.origin) if rival != at else "":
            outcomes[at] = Outcome(record.document.id, WriteStatus.REFUSED, field="id", why=why)
            continue
        best[record.document.id] = winner
        if loser != winner:
            why = f"the same id comes again in this batch, with version {records[winner].version}"
            outcomes[loser] = Outcome(record.document.id, WriteStatus.STALE, field="id", why=why)
    return outcomes


def values_of_records(records: Sequence[Record]) -> list[dict[LookupField, list[str]]]:
    """Read the values under which records are looked up out of their signatures, all at once.

    Args:
        records: A packed value that is empty or damaged names none.
    """
    keys = lookup_keys_batch([record.packed for record in records])
    for values, record in zip(keys, records, strict=True):
        if values and record.long:
            values.update(long_clues(LongSignatures.decode(record.long)))
    return keys


def records(documents: Sequence[Document], tables: Tables, distinct: Sequence[str] = ()) -> Iterator[Record]:
    """Sign documents in one batch and make the records to be written.

    Args:
        documents: Each with its version.
        tables: The idf tables by language.
        distinct: Names of the fields that must not differ between duplicates.
    """
    for batch in batches(documents):
        for document, (signatures, packed) in zip(batch, sign_and_pack(batch, tables, distinct), strict=True):
            yield Record(
                document=document,
                signatures=signatures,
                version=document.version or 0,
                digest=digest(document, signatures.idf),
                packed=packed,
            )
