"""A fuzz target: a parser, the errors that it may raise, and examples to mutate."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ibidem_ingest.errors import IbidemError

ENDS: tuple[type[Exception], ...] = (IbidemError,)  # the errors of the project's own


@dataclass(frozen=True, slots=True)
class Target:
    # Feeds it; raises what the parser raises, and `AssertionError` where it breaks a promise.
    run: Callable[[bytes], None]
    examples: Sequence[bytes]  # real inputs, which are changed at random
    words: Sequence[bytes] = ()  # what is put into them: marks and names that mean something to this parser
    ends: tuple[type[Exception], ...] = ENDS  # the errors of the project's own that it may end in

    def feed(self, data: bytes) -> None:
        """Feed it; what it may end in is no crash."""
        try:
            self.run(data)
        except self.ends as error:
            check_message(str(error))


def check_message(message: str) -> None:
    """Check that an error message can be written."""
    assert message
    message.encode()


def as_text(data: bytes) -> str:
    """Read an input as a text of whole characters, as a document holds it."""
    return data.decode(errors="replace")


def as_any_text(data: bytes) -> str:
    """Decode an input to a text with lone surrogates, as a command line passes it."""
    return data.decode(errors="surrogateescape")


def as_sent(data: bytes) -> str:
    """Read an input as a server hands over a query string or a header: one character for each byte."""
    return data.decode("latin-1")


@cache
def folder() -> Path:
    """Return a folder for this process's files; it goes with the process."""
    folders.append(tempfile.TemporaryDirectory(prefix="ibidem-fuzz-"))
    return Path(folders[-1].name)


folders: list[tempfile.TemporaryDirectory[str]] = []  # what is removed when the process ends
