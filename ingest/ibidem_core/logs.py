"""Logging to standard error: JSON lines for programs, readable lines on a terminal, without secrets.

Every module logs through the standard library, with the fields of an event in `extra`; so do the libraries that ibidem
uses. structlog writes all of it in one form.
"""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from ibidem_core.address import redact_value, secrets
from ibidem_core.settings import Level, Settings
from ibidem_ingest.errors import printable

if TYPE_CHECKING:
    from structlog.types import EventDict, Processor

# Characters of a value that are kept: a library may log a whole message of the queue, with the texts in it.
MAX_VALUE = 2_000

# Clients that log each failed request, some with its stack; we log its meaning once.
SILENT = ("opensearch", "elastic_transport", "elasticsearch")

OURS = (
    *("ibidem", "ibidem_core", "ibidem_dedupe", "ibidem_engines", "ibidem_ingest", "ibidem_workers"),
    *("ibidem_gateway", "ibidem_lab", "ibidem_mail"),
)


def set_up(settings: Settings, otherwise: Level = "warning") -> None:
    """Configure logging to standard error.

    Libraries log from `warning` on, at `debug` from `info` on: lower levels are for their authors, and some would show
    the text of documents.
    """
    level = getattr(logging, (settings.log or otherwise).upper())
    secret_values = secrets((settings.engine, settings.broker))
    root = logging.getLogger()
    for old in [each for each in root.handlers if isinstance(each, StandardError)]:
        root.removeHandler(old)
    root.addHandler(StandardError(lambda: formatter(secret_values, terminal=sys.stderr.isatty())))
    root.setLevel(logging.INFO if level == logging.DEBUG else max(level, logging.WARNING))
    for name in OURS:
        logging.getLogger(name).setLevel(level)
    for name in SILENT:
        logging.getLogger(name).setLevel(logging.NOTSET if level == logging.DEBUG else logging.CRITICAL)
    logging.captureWarnings(capture=True)


class StandardError(logging.StreamHandler[TextIO]):
    """Handler that writes to the current standard error, like the standard library's last resort.

    Its formatter is made for the first record: structlog takes a sixth of a worker's start, and most log nothing.
    """

    def __init__(self, make_formatter: Callable[[], logging.Formatter]) -> None:
        logging.Handler.__init__(self)
        self._make_formatter = make_formatter

    @property
    def stream(self) -> TextIO:  # type: ignore[override] # the library's is a variable
        return sys.stderr

    def format(self, record: logging.LogRecord) -> str:
        self.formatter = self.formatter or self._make_formatter()
        return self.formatter.format(record)


_CONTEXT: ContextVar[Mapping[str, object]] = ContextVar("context", default={})  # noqa: B039 - it is never changed


@contextmanager
def log_context(**values: object) -> Iterator[None]:
    """Add values to every log line of this context."""
    token = _CONTEXT.set({**_CONTEXT.get(), **values})
    try:
        yield
    finally:
        _CONTEXT.reset(token)


def _add_context(_: object, __: str, event: "EventDict") -> "EventDict":
    for name, value in _CONTEXT.get().items():
        event.setdefault(name, value)
    return event


def formatter(secret_values: Iterable[str], *, terminal: bool) -> logging.Formatter:
    """Return the formatter that writes a record as a line."""
    import structlog  # noqa: PLC0415 - see `StandardError`

    processors: list[Processor] = (
        [escape_event, structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if terminal
        else [structlog.processors.JSONRenderer()]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            _add_context,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            partial(_redact_event, frozenset(secret_values)),
            *processors,
        ],
    )


def _redact_event(secret_values: frozenset[str], _: object, __: str, event: "EventDict") -> "EventDict":
    """Redact secrets in every value of an event, also in nested ones, and shorten long texts but an error's stack."""
    values = {str(name): redact_value(value, secret_values) for name, value in event.items()}
    for name, value in values.items():
        if isinstance(value, str) and len(value) > MAX_VALUE and name != "exception":
            values[name] = f"{value[:MAX_VALUE]}… ({len(value):,} characters)"
    return values


def escape_event(_: object, __: str, event: "EventDict") -> "EventDict":
    """Escape control characters, except line ends in the stack of an error."""
    texts = {name: value for name, value in event.items() if isinstance(value, str)}
    lines = {name: text.split("\n") if name == "exception" else [text] for name, text in texts.items()}
    return {**event, **{name: "\n".join(map(printable, each)) for name, each in lines.items()}}


class Stages:
    """Total time of each stage, also with concurrent threads.

    >>> stages = Stages()
    >>> with stages("read"):
    ...     pass
    >>> list(stages.ms())
    ['read_ms', 'all_ms']
    """

    def __init__(self) -> None:
        self._began = perf_counter()
        self._seconds: dict[str, float] = {}
        self._adding = Lock()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Add the time of a block to a stage."""
        began = perf_counter()
        try:
            yield
        finally:
            with self._adding:
                self._seconds[name] = self._seconds.get(name, 0.0) + perf_counter() - began

    def ms(self) -> dict[str, float]:
        """Return the milliseconds of each stage, and of all since the start, as a log shows them."""
        all_of_it = perf_counter() - self._began
        return {f"{name}_ms": round(1e3 * each, 1) for name, each in (self._seconds | {"all": all_of_it}).items()}
