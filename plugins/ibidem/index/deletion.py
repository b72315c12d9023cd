"""Deletion of documents: with their equal copies, taken back while their tombstones last, or with all that is left.

Documents whose files are gone existed at ingest, but no longer do.
"""

import time
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import orjson
from xxhash import xxh3_64_intdigest

from ibidem.comparison.word_diff import common_length
from ibidem.index.documents import TEXTS_AT_ONCE, fetch_documents, fetch_hits, stored_documents
from ibidem_core.errors import EngineError, NoIndex, Unavailable, parse_record
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Outcome, SignatureLookup, WriteStatus
from ibidem_engines.ledger import DeletedDocument, Tombstone, read_entries, read_key, read_ledger
from ibidem_engines.requests import in_slices
from ibidem_ingest.document import Document
from ibidem_ingest.errors import MissingDocument, Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.mail.head import FAMILY
from ibidem_ingest.readers.formats import encode_path
from ibidem_ingest.signatures.lookup_keys import LookupField, lookup_keys
from ibidem_ingest.signatures.packed import PackedColumns, unpack
from ibidem_ingest.text.tokens import tokens
from ibidem_workers.backfill.batch import KEYS, Checkpoint
from ibidem_workers.batches import records
from ibidem_workers.groups.follower import DECISION_S, settle
from ibidem_workers.ingest import check_tables
from ibidem_workers.tasks import MAX_RECORD, DeadLetter, forget, letters

MAX_GONE = 5  # more than one in so many documents of an index are hardly gone on purpose
CONTEXT, EXCERPT = 20, 40  # characters around a difference, and of it

# Fields of `meta` in which equal documents agree: sender, recipients and attachments of mails.
MAIL_FIELDS = ("from", "sender", "to", "recipients", "cc", "bcc", "attachments")
COPY_KEYS: Sequence[LookupField] = ("content", "fingerprint", "bands")  # all bands, as texts of the same words share


class GoneFiles(NamedTuple):
    """The documents of some folders whose files are gone."""

    documents: Mapping[str, str]  # for each id the file that it was read from
    folders: Sequence[str]  # folders of which no file is left
    total: int  # documents of the index

    @property
    def doubt(self) -> str:
        """Why the files may be gone by mistake; empty if it is unlikely."""
        if self.folders:
            return f"no file is left of {self.folders[0]}"
        count = len(self.documents)
        return f"that is more than a fifth of the {self.total:,} of the index" if MAX_GONE * count > self.total else ""


def find_gone(engine: Engine, folders: Sequence[str | Path], seen: Collection[int] = ()) -> GoneFiles:
    """Find documents whose files, in some folders, no longer exist.

    Reads every document of the index once. A document that was just read, from any file, is not gone.
    """
    check_folders(folders)
    roots = tuple(f"{encode_path(Path(folder))}/" for folder in folders)
    gone: dict[str, str] = {}
    left: set[Path] = set()
    total = 0
    for total, document in enumerate(stored_documents(engine), 1):  # noqa: B007 - counted
        if document.origin.startswith(roots):
            # A name that is not UTF-8 is stored escaped, and is assumed to exist.
            if any("\\x" in file or Path(file).exists() for file in _files(document.origin)):
                left.add(_folder(document.origin))
            elif not any(each in seen for each in _hashes(document)):
                gone[document.id] = document.origin
    return GoneFiles(gone, sorted(map(str, set(map(_folder, gone.values())) - left)), total)


def add_seen(seen: set[int], item: Document | Refusal) -> Document | Refusal:
    """Add the id with the text, and the origin, of a document that was read to those of its run; returns it."""
    if isinstance(item, Document):
        seen.update(_hashes(item))
    return item


def _hashes(document: Document) -> list[int]:
    names = f"{document.id}\0{document.text}", document.origin
    return [xxh3_64_intdigest(each.encode()) for each in names if each]


def _folder(origin: str) -> Path:
    *_, file = _files(origin)
    return Path(file).parent


def check_folders(folders: Sequence[str | Path]) -> None:
    remedy = "check whether its disk is mounted; documents are deleted by id with: ibidem delete ID"
    for folder in folders:
        if not Path(folder).is_dir():
            raise UsageError(f"{folder} is not a folder", f"name one that was ingested, or {remedy}")
        if not any(Path(folder).iterdir()):
            raise UsageError(f"{folder} is empty, so every document of it would be gone", remedy)


