"""Sandboxed reader: parses files in a process with resource limits, since the libraries may crash.

A small PDF may unpack into more than the memory holds, and a damaged one may end the process that reads it: then that
file is refused, and the next is read by a fresh process. Requests and answers are lines of JSON.
"""

import contextlib
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from tempfile import NamedTemporaryFile
from typing import Any, TypeVar

import orjson

from ibidem_ingest.document import MAX_TEXT
from ibidem_ingest.errors import Unreadable
from ibidem_ingest.readers.books import docx_record, epub_record, pdf_record
from ibidem_ingest.readers.formats import UTF_8, Decoding, Format, guess_format
from ibidem_ingest.readers.mail import mail_record, outlook_record
from ibidem_ingest.readers.text import html_record, markdown_record

SECONDS = 120.0  # seconds that reading one file may take

MEMORY, MEMORY_A_CHARACTER = 850_000_000, 100
"""Bytes of data that the process may take, and those for each character by which texts may be longer than usual.

The code of the libraries comes on top, and is shared with other processes: in all it stays under a gigabyte.
"""

AS_TEXT = "save it as text, or leave it out"

GRACE = 2.0  # further seconds of a process whose parent was killed and so does not end it

# Prefixes of the names of variables that the process gets.
ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "TZ", "LANG", "LC_", "PYTHON", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")

# Bytes of a response for each character: a file has four bytes for each, and JSON up to six for one of these.
MAX_RESPONSE = 24

_PIECE = 1 << 20

# Reads a file of each format: its path, the most characters of its text and, of `TEXTS`, its decoding.
RECORDS: dict[Format, Callable[..., dict[str, object]]] = {
    Format.HTML: html_record,
    Format.MARKDOWN: markdown_record,
    Format.EML: lambda path, max_text: mail_record(path, max_text, partial(_parse_attachment, max_text)),
    Format.MSG: lambda path, max_text: outlook_record(path, max_text, partial(_parse_attachment, max_text)),
    Format.DOCX: docx_record,
    Format.EPUB: epub_record,
    Format.PDF: pdf_record,
}

TEXTS = frozenset({Format.HTML, Format.MARKDOWN})  # formats whose files are texts in some encoding


def _parse_attachment(max_text: int, name: str, data: bytes) -> dict[str, object]:
    """Parse an attachment; empty if its name has no supported format."""
    format_ = guess_format(name)
    if format_ not in RECORDS:
        return {}
    with NamedTemporaryFile(prefix="ibidem-") as file:
        file.write(data)
        file.flush()
        return RECORDS[format_](Path(file.name), max_text)


