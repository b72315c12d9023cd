"""Processes that work: executors, which each do one item of a job at a time; and Celery's worker under its supervisor.

An executor that ends with an item in hand is replaced, and the item is done again; the job counts how often, and
bounds it. Each is started anew by its own command, so that it shares no lock with this process, whatever program this
is. `python -m ibidem_workers.executors HANDLE` is one.
"""

import gc
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from ibidem_core.errors import EngineError
from ibidem_core.settings import Settings
from ibidem_ingest.errors import IbidemError

HOST = socket.gethostname().replace("~", "-").replace("/", "-")


START_FIELD = 22  # field of `/proc/PID/stat` with a process's start time, counted from one

ZOMBIE, STOPPED = "Z", "T"  # states of a process: it has ended, the system has stopped it by SIGSTOP


def this_process() -> str:
    """Return the identity of this process: machine, process id and start time."""
    return f"{_machine()}~{os.getpid()}~{_start_time(os.getpid()) or ''}"


def has_exited(name: str) -> bool:
    """Return whether a process has exited; False for a process on another machine or in another container.

    >>> has_exited(this_process())
    False
    """
    machine, _, tail = name.partition("~")
    number, _, began = tail.partition("~")
    if machine != _machine() or not number.isdecimal():
        return False
    start_time = _start_time(int(number))
    return start_time is None or bool(start_time and began and start_time != began)


def _machine() -> str:
    """Return a name of the machine and container, since each container has its own process ids."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{HOST}/{namespace}"


def _state(number: int) -> list[str]:
    """Read a process's state, and what follows it in `/proc/PID/stat`."""
    return Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _start_time(number: int) -> str | None:
    """Return a process's start time; empty if unknown, None if the process does not exist."""
    try:
        state, *tail = _state(number)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return "" if _exists(number) else None
    return None if state == ZOMBIE else f"{tail[START_FIELD - 4]}/{boot}"


def _exists(number: int) -> bool:
    try:
        os.kill(number, 0)
    except OSError as error:  # such as one of another user's
        return not isinstance(error, ProcessLookupError)
    return True


Item = TypeVar("Item")
Answer = TypeVar("Answer")

COMMAND = (sys.executable, "-m", "ibidem_workers.executors")
CELERY = (sys.executable, "-m", "ibidem_workers.worker")
FATAL_EXIT = 3  # exit code of a worker that another would end in the same way
END_SECONDS = 5.0  # seconds after the grace period in which a worker puts its messages back
GRACE = 30.0  # seconds that an executor has for the item in hand when the pool ends
STOPPED_FOR = 5.0  # seconds after which an executor that the system has stopped is killed, so that its item is done

# Objects after which the garbage collector looks for cycles; a batch makes some 100,000, nearly all without any.
COLLECTED_AFTER = 50_000

LOOKS_EVERY = 0.2  # seconds after which an idle executor looks whether it was asked to end

_log = logging.getLogger(__name__)


class WorkerFailure(EngineError):
    """A worker could not start, or the engine refuses writes."""


# What executors do, which is pickled, as are its items and answers: opens engine and tables, told how to see whether it
# was asked to end; returns what does an item, told how many executors have ended with it in hand.
Job = Callable[[Callable[[], bool]], Callable[[Any, int], Any]]


class _Ended(Exception):
    """An executor has ended."""