def _files(origin: str) -> Iterator[str]:
    """Yield the files that an origin may name: rows, mails and attachments have a number after the file name.

    >>> list(_files("/mail/in.mbox:7/2"))
    ['/mail/in.mbox:7/2', '/mail/in.mbox:7', '/mail/in.mbox']
    """
    yield origin
    mail, _, number = origin.rpartition("/")
    if number.isdecimal():
        yield (origin := mail)
    file, _, number = origin.rpartition(":")
    if number.isdecimal():
        yield file


parse_deleted = partial(parse_record, DeletedDocument)


def normalize(text: str) -> str:
    """Return a text in Unicode's form NFC, with single spaces; texts that differ in nothing else are equal."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def difference(a: Document, b: Document) -> str:
    """Describe in which fields two documents differ; empty for equal ones.

    >>> difference(Document("a", "It cost -5,200 dollars."), Document("b", "It cost 5,200 dollars.", title="Costs"))
    'text: “It cost -5,200 dollars.” → “It cost 5,200 dollars.”; title: “” → “Costs”'
    """
    left, right = _fields(a), _fields(b)
    return "; ".join(f"{name}: {_excerpts(left[name], right[name])}" for name in left if left[name] != right[name])


def _fields(document: Document) -> dict[str, str]:
    values = {"text": document.text, "title": document.title, "date": document.date or document.meta.get("sent", "")}
    values |= {name: document.meta.get(name, "") for name in MAIL_FIELDS}
    return {name: normalize(str(each)) for name, each in values.items()}


def _excerpts(a: str, b: str) -> str:
    """Return the first difference of two texts, with what is around it; invisible characters as escapes."""
    begin = common_length(a, b)
    behind = common_length(a[begin:][::-1], b[begin:][::-1])
    shown: list[str] = []
    first = max(a.rfind(" ", 0, max(0, begin - CONTEXT)) + 1, begin - EXCERPT)
    for text in (a, b):
        last = min(len(text) - behind + CONTEXT, begin + EXCERPT)
        part = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text[first:last])
        shown.append(f"“{'…' if first > 0 else ''}{part}{'…' if last < len(text) else ''}”")
    return " → ".join(shown)


class Takedown(NamedTuple):
    """Documents to delete, with the copies found."""

    ids: Sequence[str]  # the ids of the documents, then of their copies, each once
    differences: Mapping[str, str]  # for each document that was found, in what it differs; empty for an equal one

    @property
    def others(self) -> list[str]:
        """Documents that were found, and stay."""
        return sorted(self.differences.keys() - set(self.ids))


def find_copies(engine: Engine, ids: Sequence[str], *, same_words: bool = False) -> Takedown:
    """Find all documents that are equal to one of some documents, or that have its words.

    They are looked up by content hash and fingerprint, and what is stored is compared: equal are text, title, sender,
    recipients and date.
    """
    packed = {hit.id: hit.packed for hit in fetch_hits(engine, ids) if hit.packed is not None}
    if missing := [id_ for id_ in ids if unpack(packed.get(id_, b"")) is None]:
        raise UsageError(
            f"no signed document {', '.join(map(repr, missing))} in index {engine.index!r}",
            "its identical copies cannot be determined; name only documents that exist",
        )
    originals: dict[bytes, list[Document]] = {}
    for document in read_documents(engine, list(packed)):
        originals.setdefault(_words(document), []).append(document)
    found = dict.fromkeys(_candidates(engine, list(packed.values())))
    copies: list[str] = []
    differences: dict[str, str] = {}
    for document in read_documents(engine, [id_ for id_ in found if id_ not in packed]):
        same = originals.get(_words(document), [])
        others = same or [each for group in originals.values() for each in group]
        differences[document.id] = min((difference(each, document) for each in others), key=len)
        if same and (same_words or not differences[document.id]):
            copies.append(document.id)
    return Takedown([*dict.fromkeys(ids), *copies], differences)


def read_documents(engine: Engine, ids: Sequence[str]) -> Iterator[Document]:
    yield from (stored.document for stored in fetch_documents(engine, [(engine.index, id_) for id_ in ids]))


def _words(document: Document) -> bytes:
    """Return a cryptographic hash of the words and figures of a document."""
    return blake2b(" ".join(tokens(document.text)).encode()).digest()


def _candidates(engine: Engine, values: Sequence[bytes]) -> Iterator[str]:
    """Yield the ids of documents with an equal hash or the same bands, which texts share that differ in signs alone.

    The index is scanned for equal words if a look-up was cut.
    """
    searches, columns = [], PackedColumns.decode(values)
    for id_, stored in zip(columns.ids, lookup_keys(values), strict=True):
        keys = {name: each for name, each in stored.items() if name in COPY_KEYS}
        searches.append(SignatureLookup(keys, {"bands": len(keys.get("bands", ()))}, own_id=id_))
    answers = engine.find(searches)
    yield from (hit.id for answer in answers for hit in answer.hits)
    pairs = zip(columns.words.tolist(), answers, strict=True)
    cut = {words for words, answer in pairs if answer.capped or answer.copies > len(answer.hits)}
    for hit in chain.from_iterable(engine.scan()) if cut else ():
        if hit.packed is not None and (other := unpack(hit.packed)) is not None and other.words in cut:
            yield hit.id


def delete(
    engine: Engine, ids: Sequence[str], version: int | None = None, tombstone_days: int = 30, *, keep: bool = True
) -> list[Outcome]:
    """Delete documents; versions submitted earlier are no longer written. What is kept can be taken back."""
    any_version, number = version is None, time.time_ns() // 1_000 if version is None else version
    outcomes: list[Outcome] = []
    for portion in in_slices(ids, TEXTS_AT_ONCE):
        kept = _keep(engine, portion) if keep else dict.fromkeys(portion, 0)
        deleted = engine.delete(portion, number, any_version=any_version)
        gone = {  # the very versions that are kept, or no document at all
            each.id
            for each in deleted
            if each.status is WriteStatus.MISSING
            or (each.status is WriteStatus.DELETED and (each.previous_version or 0) == kept.get(each.id))
        }
        engine.delete_records("deleted", [each.id for each in deleted if not keep or each.id not in gone])
        outcomes += deleted
    engine.refresh()
    clear_tombstones(engine, datetime.now(UTC) - timedelta(days=tombstone_days))
    if refused := [outcome for outcome in outcomes if outcome.status in (WriteStatus.STALE, WriteStatus.REFUSED)]:
        first, remedy = refused[0], "delete it by the name of its index"
        if first.status is WriteStatus.STALE:
            remedy = "leave the version out, which deletes any version, or name a newer one"
        what = f"{len(refused)} of {len(outcomes)} documents are not deleted: {first.id!r}: {first.why}"
        raise UsageError(what, remedy)
    return outcomes


def _keep(engine: Engine, ids: Sequence[str]) -> dict[str, int]:
    """Store documents among the deleted ones; returns their versions."""
    stored = {each.document.id: each for each in engine.fetch([(engine.index, id_) for id_ in ids])}
    entries = {id_: asdict(DeletedDocument(each.version, each.document)) for id_, each in stored.items()}
    if large := [id_ for id_, entry in entries.items() if len(orjson.dumps(entry)) > MAX_RECORD]:
        raise UsageError(f"document {large[0]!r} is too large to be kept for --undo", "delete it with --everything")
    if entries:
        engine.put_records("deleted", entries)
    return {id_: each.version for id_, each in stored.items()}


def clear_tombstones(engine: Engine, cutoff: datetime) -> int:
    """Remove tombstones of deletions before a time, unless replaced meanwhile, and what was deleted with them."""
    old = {
        key: entry
        for key, entry in engine.get_records("tombstones")
        if any(stone.time and stone.time < cutoff for _, stone in read_entries([("", entry)], Tombstone.from_record))
    }
    count = engine.delete_unchanged("tombstones", old)
    if old:
        engine.delete_records("deleted", list(old.keys() - engine.get_records_by_key("tombstones", list(old))))
    return count


def kept_documents(engine: Engine, tombstone_days: int) -> list[dict[str, str]]:
    """List the deletions that can be taken back: id, title, and until when."""
    days = timedelta(days=tombstone_days)
    clear_tombstones(engine, datetime.now(UTC) - days)
    titles = {id_: each.document.title for id_, each in read_ledger(engine, "deleted", parse_deleted)}
    stones = read_entries(engine.get_records_by_key("tombstones", list(titles)).items(), Tombstone.from_record)
    until = {id_: format_until(stone.time + days) for id_, stone in stones if stone.time}
    again = {hit.id for hit in fetch_hits(engine, list(until))}
    return [{"id": id_, "title": titles[id_], "until": until[id_]} for id_ in sorted(until.keys() - again)]


def format_until(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%MZ}"


def undo(engine: Engine, ids: Sequence[str], settings: Settings) -> None:
    """Take back deletions; each document has the version that it had."""
    clear_tombstones(engine, datetime.now(UTC) - timedelta(days=settings.tombstone_days))
    check_tables(engine.info(), engine.index, Tables(settings.tables, settings.index))
    kept = engine.get_records_by_key("deleted", list(ids))
    if missing := [id_ for id_ in ids if id_ not in kept]:  # before the first is restored
        raise _not_kept(missing[0])
    for id_ in ids:
        _restore(engine, id_, settings)
    engine.refresh()
    settle(engine, DECISION_S)


def _not_kept(id_: str) -> MissingDocument:
    return MissingDocument(f"no deleted document {id_!r} is kept", "list those that are: ibidem delete --undo")


def _restore(engine: Engine, id_: str, settings: Settings) -> None:
    """Write a deleted document again, past its tombstone, which is lowered: versions before it still stay away."""
    deleted = read_key(engine, "deleted", id_, parse_deleted)
    stone, state = engine.read_record("tombstones", id_)
    if deleted is None or not isinstance(stone, dict):
        raise _not_kept(id_)
    if any(fetch_hits(engine, [id_])):
        raise UsageError(f"document {id_!r} is in index {engine.index!r} again", "keep it, or ingest the earlier text")
    (record,) = records([deleted.document], Tables(settings.tables, settings.index), settings.distinct)
    lowered = stone | {"version": max(deleted.version - 1, -(1 << 63))}
    if engine.replace_record("tombstones", id_, lowered, state) is None:
        raise Unavailable(f"document {id_!r} is being deleted or written by another process", "try again")
    (outcome,) = engine.write([replace(record, version=deleted.version)])
    if outcome.status not in (WriteStatus.INDEXED, WriteStatus.UNCHANGED):
        engine.put_records("tombstones", {id_: stone})
        raise UsageError(f"document {id_!r} cannot be written: {outcome.why}", "see what is there: ibidem inspect ID")
    engine.delete_records("deleted", [id_])


class Leftovers(NamedTuple):
    """What still holds the text of documents that are deleted."""

    attachments: Sequence[str]  # ids of documents that were attached to them
    dead: Sequence[DeadLetter]  # failed documents
    deleted: Sequence[str]  # ids of documents that were deleted before, and are kept

    def as_json(self) -> dict[str, list[str]]:
        """Return the ids of each kind, as `ibidem delete --json` shows them; kinds without any are left out."""
        dead = sorted({letter.refusal.id for letter in self.dead})
        ids = {"attachments": list(self.attachments), "dead": dead, "deleted": list(self.deleted)}
        return {name: each for name, each in ids.items() if each}

    def remove(self, engine: Engine) -> None:
        """Remove the records; attachments are deleted as documents are."""
        forget(engine, self.dead)
        engine.delete_records("deleted", self.deleted)


def find_leftovers(engine: Engine, ids: Sequence[str]) -> Leftovers:
    """Find what would still hold the texts of some documents without them: by their ids, or by an equal text."""
    attachments = sorted({hit.id for hit in fetch_hits(engine, ids, f"meta.{FAMILY}")} - set(ids))
    known = {*ids, *attachments}
    texts = {normalize(document.text) for document in read_documents(engine, [*ids, *attachments])} - {""}

    def is_left(id_: str, text: object) -> bool:
        return id_ in known or normalize(str(text)) in texts

    dead = [each for each in letters(engine) if is_left(each.refusal.id, each.record.get("text"))]
    kept = read_ledger(engine, "deleted", parse_deleted)
    return Leftovers(attachments, dead, [id_ for id_, each in kept if is_left(id_, each.document.text)])


def still_held(engine: Engine, settings: Settings, ids: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the indexes that a backfill (`--into`) replaced and that still hold some documents, with their ids."""
    try:
        checkpoints = [each for _, each in read_entries(engine.get_records("runs", KEYS), Checkpoint.from_json)]
    except NoIndex:
        return
    for name in sorted({each.source for each in checkpoints if each.into}):
        # A former index that was deleted is gone with its documents.
        with closing(open_engine(settings.address, name)) as former, suppress(EngineError):
            if found := [each.id for each in read_documents(former, ids)]:
                yield name, found
