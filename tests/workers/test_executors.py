"""Processes that work on batches without a broker: real ones, killed, stopped, and ended by a document."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.environment import wait_for
from faults.kill import children, living
from ibidem_core.errors import EngineError
from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import IbidemError
from ibidem_workers import executors, tasks
from ibidem_workers.ingest import Progress, ingest_documents, summary
from workers.conftest import fill

pytestmark = pytest.mark.slow

# A document harms its process: it ends it, or is signed for ever.
HARM = """
import os, sys, time
from ibidem_workers import batches, executors, tasks

sign, tasks.SIGN_SECONDS = batches.sign_and_pack, 2

def harmed(documents, *others):
    for document in documents:
        if "poison" in document.text:
            os._exit(139)
        if "slow" in document.text:
            time.sleep(600)
    return sign(documents, *others)

batches.sign_and_pack = harmed
"""
HARMED = f"{HARM}executors.main(sys.argv[1])"

# A command of few documents, which are signed in its own process.
FEW = f"""{HARM}
from ibidem_core.settings import load
from ibidem_ingest.document import Document
from ibidem_workers.ingest import ingest_documents

executors.COMMAND = (sys.executable, "-c", {HARMED!r})
ingest_documents([Document(str(at), "union " * at or "poison") for at in range(7)], load(), paths=["few.jsonl"])
"""

INGESTS = """
import sys
from ibidem_core.settings import load
from ibidem_ingest.document import Document
from ibidem_workers.ingest import ingest_documents

def source():
    yield from (Document(str(at), "word " * 900) for at in range(9))
    print("now", flush=True)
    sys.stdin.read()

ingest_documents(source(), load())
"""


def stories(count: int) -> Iterator[Document]:
    for number in range(count):
        words = " ".join(f"word{number * 7 + step}" for step in range(40))
        yield Document(f"story-{number}", f"Story {number}: {words}.", date="1987-02-26")


def harm(settings: Settings, signum: signal.Signals, times: int) -> tuple[str, list[int]]:
    """Ingest stories, and send a signal to processes that work on them; returns the run, and whom it was sent to."""
    hit: list[int] = []
    seen: dict[int, int] = {}  # how many batches were done when each process was first seen
    others = children(os.getpid())  # such as servers of tests

    def tend(progress: Progress) -> None:
        living_ones = [pid for pid in children(os.getpid()) if pid not in {*others, *hit}]
        seen.update({pid: progress.batches_done for pid in living_ones if pid not in seen})
        at_work = [pid for pid in living_ones if progress.batches_done > seen[pid] + 1]
        if len(hit) < times and at_work:
            hit.append(at_work[0])
            os.kill(at_work[0], signum)

    alone = settings.changed(batch_characters=5_000, concurrency=1)  # what is done is done by the process that is seen
    return ingest_documents(stories(1_500), alone, report=tend), hit


@pytest.mark.parametrize(("signum", "times"), [(signal.SIGKILL, 2), (signal.SIGSTOP, 1)])
def test_a_process_that_is_killed_or_stopped_loses_nothing(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch, signum: signal.Signals, times: int
) -> None:
    monkeypatch.setattr(executors, "STOPPED_FOR", 0.3)
    run, hit = harm(settings, signum, times)
    counts = summary(engine, run)
    assert (len(hit), counts["read"], counts["indexed"], counts["refused"]) == (times, 1_500, 1_500, 0)
    assert engine.info().documents == 1_500
    assert not any(map(living, hit))


@pytest.mark.parametrize(("text", "tries"), [("poison", 2), ("slow", 1)])
def test_a_document_that_ends_its_process_is_set_aside_and_its_batch_goes_on(
    engine: Engine, settings: Settings, monkeypatch: pytest.MonkeyPatch, text: str, tries: int
) -> None:
    monkeypatch.setattr(executors, "COMMAND", (sys.executable, "-c", HARMED))
    documents = [Document(str(at), f"form a more perfect union {at}" if at else text) for at in range(7)]
    run = ingest_documents(documents, settings.changed(tries=tries))
    counts = summary(engine, run)
    assert (counts["read"], counts["indexed"], counts["refused"], counts["pending"]) == (7, 6, 1, 0)
    (letter,) = tasks.letters(engine)
    assert (letter.refusal.id, letter.record["text"]) == ("0", text)
    assert f"crashed its worker {tries} times" in letter.refusal.why


def test_a_document_that_ends_a_command_of_few_is_set_aside_when_it_is_given_again(
    engine: Engine, settings: Settings
) -> None:
    environment = os.environ | settings.as_environment()
    codes = [subprocess.run([sys.executable, "-c", FEW], env=environment, check=False).returncode for _ in range(3)]
    assert codes == [139, 0, 0]
    counts = summary(engine)
    assert (counts["read"], counts["unchanged"], counts["refused"], counts["pending"]) == (7, 6, 1, 0)
    assert [letter.refusal.id for letter in tasks.letters(engine)] == ["0"]


def test_a_process_that_cannot_work_is_an_error_and_no_endless_waiting(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(IbidemError, match="file/tables"):
        ingest_documents(stories(3), settings.changed(tables=tmp_path / "file" / "tables"))
    monkeypatch.setattr(executors, "COMMAND", (sys.executable, "-c", "import sys; sys.exit(7)"))
    with pytest.raises(IbidemError, match="code 7"):
        ingest_documents(stories(3), settings)


def test_an_engine_that_takes_nothing_ends_the_run_and_its_processes(
    engine: Engine, settings: Settings, tmp_path: Path
) -> None:
    def source() -> Iterator[Document]:
        yield from stories(2)
        (tmp_path / "index.sqlite").unlink()
        (tmp_path / "index.sqlite").mkdir()
        yield from stories(3)

    others = children(os.getpid())
    with pytest.raises(EngineError):
        ingest_documents(source(), settings.changed(batch_characters=1_000))
    assert not any(map(living, {*children(os.getpid())} - {*others}))


def test_processes_end_when_the_one_that_started_them_is_killed(engine: Engine, settings: Settings) -> None:
    fill(stories(1), settings)  # of a new index the first documents are looked through before one is signed
    environment = os.environ | settings.changed(batch_characters=1_000).as_environment()
    with subprocess.Popen(
        [sys.executable, "-c", INGESTS], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == b"now\n"
        workers = children(command.pid)
        assert workers
        command.kill()
    assert wait_for(lambda: not any(map(living, workers)), 60)
    assert summary(engine)["state"] == "interrupted"
