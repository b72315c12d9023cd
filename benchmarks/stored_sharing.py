"""Settling by look-ups, shared with workers: what who settles and the workers spend; `stored` prints it.

Stories are written and settled, then as many again are written and settled by look-ups, whatever the counts, with a
number of workers on a queue. Seconds are those of the processor, and who settles waits for the workers instead of
matching meanwhile, since the processes outnumber the machine's processors; in SQLite an engine's work is in the
seconds. The serial part is all that who settles does besides matching: reading, deciding among the new documents,
writing joins and the checkpoint.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from redis import Redis

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_workers.celery_app import CeleryMatchQueue, connect_broker, match_queue
from ibidem_workers.groups import follower
from ibidem_workers.groups.follower import Follower
from ibidem_workers.groups.lookup_match import LookUpMatch
from ibidem_workers.groups.match_task import MatchRequest
from ibidem_workers.groups.shared_match import SharedMatch
from ibidem_workers.pool import Pool
from processor import process_seconds
from support.rabbitmq_queues import delete_queues

INDEX = f"sharing{os.getpid()}"
WORKERS = (1, 2, 4)
PATIENCE_S = 120
read_answer = SharedMatch._answer  # noqa: SLF001 - what is measured waits for an answer first
NEW = 10_000  # documents that are settled with workers: one block


class NobodyThere:
    """Queue that nobody reads."""

    def publish(self, requests: Sequence[Mapping[str, object]]) -> None:
        """Take requests."""

    def purge(self) -> None:
        """Forget them."""


@dataclass
class Meter:
    """Counts what who settles matches itself."""

    seconds: float = 0.0  # of the processor
    documents: int = 0  # that it matched
    _match: Any = field(default=LookUpMatch.first_leads, repr=False)

    def first_leads(self, match: LookUpMatch, rows: Sequence[Any]) -> Any:
        """Match rows, and count."""
        began = time.process_time()
        found = self._match(match, rows)
        self.seconds += time.process_time() - began
        self.documents += len(rows)
        return found


@dataclass(frozen=True)
class Shares:
    """Processor seconds of one settling."""

    serial: float  # of who settles, besides matching
    own: float  # of who settles, matching
    workers: Sequence[float]
    documents: int  # that workers matched
    groups: int  # groups afterwards

    @property
    def total(self) -> float:
        """Of all processes."""
        return self.serial + self.own + sum(self.workers)


def measure(engine: Engine, queue: Any, pids: Sequence[int] = ()) -> Shares:
    """Settle what is new by look-ups, with the help of workers."""
    meter = Meter()
    before, began = [process_seconds(each) for each in pids], time.process_time()
    with (
        patch.object(LookUpMatch, "first_leads", lambda *given: meter.first_leads(*given)),  # noqa: PLW0108 - a method
        patch.object(SharedMatch, "_answer", wait_for_answer if pids else SharedMatch._answer),  # noqa: SLF001
    ):
        Follower(engine, queue=queue).catch_up()
    spent = time.process_time() - began
    workers = [process_seconds(each) - earlier for each, earlier in zip(pids, before, strict=True)]
    groups = engine.groups().counts().groups
    return Shares(spent - meter.seconds, meter.seconds, workers, NEW - meter.documents, groups)


def wait_for_answer(match: SharedMatch, request: MatchRequest, *given: Any) -> Any:
    """Wait for the answer, instead of matching the documents meanwhile."""
    end = time.monotonic() + PATIENCE_S
    while match.engine.get_record("runs", request.key) is None and time.monotonic() < end:
        time.sleep(0.2)
    return read_answer(match, request, *given)


def shared(settings: Settings) -> Shares:
    """Settle with as many workers as the settings say, all of which are ready."""
    connect_broker(settings)
    with ExitStack() as stack:
        stack.callback(remove_queues, settings)
        pool = stack.enter_context(Pool(settings))
        engine = open_engine(settings.engine, settings.index)
        stack.callback(engine.close)
        while not all_ready(pool, settings):
            pool.check()
            time.sleep(0.1)
        return measure(engine, CeleryMatchQueue(settings), pool.pids)


def all_ready(pool: Pool, settings: Settings) -> bool:
    """Return whether all workers take messages."""
    workers = pool._workers.values()  # noqa: SLF001 - elsewhere it is enough that one is ready
    return len(workers) == settings.workers and all(each.ready for each in workers)


def remove_queues(settings: Settings) -> None:
    """Remove the queues of a run."""
    if settings.broker.startswith("redis"):
        Redis.from_url(settings.broker).delete(f"ibidem:{settings.queue}", f"ibidem:{match_queue(settings)}")
    else:
        delete_queues(settings)


def rows(source: Path, brokers: Mapping[str, str]) -> Iterator[str]:
    """Yield the table's rows."""
    with TemporaryDirectory(prefix="ibidem-sharing-") as folder, patch.object(follower, "LEADS_PER_DOCUMENT", -1):
        path = Path(folder) / "index.sqlite"
        copyfile(source, path)
        engine = open_engine(f"sqlite:////{path}", INDEX)
        alone = measure(engine, NobodyThere())
        engine.close()
        yield row("none", 0, alone)
        for name, address in brokers.items():
            for workers in WORKERS:
                copyfile(source, path)
                settings = Settings(
                    engine=f"sqlite:////{path}",
                    index=INDEX,
                    broker=address,
                    tables=Path(folder) / "tables",
                    concurrency=workers,
                )
                shares = shared(settings)
                if shares.groups != alone.groups:
                    raise RuntimeError(f"{shares.groups} groups with workers, {alone.groups} without")
                yield row(name, workers, shares)


def row(name: str, workers: int, shares: Shares) -> str:
    """Write a row."""
    busiest = max(shares.workers, default=shares.own)
    seconds = f"{shares.serial:.2f} | {shares.own:.2f} | {busiest:.2f} | {sum(shares.workers):.2f} | {shares.total:.2f}"
    share = f"{shares.serial / shares.total:.0%}"
    return f"{name} | {workers} | {shares.documents:,} | {seconds} | {share} | {shares.serial + busiest:.2f}"
