"""Progress on standard error: a bar on a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

from ibidem.cli.console import messages

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
