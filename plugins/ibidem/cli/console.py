"""Consoles: results on standard output, messages and progress on standard error; indentation and warnings."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import orjson
from rich.console import Console, ConsoleOptions, RenderResult
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text
from rich.theme import Theme

from ibidem.cli.terminal_text import sanitize
from ibidem.index.language_check import REMEDY, ForeignShare

THEME = Theme(
    {
        "place": "bold",
        "title": "bold",
        "about": "dim",
        "word": "bold yellow",
        "level": "cyan",
        "added": "green",
        "removed": "red",
        "account": "dim",
        "good": "green",
        "bad": "bold red",
    }
)


class PipeConsole(Console):
    """A console that lets a closed pipe be answered at the edge, where all errors are."""

    def on_broken_pipe(self) -> None:
        """Raise again what the library would answer by itself."""
        raise BrokenPipeError


def results() -> Console:
    """Return the console of standard output; colour only on a terminal, none with NO_COLOR."""
    return PipeConsole(theme=THEME, highlight=False, soft_wrap=False, emoji=False, markup=False)


def messages() -> Console:
    """Return the console of standard error."""
    return PipeConsole(theme=THEME, highlight=False, stderr=True, emoji=False, markup=False)


def print_json(answer: Mapping[str, object]) -> None:
    """Print one JSON document on standard output, and nothing else."""
    text = orjson.dumps(answer, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str)
    sys.stdout.write(text.decode() + "\n")


Advance = Callable[[int, int | None], None]


@contextmanager
def bar(doing: str, unit: str = "documents") -> Iterator[Advance]:
    """Show a bar while something long is done.

    Args:
        doing: What is done.
        unit: What is counted.

    Yields:
        A function that takes how many are done, and of how many, when that is known.
    """
    with _shown(doing, unit, TimeElapsedColumn()) as advance:
        yield advance


@contextmanager
def rated_bar(doing: str, unit: str = "documents") -> Iterator[Advance]:
    """Show a bar with how many are done in a second, and the time that is left.

    Args:
        doing: What is done.
        unit: What is counted.

    Yields:
        A function that takes how many are done, and of how many.
    """
    with _shown(doing, unit, Rate(), TimeRemainingColumn()) as advance:
        yield advance


class Rate(ProgressColumn):
    """How many are done in a second."""

    def render(self, task: Task) -> Text:
        """Write the rate of late; nothing before there is one."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", "about")


@contextmanager
def _shown(doing: str, unit: str, *more: ProgressColumn) -> Iterator[Advance]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit), *more)
    console = messages()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)


NARROWEST = 20


@dataclass(frozen=True, slots=True)
class Indented:
    """A text that stands some columns to the right.

    Args:
        text: The text; one that must not wrap is cut with an ellipsis.
        columns: How far to the right.
        head: What stands to the left of its first line, at most as wide as that; a number or a sign.
    """

    text: Text
    columns: int
    head: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield its lines."""
        width = max(NARROWEST, options.max_width - self.columns)
        lines = self.text.wrap(console, width, no_wrap=self.text.no_wrap, overflow=self.text.overflow)
        head = self.head
        for line in lines:
            line.rstrip()
            yield Text.assemble((head.ljust(self.columns), "place"), line, no_wrap=True, overflow="ellipsis")
            head = ""


def warn_once(shares: Iterable[ForeignShare]) -> None:
    """Say which documents are in another language than they say."""
    for each in shares:
        messages().print(Text(sanitize(f"{each}: {REMEDY}")))
