"""Run of an ingest, from the command line or a program: sends documents through the queue into the index.

With the file queue, local workers are started, supervised and stopped; otherwise other workers take the documents.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import chain
from pathlib import Path
from typing import Any, Self

from typing_extensions import override

from ibidem_core.errors import EngineError, Unavailable, retry_unavailable
from ibidem_core.settings import Settings, load
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.records import SIGN_AGAIN, check_distinct
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError, short_repr
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import Tally
from ibidem_workers import dead_letters
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.celery_app import connect_broker
from ibidem_workers.groups.service import settle_all
from ibidem_workers.inline_worker import MAX_CHARACTERS, MAX_DOCUMENTS, work_inline
from ibidem_workers.pool import Pool
from ibidem_workers.runs import AGAIN, Progress, RunMonitor, summary
from ibidem_workers.submit import IngestRequest, Source, Submission


def check_tables(engine: Engine, tables: Tables) -> None:
    """Refuse to add documents to an index signed with another table of the same language.

    A table that this folder does not hold cannot be judged; `ibidem doctor` names it.
    """
    for name, documents in engine.info().tables.items():
        table = tables.named(name) if name else None
        now = tables.of(table.language) if table is not None else None
        if table is not None and now is not None and now.name != name:
            raise UsageError(
                f"index {engine.index!r} holds {documents:,} documents signed with the idf table {name}, "
                f"and {now.name} is now the one of {table.language!r}",
                f"{SIGN_AGAIN}; or go back with: ibidem idf use {name}",
            )


IN_FLIGHT = 200  # batches in the file queue beyond which the submission pauses
LOOKS_EVERY = 0.2
RECOVERS_EVERY = 1.0
WARNS_AFTER = 30.0  # seconds without a result after which a run says that there may be no worker

MAX_FILE_BYTES = 5_000_000  # bytes of files beyond which a run is not small, whatever they hold

MAX_SECONDS = 0.5  # seconds in which the files of a run are read that is worked on inline

_log = logging.getLogger(__name__)

Report = Callable[[Progress], None]
GroupReport = Callable[[int], None]


class Interruption(EngineError):
    """A run was interrupted; everything sent so far is kept."""


def ingest(
    request: IngestRequest,
    settings: Settings,
    *,
    wait: bool = True,
    report: Report = lambda _: None,
    report_groups: GroupReport = lambda _: None,
) -> str:
    """Ingest files and folders."""
    tally = Tally()
    source = read(
        request.paths, request.choice, settings.max_text, tally, settings.read_seconds, processes=settings.workers
    )
    source = map(request.note, source) if request.note else source
    return ingest_documents(
        source, settings, wait=wait, report=report, report_groups=report_groups, tally=tally, paths=request.paths
    )


def ingest_documents(  # noqa: PLR0913 - the options of one command, each by its name
    source: Source,
    settings: Settings,
    *,
    wait: bool = True,
    report: Report = lambda _: None,
    report_groups: GroupReport = lambda _: None,
    tally: Tally | None = None,
    paths: Sequence[str | Path] = (),
) -> str:
    """Ingest documents, as `ingest` does; refusals among them are recorded."""
    with closing(open_engine(settings.address, settings.index)) as engine:
        if not wait:
            _prepare(engine, settings)
            return Submission(engine, settings, paths, tally).send(source).run
        with _LocalRun(engine, settings, report, paths) as local:
            _prepare(engine, settings)
            engine.group_set()  # groups that cannot be settled are refused before anything is written
            run = local.run(source, tally)
        retry_unavailable(lambda: settle_all(engine, report_groups), settings.patience)
        return run


def _prepare(engine: Engine, settings: Settings) -> None:
    """Create the index if missing; refuse an index that cannot be written, or an unavailable broker."""
    engine.create()
    _check_shards(engine)
    check_tables(engine, Tables(settings.tables))
    check_distinct(engine, settings.distinct, writes=True)
    connect_broker(settings)


def _check_shards(engine: Engine) -> None:
    """Refuse an index with missing shards immediately, instead of waiting for the timeout."""
    for ailment in engine.health_issues():
        if ailment.stops:
            raise Unavailable(ailment.what, ailment.remedy)


def retry(ids: Sequence[str], settings: Settings, *, wait: bool = True, report: Report = lambda _: None) -> str:
    """Ingest the documents of dead letters again, as a new run; the letters are removed once they are queued."""
    engine = open_engine(settings.address, settings.index)
    try:
        letters = dead_letters.letters(engine, ids)
        source = dead_letters.read_again(letters, settings.max_text)
        run = ingest_documents(source, settings, wait=wait, report=report, paths=["dead letters"])
        dead_letters.forget(engine, letters)
    finally:
        engine.close()
    return run


class _LocalRun(ExitStack):
    """A run that this process waits for; with the file queue, it starts its own workers."""

    def __init__(self, engine: Engine, settings: Settings, report: Report, paths: Sequence[str | Path]) -> None:
        super().__init__()
        self._engine, self._settings, self._report, self._paths = engine, settings, report, paths
        self._may_be_small = settings.queue_folder is not None and _are_small_files(paths)
        self._folder: SpoolDirectory | None = None
        self._pool: Pool | None = None
        self._watch: RunMonitor | None = None
        self._run = ""
        self._last_look = self._last_recovery = 0.0
        self._last_all_done = time.monotonic()
        self._is_warned = False

    @override
    def __enter__(self) -> Self:
        """Start the workers of a large run, which load while the engine creates the index."""
        super().__enter__()
        if not self._may_be_small and self._is_queue_empty():
            self._start_workers()
        return self

    @override
    def __exit__(self, *details: Any) -> bool | None:  # noqa: PYI036 - as the base has them
        """Stop the workers; Ctrl-C still stops the run."""
        try:
            return super().__exit__(*details)
        except KeyboardInterrupt as error:
            raise self._interruption() from error

    def _interruption(self) -> Interruption:
        return Interruption(
            f"run {self._run} was stopped; documents already sent are in the queue",
            f"{AGAIN}; progress: ibidem status {self._run}",
        )

    def _is_queue_empty(self) -> bool:
        """Return whether the queue is empty; messages of an earlier run are not signed before all checks."""
        folder = self._settings.queue_folder
        return (
            folder is not None
            and not SpoolDirectory(folder / self._settings.queue, self._settings.lease).count_waiting()
        )

    def run(self, source: Source, tally: Tally | None) -> str:
        """Send all documents, wait for their results, and return the run's name."""
        submission = Submission(self._engine, self._settings, self._paths, tally, self._pause_while_full)
        run = self._run = submission.record.run
        try:
            items, is_small = self._begin(source) if self._may_be_small else (source, False)
            if not is_small:
                self._start_workers()
            submission.send(items)
            if is_small and not work_inline(self._engine, self._settings):
                self._start_workers()
            self._monitor().wait(self._tend)
        except KeyboardInterrupt as error:
            raise self._interruption() from error
        return run

    def _begin(self, source: Source) -> tuple[Source, bool]:
        """Read the first documents; returns all documents, and whether they are few enough for this process.

        Workers are started while files are read where that takes a while.
        """
        items, began, characters = iter(source), time.monotonic(), 0
        head: list[Document | Refusal] = []
        for item in items:
            head.append(item)
            characters += len(item.text) if isinstance(item, Document) else 0
            is_small = len(head) <= MAX_DOCUMENTS and characters <= MAX_CHARACTERS
            if not is_small or time.monotonic() - began > MAX_SECONDS:
                return chain(head, items), False
        return head, True

    def _start_workers(self) -> None:
        """Start workers if the queue is a folder and none are running."""
        folder = self._settings.queue_folder
        if folder is not None and self._pool is None:
            self._folder = SpoolDirectory(folder / self._settings.queue, self._settings.lease)
            self._pool = self.enter_context(Pool(self._settings, quiet=True))

    def _pause_while_full(self) -> None:
        """Pause while the queue is full, so that a large collection does not fill the disk twice."""
        if time.monotonic() - self._last_look > max(LOOKS_EVERY, self._monitor().pause):
            self._tend(self._monitor().look())
        while self._folder is not None and self._folder.count_waiting() >= IN_FLIGHT:
            self._tend(self._monitor().look())
            time.sleep(self._monitor().pause)

    def _monitor(self) -> RunMonitor:
        if self._watch is None:
            self._watch = RunMonitor(self._engine, self._run, self._settings.patience)
        return self._watch

    def _tend(self, progress: Progress) -> None:
        """Restart dead workers, requeue their messages, and report progress."""
        self._last_look = time.monotonic()
        if self._pool is not None:
            self._pool.check()
        if self._folder is not None and self._last_look - self._last_recovery > RECOVERS_EVERY:
            self._last_recovery = self._last_look
            self._folder.recover()
        self._warn_of_idleness(progress)
        self._report(progress)

    def _warn_of_idleness(self, progress: Progress) -> None:
        """Warn once if batches wait and none is taken: workers may be missing, or take those of another index."""
        now = time.monotonic()
        if progress.batches <= progress.batches_done:
            self._last_all_done = now
        idle = min(progress.idle, now - self._last_all_done)
        if self._settings.queue_folder is None and idle > WARNS_AFTER and not self._is_warned:
            self._is_warned = True
            _log.warning(
                "no worker has finished a batch of run %s in %d seconds; each index has workers of its own: "
                "start some with the same settings: IBIDEM_INDEX=%s ibidem worker",
                self._run,
                idle,
                self._settings.index,
            )


