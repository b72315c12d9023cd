"""Worker processes on the file queue: real ones, killed and started again."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.environment import wait_for
from faults.kill import living
from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_workers.brokers.files import SpoolDirectory
from ibidem_workers.pool import Pool, WorkerFailure
from ibidem_workers.runs import Progress, RunMonitor, summary
from ibidem_workers.submit import Submission


def stories(count: int) -> Iterator[Document]:
    for number in range(count):
        words = " ".join(f"word{number * 7 + step}" for step in range(40))
        yield Document(f"story-{number}", f"Story {number}: {words}.", date="1987-02-26")


def watch(pool: Pool) -> None:
    while not pool.is_ready:
        pool.check()
        time.sleep(0.01)


def queue(settings: Settings) -> SpoolDirectory:
    assert settings.queue_folder is not None
    return SpoolDirectory(settings.queue_folder / settings.queue, settings.lease)


def holders(settings: Settings) -> list[int]:
    """Return the process ids of the workers that hold a message."""
    return [int(path.name.split("~")[1]) for path in queue(settings)._taken_folder.iterdir()]


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(engine: Engine, settings: Settings) -> None:
    settings = settings.changed(batch_characters=20_000)
    killed: list[int] = []
    with Pool(settings, quiet=True) as pool:
        submission = Submission(engine, settings)
        submission.send(stories(1_500))
        watch = RunMonitor(engine, submission.record.run)

        def kill_while_it_works(progress: Progress) -> None:
            pool.check()
            queue(settings).recover()
            at_work = holders(settings)
            if len(killed) < 2 and progress.batches_done > len(killed) and at_work:
                killed.append(at_work[0])
                os.kill(at_work[0], signal.SIGKILL)

        watch.wait(kill_while_it_works)
    assert len(killed) == 2
    counts = summary(engine, submission.record.run)
    assert (counts["read"], counts["indexed"], counts["refused"]) == (1_500, 1_500, 0)
    assert engine.info().documents == 1_500


@pytest.mark.slow
def test_a_worker_that_cannot_start_is_an_error_and_no_endless_waiting(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings_without_tables = settings.changed(tables=tmp_path / "file" / "tables", concurrency=1)
    with Pool(settings_without_tables, quiet=True) as pool, pytest.raises(WorkerFailure, match="file/tables"):
        watch(pool)


@pytest.mark.slow
def test_workers_end_with_their_pool(settings: Settings) -> None:
    with Pool(settings.changed(concurrency=1), quiet=True) as pool:
        watch(pool)
        (pid,) = pool.pids
        assert queue(settings).workers() == 1
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert queue(settings).workers() == 0


@pytest.mark.slow
def test_workers_are_started_anew_when_their_starter_is_killed(settings: Settings) -> None:
    with Pool(settings.changed(concurrency=1), quiet=True) as pool:
        watch(pool)
        (pid,) = pool.pids
        assert pool._starter is not None
        pool._starter.kill()
        pool._starter.wait()
        pool.check()
        watch(pool)
        assert pool.pids != [pid]
        assert wait_for(lambda: not living(pid), 60)