@dataclass(eq=False, slots=True)
class SandboxedReader(AbstractContextManager["SandboxedReader"]):
    """A process that parses files, as a context manager; it starts with the first file."""

    max_text: int  # the most characters that a text may have
    seconds: float = SECONDS  # limit of the time that reading one file may take
    # The command to start.
    command: tuple[str, ...] = (sys.executable, "-c", "from ibidem_ingest.readers.sandbox import main; main()")
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(OSError):
                self._process.communicate()
            self._process = None

    def parse_record(self, format_: Format, path: Path, decoding: Decoding = UTF_8) -> dict[str, object]:
        process = self._process = self._process or self._start()
        name = os.fsencode(path.absolute()).hex()
        request = orjson.dumps([format_, name, self.max_text, decoding.encoding, decoding.strict])
        try:
            _pipe(process.stdin).write(request + b"\n")
            _pipe(process.stdin).flush()
            response = self._answer(_pipe(process.stdout).fileno())
        except OSError:
            response = b""
        if not response:
            self.__exit__()
            limit = f"more than the {_memory(self.max_text):,} bytes of memory that reading may take"
            raise Unreadable(
                f"it crashed the process that reads it: it is damaged, or takes {limit}; {AS_TEXT}", "text"
            )
        answer: dict[str, Any] = orjson.loads(response)
        if "record" not in answer:
            raise Unreadable(answer["why"], answer["field"])
        record: dict[str, object] = answer["record"]
        return record

    def _answer(self, pipe: int) -> bytes:
        """Read a line; empty if the process has ended."""
        answer, limit = bytearray(), MAX_RESPONSE * (self.max_text + _PIECE)
        deadline = time.monotonic() + self.seconds
        while not answer.endswith(b"\n"):
            if not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.__exit__()
                reason = f"reading it takes more than {self.seconds:g} seconds"
                raise Unreadable(f"{reason}; save it as text, or raise IBIDEM_READ_SECONDS", "text")
            piece = os.read(pipe, _PIECE)
            if not piece:
                return b""
            answer += piece
            if len(answer) > limit:
                self.__exit__()
                raise Unreadable(f"reading it gives more than {limit:,} bytes; {AS_TEXT}", "text")
        return bytes(answer)

    def _start(self) -> subprocess.Popen[bytes]:
        variables = {name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT)}
        return subprocess.Popen(  # noqa: S603 - this very module
            [*self.command, str(_memory(self.max_text)), str(self.seconds + GRACE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=(variables | {"OPENBLAS_NUM_THREADS": "1"}),
            start_new_session=True,
        )

    def kill(self) -> None:
        """Kill the process while another thread waits for its answer; the other thread then gets an empty answer."""
        if (process := self._process) is not None:
            process.kill()


def _memory(max_text: int) -> int:
    """Return the memory limit of a process that parses texts of a length, in bytes."""
    return MEMORY + MEMORY_A_CHARACTER * max(0, max_text - MAX_TEXT)


def _pipe(pipe: Any) -> Any:
    return pipe


def main() -> None:
    """Parse the files named on standard input, one per line, until it ends."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]), hard))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's output must not be taken for an answer
    for line in sys.stdin.buffer:
        signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))  # SIGALRM ends it where its parent no longer can
        answer = _read(line)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(answer + b"\n")
        answers.flush()


def _read(line: bytes) -> bytes:
    format_, path, max_text, *decoding = orjson.loads(line)
    options = [Decoding(*decoding)] if format_ in TEXTS else []
    try:
        record = RECORDS[Format(format_)](Path(os.fsdecode(bytes.fromhex(path))), max_text, *options)
        return orjson.dumps({"record": record})
    except Unreadable as error:
        return orjson.dumps({"why": error.why, "field": error.field})
    except MemoryError:
        reason = f"reading it takes more than {_memory(max_text):,} bytes of memory; {AS_TEXT}"
        return orjson.dumps({"why": reason, "field": "text"})


MAX_RESULTS = 4  # results for each process that may wait for an earlier one: more would only take memory

T = TypeVar("T")
Parse = Callable[[SandboxedReader], T]  # reads one file by the process that it is given


@dataclass(eq=False, slots=True)
class SandboxPool(AbstractContextManager["SandboxPool"]):
    """Processes that parse files, as a context manager; each starts with its first file."""

    max_text: int  # the most characters that a text may have
    seconds: float = SECONDS  # limit of the time that reading one file may take
    processes: int = 1  # number of files to read in parallel
    _free: SimpleQueue[SandboxedReader] = field(default_factory=SimpleQueue, init=False)
    _readers: list[SandboxedReader] = field(init=False)
    _threads: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.processes, thread_name_prefix="reader")
        self._readers = [SandboxedReader(self.max_text, self.seconds) for _ in range(self.processes)]
        for reader in self._readers:
            self._free.put(reader)

    def __exit__(self, *_: object) -> None:
        """End the processes, without waiting for files in progress."""
        with ExitStack() as ends:
            for reader in self._readers:
                ends.enter_context(reader)
            self._threads.shutdown(wait=False, cancel_futures=True)
            for reader in self._readers:
                reader.kill()
            self._threads.shutdown()

    def results(self, items: Iterable[T | Parse[T]]) -> Iterator[T]:
        queue: deque[T | Future[T]] = deque()
        for item in items:
            queue.append(self._threads.submit(self._parse, item) if callable(item) else item)
            while queue and (
                len(queue) >= MAX_RESULTS * self.processes or not isinstance(queue[0], Future) or queue[0].done()
            ):
                yield _result(queue.popleft())
        while queue:
            yield _result(queue.popleft())

    def _parse(self, parse: Parse[T]) -> T:
        reader = self._free.get()
        try:
            return parse(reader)
        finally:
            self._free.put(reader)


def _result(item: T | Future[T]) -> T:
    return item.result() if isinstance(item, Future) else item
