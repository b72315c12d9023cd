"""One schedule's world: a cluster and a queue in memory, and processes, which run the code of real ones above them."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from ibidem_core.errors import Unavailable
from ibidem_core.settings import Settings
from ibidem_dedupe.overrides import Override, Verdict
from ibidem_engines.engine import WriteStatus
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.batch import load_checkpoint
from ibidem_workers.backfill.replace import replace_opened
from ibidem_workers.groups.follower import follow_decisions, settle
from ibidem_workers.tasks import Delivery, WorkerContext, sign_and_write
from simulation.faults import Faults, FaultyLink
from simulation.memory_cluster import MemoryCluster
from simulation.memory_engine import MemoryEngine
from simulation.memory_queue import MemoryQueue, Messages
from simulation.scheduler import Scheduler
from support.leases import english_tables, rank_counts

RUN = "simulated"

FAMILIES, VARIANTS = 4, 3


class Broken(AssertionError):
    """A promise was not kept."""


@cache
def texts() -> list[list[str]]:
    """Return texts of some families: those of one are near duplicates, except the last, which is short of it."""
    families = []
    for family in range(FAMILIES):
        words = [f"w{chr(97 + family)}{chr(97 + at // 7)}{chr(97 + at % 7)}" for at in range(48)]
        families.append([" ".join([*words[: 48 - variant], *["more"] * variant]) for variant in range(VARIANTS)])
    return families


@cache
def tables() -> Tables:
    """Return small idf tables, made once."""
    folder = TemporaryDirectory(prefix="ibidem-simulation-")
    FOLDERS.append(folder)
    words = sorted({word for family in texts() for text in family for word in text.split()})
    return english_tables(Path(folder.name), rank_counts(words))


FOLDERS: list[TemporaryDirectory[str]] = []  # they go with this process


@dataclass(slots=True)
class World:
    scheduler: Scheduler  # of its processes
    faults: Faults  # what goes wrong
    messages: Messages  # in the queue
    settings: Settings  # settings of all processes
    cluster: MemoryCluster
    # The versions of each document that were submitted.
    submitted: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    # Versions of each document's deletions that were acknowledged.
    deleted: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    # Versions of deletions that were begun.
    tried: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    past: Faults = field(default_factory=Faults)  # what went wrong before all faults ended
    # Pairs of documents of which somebody began to note a decision.
    decided: set[tuple[str, str]] = field(default_factory=set)
    batches: int = 0
    documents: int = 0

    def engine(self, name: str = "news") -> MemoryEngine:
        """Open the index as a process of its own."""
        return MemoryEngine(FaultyLink(self), name)

    def submit(self, number: int, documents: Sequence[Document]) -> None:
        """Send a batch to the queue."""
        for each in documents:
            self.submitted[each.id].append(each.version or 0)
        self.batches += 1
        self.documents += len(documents)
        self.send(number, [each.as_record() for each in documents])

    def send(self, number: int, records: Sequence[dict[str, object]], *, again: bool = False) -> None:
        self.scheduler.pause(0.001)
        self.messages.put(orjson.dumps([number, records, again]))

    def work(self, *, until: Callable[[], bool]) -> None:
        """Take messages and write their documents, as a worker under Celery does, which acknowledges what is done."""
        queue, context = MemoryQueue(self.messages), WorkerContext(self.engine(), tables(), self.settings)
        while True:
            message = queue.get()
            if message is None:
                if until():
                    queue.close()
                    return
                self.scheduler.pause(0.2)
                continue
            number, records, again = orjson.loads(message.body)
            delivery = Delivery(RUN, number, records, died=message.tries > 0, again=again)
            try:
                sign_and_write(context, delivery)
            except Unavailable:
                self.send(number, records, again=True)
            self.scheduler.pause(self.scheduler.rng.random() * 0.01)
            queue.ack(message)

    def delete(self, id_: str, version: int, *, any_version: bool) -> None:
        """Delete a document, and try again until it is acknowledged."""
        self.tried[id_].append(version)
        engine = self.engine()
        while True:
            try:
                (outcome,) = engine.delete([id_], version, any_version=any_version)
            except Unavailable:
                self.scheduler.pause(0.3)
                continue
            if outcome.status in {WriteStatus.DELETED, WriteStatus.MISSING}:
                self.deleted[id_].append(version)
            return

    def decide(self, pair: tuple[str, str], verdict: Verdict) -> None:
        """Note a decision on two documents until it is acknowledged, and settle their groups as `add_override` does."""
        self.decided.add(pair)
        a, b = pair
        word, engine = Override(("news-1", a), ("news-1", b), verdict), self.engine()
        while True:
            try:
                engine.put_records("overrides", {word.key: word.as_record()})
            except Unavailable:
                self.scheduler.pause(0.3)
                continue
            follow_decisions(engine)
            return

    def settle(self, seconds: float, rounds: int) -> None:
        """Settle what is new, some times."""
        for _ in range(rounds):
            try:
                settle(self.engine(), seconds)
            except Unavailable:
                self.scheduler.note("settling is given up")
            self.scheduler.pause(self.scheduler.rng.random() * 2)

    def replace(self, into: str) -> None:
        """Put a copy in the index's place, and begin again where that fails."""
        while True:
            engine = self.engine(into)
            try:
                if self.cluster.aliases["news"] == into and _state(engine, into) == "done":
                    return
                replace_opened(engine, lambda name: self.engine(name).reindex_source(), self.settings)
            except Unavailable:
                self.scheduler.pause(0.5)
                continue
            return


def _state(engine: MemoryEngine, into: str) -> str:
    """Return how far a backfill into an index is."""
    checkpoint = load_checkpoint(engine, into)
    return checkpoint.state if checkpoint else ""
