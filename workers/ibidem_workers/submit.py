"""Submission of a run: numbers documents, drops repeated ids, sends batches, and records the progress."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from ibidem_core.errors import EngineError, retry_unavailable
from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import OwnRecord, count_joined
from ibidem_ingest.document import Document, has_unread_date
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers.formats import Choice, Tally
from ibidem_workers.batches import SerializedBatch, SerializedDocument, batch_key, cut, refusals_as_json, serialize
from ibidem_workers.messages import MAX_STRUCTURE, most_of_record, too_dense
from ibidem_workers.processes import this_process
from ibidem_workers.runs import RunRecord, State, new_run, refusals_key

SHOWN = 20  # repeated ids that are kept to be shown
MAX_DAMAGED = 20  # files with replaced bytes that a run names


class SeenIds:
    """The ids of a run so far, as 64-bit hashes.

    Two of a million ids share a hash by chance with a probability of 3 in 100 million (birthday bound n²/2⁶⁵).

    >>> seen = SeenIds()
    >>> [seen.add(id_) for id_ in ("a", "b", "a")], seen.repeated, seen.repeated_ids
    ([None, None, None], 1, ['a'])
    """

    def __init__(self) -> None:
        self.repeated = 0
        self.repeated_ids: list[str] = []
        self._hashes: set[int] = set()
        self._repeated_hashes: set[int] = set()

    def add(self, id_: str) -> None:
        """Add an id; each repeated id is counted once, and the first twenty are kept for display."""
        hash_ = xxhash.xxh3_64_intdigest(id_.encode())
        if hash_ not in self._hashes:
            self._hashes.add(hash_)
            return
        if hash_ in self._repeated_hashes:
            return
        self._repeated_hashes.add(hash_)
        self.repeated += 1
        if len(self.repeated_ids) < SHOWN:
            self.repeated_ids.append(id_)


REFUSALS_A_SLICE = 500
NOTED_EVERY = 2.0

Source = Iterable[Document | Refusal]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Files to ingest, and options for reading them."""

    paths: Sequence[str | Path]  # files and folders; `-` is standard input
    choice: Choice = field(default_factory=Choice)  # how they are read
    note: Callable[[Document | Refusal], Document | Refusal] | None = None  # each passes through it as it is read


class Submission:
    """A run being submitted; its progress is in `record`."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        send: Callable[[str, SerializedBatch], None],
        paths: Sequence[str | Path] = (),
        tally: Tally | None = None,
    ) -> None:
        self.record = RunRecord(new_run(), [str(path) for path in paths], time.time(), holder=this_process())
        self._engine, self._settings, self._send_batch = engine, settings, send
        self._head = OwnRecord(engine, "runs", self.record.key)
        self._patience = float(settings.patience)
        self._tally = tally or Tally()
        self._seen_ids = SeenIds()
        self._refusals: list[Refusal] = []
        self._slices = 0
        self._last_note = 0.0

    def send(self, source: Source, finish: Callable[[], None] = lambda: None) -> RunRecord:
        """Send all documents and record the refusals; the run is interrupted unless it is finished, too."""
        self.record.joined = retry_unavailable(lambda: count_joined(self._engine), self._patience)
        self._note("reading")
        self._log_event("run begun")
        try:
            for batch in cut(self._documents(source), self._settings.batch_characters):
                self._send(batch)
            self._note_refusals()
            finish()
        except BaseException:
            self._patience = 0.0
            with suppress(EngineError):  # the error that stopped the run is the one to report
                self._note_refusals()
                self._note("interrupted")
            self._log_event("run interrupted")
            raise
        self._note("submitted")
        self._log_event("run submitted")
        return self.record

    def _documents(self, source: Source) -> Iterator[SerializedDocument]:
        version = 0
        for number, item in enumerate(source, 1):
            if isinstance(item, Refusal):
                self._refuse(item)
                continue
            version = max(version + 1, time.time_ns() // 1_000)
            location = item.where or f"document {number}"
            try:
                document = serialize(item, version, location)
                reason = self._refusal_reason(document.json)
            except TypeError as error:
                reason = f"it is not JSON: {error}"
            if reason:
                self._refuse(Refusal(location, item.id, "meta", reason))
            else:
                self._seen_ids.add(document.id)
                self._tally.unread_dates += has_unread_date(item)
                yield document

    def _refusal_reason(self, record: bytes) -> str:
        """Return why a record cannot be sent; empty if it can."""
        size, limit = len(record), most_of_record(self._settings)
        if size > limit:
            return f"the document has {size:,} bytes as JSON, at most {limit:,} are allowed; shorten its other fields"
        if size > MAX_STRUCTURE and too_dense(record):
            return "it contains too many lists and numbers; leave out those that do not describe the document"
        return ""

    def _send(self, batch: SerializedBatch) -> None:
        began = time.perf_counter()
        self._send_batch(self.record.run, batch)
        event = {"batch": batch_key(self.record.run, batch.number), "documents": len(batch.documents)}
        _log.debug("batch sent", extra=event | {"send_ms": round(1e3 * (time.perf_counter() - began), 1)})
        self.record.repeated, self.record.repeated_ids = self._seen_ids.repeated, self._seen_ids.repeated_ids
        self.record.batches += 1
        self.record.documents += len(batch.documents)
        if time.monotonic() - self._last_note > NOTED_EVERY:
            self._note("reading")

    def _refuse(self, refusal: Refusal) -> None:
        self.record.refused += 1
        event = {"run": self.record.run, "place": refusal.where, "document": refusal.id, "why": refusal.why}
        _log.info("document refused", extra=event)
        self._refusals.append(refusal)
        if len(self._refusals) == REFUSALS_A_SLICE:
            self._note_refusals()

    def _note_refusals(self) -> None:
        if self._refusals:
            key = refusals_key(self.record.run, self._slices)
            entries = {key: {"refusals": refusals_as_json(self._refusals)}}
            retry_unavailable(lambda: self._engine.put_records("runs", entries), self._patience)
            self._refusals, self._slices = [], self._slices + 1

    def _log_event(self, event: str) -> None:
        record = self.record
        figures = {
            "run": record.run,
            "documents": record.documents,
            "batches": record.batches,
            "refused": record.refused,
        }
        _log.info(event, extra=figures)

    def _note(self, state: State) -> None:
        self.record.state = state
        self.record.meta_fields = sorted(self._tally.moved)
        self.record.passed_over = dict(self._tally.skipped_files)
        self.record.unread_dates = self._tally.unread_dates
        self.record.damaged_bytes = dict(self._tally.damaged_bytes.most_common(MAX_DAMAGED))
        self._last_note = time.monotonic()
        retry_unavailable(lambda: self._head.write(self.record.as_json()), self._patience)