def _are_small_files(paths: Sequence[str | Path]) -> bool:
    """Return whether paths are a few small files; a folder may be large, and a pipe may be slow."""
    files = [Path(path) for path in paths]
    if not 0 < len(files) <= MAX_DOCUMENTS or not all(map(Path.is_file, files)):
        return False
    return sum(file.stat().st_size for file in files) <= MAX_FILE_BYTES


def submit(
    documents: Iterable[Document | Refusal], settings: Settings | None = None, *, wait: bool = True
) -> dict[str, object]:
    """Send documents through the queue into the index.

    Args:
        documents: Documents from `read`, `read_record` or made by hand; refusals among them are noted.
        settings: Where to; read from environment and files when None.
        wait: Whether to wait until every document is accounted for; with the file queue workers are then started.

    Returns:
        State of the run, as `ibidem ingest --json` prints it.

    Raises:
        UsageError: An item is not a document; the documents before it are in the queue.
        Unavailable: Engine or broker did not answer.
    """
    if isinstance(documents, str | bytes | Mapping) or not isinstance(documents, Iterable):
        raise UsageError(f"{short_repr(documents)} is not a list of documents", "give a list: [Document(id, text), …]")
    settings = settings or load()
    run = ingest_documents(map(_document, documents), settings, wait=wait)
    engine = open_engine(settings.address, settings.index)
    try:
        return summary(engine, run)
    finally:
        engine.close()


def _document(value: object) -> Document | Refusal:
    """Refuse a value that is neither a document nor a refusal; fields are checked at signing."""
    if not isinstance(value, Document | Refusal):
        raise UsageError(f"{short_repr(value)} is not a document", "create one with Document(id, text) or read_record")
    return value