class _Executor:
    """One process, as its pool has it."""

    def __init__(self, job: Job) -> None:
        self._connection, theirs = Pipe()
        self.process = subprocess.Popen(  # noqa: S603 - this module
            [*COMMAND, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process alone
        )
        theirs.close()
        try:
            self._exchange(job)
        except _Ended as error:
            what = f"a worker ended with code {self.process.returncode} before it began"
            raise WorkerFailure(what, "look at what it wrote above; then run the same command again") from error

    def ask(self, item: object, deaths: int) -> Any:
        """Return the answer to an item, or raise its error."""
        answer = self._exchange((item, deaths))
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _exchange(self, message: object) -> Any:
        try:
            self._connection.send(message)
            while not self._connection.poll(STOPPED_FOR):
                with suppress(OSError):
                    if _state(self.process.pid)[0] == STOPPED:
                        self.process.kill()
            return self._connection.recv()
        except (EOFError, OSError) as error:
            self.process.wait()
            raise _Ended from error


class Pool(Generic[Item, Answer]):
    """Executors of one job, as a context manager; the first starts at once, others as items come."""

    def __init__(self, job: Job, processes: int) -> None:
        self._job, self.processes = job, processes
        self._threads = ThreadPoolExecutor(processes, "executor")
        self._own = threading.local()
        self._is_ending = False
        self._executors: list[_Executor] = []

    def __enter__(self) -> Self:
        """Start the first executor."""
        self._threads.submit(self._executor)
        return self

    def __exit__(self, *_: object) -> None:
        """Finish the items in hand, and drop those that wait."""
        self._is_ending = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._end_all()
        self._threads.shutdown()
        self._end_all()  # those that were being started

    def _end_all(self) -> None:
        for executor in list(self._executors):
            executor.process.terminate()
        for executor in list(self._executors):
            try:
                executor.process.wait(GRACE)
            except subprocess.TimeoutExpired:
                executor.process.kill()
                executor.process.wait()

    def submit(self, item: Item) -> "Future[Answer]":
        """Hand an item to the next free executor."""
        return self._threads.submit(self._do, item)

    def _do(self, item: Item) -> Answer:
        deaths = 0
        while True:
            try:
                answer: Answer = self._executor().ask(item, deaths)
            except _Ended as error:
                if self._is_ending:
                    what = "a worker was ended with its batch in hand"
                    raise WorkerFailure(what, "run the same command again") from error
                deaths += 1
                self._executors.remove(self._own.executor)
                del self._own.executor
            else:
                return answer

    def _executor(self) -> _Executor:
        if not hasattr(self._own, "executor"):
            self._own.executor = _Executor(self._job)
            self._executors.append(self._own.executor)
        executor: _Executor = self._own.executor
        return executor


class Supervisor:
    """Celery's worker as a process of its own, as a context manager."""

    def __init__(self, settings: Settings, command: Sequence[str] = CELERY) -> None:
        self._settings, self._command = settings, command

    def __enter__(self) -> Self:
        variables = {name: value for name, value in os.environ.items() if not name.upper().startswith("IBIDEM_")}
        self.process = subprocess.Popen(  # noqa: S603 - this package itself
            [*self._command, str(os.getpid())],
            env=variables | self._settings.as_environment(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # this process handles Ctrl-C; a worker ends its batch first
        )
        return self

    def __exit__(self, *_: object) -> None:
        """Ask the worker to end the batches in hand; after a grace period it puts them back."""
        for number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGQUIT, END_SECONDS), (signal.SIGKILL, None)):
            self.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
                return

    def check(self) -> None:
        """Start the worker again if it was killed; one that has ended by itself is an error."""
        code = self.process.poll()
        if code is not None and code >= 0:
            raise WorkerFailure(f"the worker ended with code {code}", "look at what it wrote above")
        if code is not None:
            self.__enter__()


def main(handle: str) -> None:
    """Do items until asked to end, or until there is nobody who asks."""
    is_ending = False

    def end(*_: object) -> None:
        nonlocal is_ending
        is_ending = True

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, end)
    watch_parent(os.getppid(), lambda: os._exit(1))
    connection = Connection(int(handle))
    job: Job = connection.recv()
    gc.freeze()  # imported objects are never garbage; scanning them at each collection takes a tenth of the time
    gc.set_threshold(COLLECTED_AFTER)
    connection.send(None)
    do: Callable[[Any, int], Any] | None = None
    with suppress(EOFError, BrokenPipeError):  # there is nobody any more who asks
        while not is_ending:
            if not connection.poll(LOOKS_EVERY):
                continue
            item, deaths = connection.recv()
            try:
                do = do or job(lambda: is_ending)
                answer = do(item, deaths)
            except IbidemError as error:
                answer = error
            except Exception as error:  # noqa: BLE001 - it is raised in the process that waits
                _log.exception("a worker failed")
                answer = WorkerFailure(f"a worker failed: {type(error).__name__}: {error}", "look at its log, above")
            connection.send(answer)


def watch_parent(parent: int, end: Callable[[], object]) -> None:
    """Call a function once the process that started this one has ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        end()

    threading.Thread(target=watch, daemon=True, name="parent").start()


if __name__ == "__main__":
    main(sys.argv[1])
