"""Progress on standard error: a bar on a terminal, nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

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
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
    )
    console = messages()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)
