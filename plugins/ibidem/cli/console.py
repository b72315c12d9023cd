"""Console of every command: results on standard output, messages and progress on standard error."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Annotated, Any, NamedTuple

import orjson
import typer
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
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
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from ibidem.comparison.word_diff import Piece, shorten
from ibidem_core.settings import Settings, load
from ibidem_dedupe.parameters import PAIR_LEVEL, PARAMETERS, PRESETS, Parameter
from ibidem_dedupe.parameters import Preset as NamedFigures
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import NO_PRESET, lookup_presets
from ibidem_engines.query import HIGHLIGHT

OPEN, CLOSE = HIGHLIGHT


def sanitize(text: str) -> str:
    r"""Put a text on one line, without control characters (which could control a terminal) and highlighting marks.

    >>> sanitize("a\x1b[2Jb\n  c")
    'a[2Jb c'
    """
    return "".join(filter(str.isprintable, " ".join(text.split())))


def highlight(passage: str, *, styled: bool) -> Text:
    """Highlight the query's words in a passage: by style, or by asterisks if styles are not available.

    >>> highlight("the " + OPEN + "court" + CLOSE + " held", styled=False).plain
    'the *court* held'
    """
    line = Text()
    head, *parts = " ".join(passage.split()).split(OPEN)
    line.append(sanitize_part(head))
    for part in parts:
        word, _, tail = part.partition(CLOSE)
        line.append(sanitize(word) if styled else f"*{sanitize(word)}*", "word")
        line.append(sanitize_part(tail))
    return line


def one_line(line: Text) -> Text:
    """Keep a text on one line; text that does not fit is cut with an ellipsis."""
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def sanitize_part(text: str) -> str:
    """Sanitize a part of a line, keeping spaces at its ends."""
    starts_blank, ends_blank = text[:1].isspace(), text[-1:].isspace()
    inner = sanitize(text)
    return f"{' ' * starts_blank}{inner}{' ' * ends_blank}" if inner else " " * (starts_blank or ends_blank)


def format_difference(pieces: Iterable[Piece]) -> Text:
    """Write a difference on one line: `[only in the lead → only in the duplicate]`, common words around it.

    >>> pieces = [Piece("same", ("rose",)), Piece("lead", ("5",)), Piece("duplicate", ("6",)), Piece("gap")]
    >>> format_difference(pieces).plain
    'rose [5 → 6] …'
    """
    line, pieces = Text(), list(pieces)
    kinds = ["", *(piece.kind for piece in pieces), ""]
    for piece, before, behind in zip(pieces, kinds, kinds[2:], strict=False):
        run = sanitize(shorten(piece.words))
        replaces, goes_on = piece.kind == "duplicate" and before == "lead", behind == "duplicate"
        line.append(" " * (bool(line) and not replaces))
        if piece.kind == "lead":
            line.append("[").append(run if goes_on else f"- {run}", "removed").append("" if goes_on else "]")
        elif piece.kind == "duplicate":
            line.append(" → " if replaces else "[").append(run if replaces else f"+ {run}", "added").append("]")
        else:
            line.append(run or "…")
    return line


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
    """Console that raises the error of a closed pipe, so that it is handled with all other errors."""

    def on_broken_pipe(self) -> None:
        """Raise the error instead of handling it as `rich` does."""
        raise BrokenPipeError


def results() -> Console:
    """Return the console of standard output; colours only on a terminal without NO_COLOR."""
    return PipeConsole(theme=THEME, highlight=False, soft_wrap=False, emoji=False, markup=False)


def messages() -> Console:
    return PipeConsole(theme=THEME, highlight=False, stderr=True, emoji=False, markup=False)


def print_json(answer: Mapping[str, object]) -> None:
    text = orjson.dumps(answer, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str)
    sys.stdout.write(text.decode() + "\n")


def show(answer: Mapping[str, object], lines: Iterable[RenderableType], *, as_json: bool) -> None:
    """Print an answer as JSON, or the lines that describe it."""
    if as_json:
        print_json(answer)
        return
    console = results()
    for line in lines:
        console.print(line)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table without borders, whose cells are on as many lines as they need."""
    shown = Table(box=None, pad_edge=False, padding=(0, 2))
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(sanitize(str(cell)) for cell in row))
    return shown


Advance = Callable[[int, int | None], None]


@contextmanager
def bar(label: str, *, rated: bool = False) -> Iterator[Advance]:
    """Show a progress bar; a rated one has documents per second and the time left."""
    columns = (
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("documents")),
        *((Rate(), TimeRemainingColumn()) if rated else (TimeElapsedColumn(),)),
    )
    console = messages()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None)
        yield lambda count, total: progress.update(task, completed=count, total=total)


class Rate(ProgressColumn):
    """Progress column: the number of items per second."""

    def render(self, task: Task) -> Text:
        """Return the current rate; empty until it is known."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", "about")


def add_up(advance: Advance) -> Callable[[int], None]:
    """Return a function that adds to the number that a bar shows."""
    total = 0

    def add(number: int) -> None:
        nonlocal total
        total += number
        advance(total, None)

    return add


MIN_WIDTH = 20


class Indented(NamedTuple):
    """A text indented by some columns."""

    text: Text  # the text; if it must not wrap, it is cut with an ellipsis
    columns: int  # how far to the right
    head: str = ""  # text to the left of its first line, at most as wide as that; a number or a sign

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(MIN_WIDTH, options.max_width - self.columns)
        lines = self.text.wrap(console, width, no_wrap=self.text.no_wrap, overflow=self.text.overflow)
        head = self.head
        for line in lines:
            line.rstrip()
            yield Text.assemble((head.ljust(self.columns), "place"), line, no_wrap=True, overflow="ellipsis")
            head = ""


def option(flag: str, description: str, metavar: str | None = None) -> Any:
    return typer.Option(flag, metavar=metavar, help=description)


Json = Annotated[bool, option("--json", "Print one JSON document on standard output, and nothing else.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def parameter(name: str | Parameter, flag: str, metavar: str, default: str = "", panel: str | None = None) -> Any:
    """Return the option for a dedupe parameter, with the help of the table of parameters."""
    definition = PARAMETERS[name] if isinstance(name, str) else name
    return typer.Option(
        flag,
        metavar=metavar,
        help=f"{definition.about}: {definition.values} (default: {default or definition.default})",
        show_default=False,
        rich_help_panel=panel,
    )


Level = Annotated[str | None, parameter(PAIR_LEVEL, "--level", "LEVEL")]
Similarity = Annotated[str | None, parameter("dedupe_similarity", "--similarity", "PERCENT")]
Preset = Annotated[str | None, parameter("dedupe_preset", "--preset", "NAME")]
WindowDays = Annotated[str | None, parameter("dedupe_window_days", "--window-days", "DAYS")]


def presets_for(name: str | None) -> Mapping[str, NamedFigures]:
    """Return the presets that a command may use; those of the index are read only if the name is not built in."""
    if not name or name in PRESETS or name == NO_PRESET:
        return PRESETS
    with engine_context() as engine:
        return lookup_presets(engine, name)


def engine_context(settings: Settings | None = None) -> closing[Engine]:
    """Open the engine of the settings; it is closed at the end."""
    settings = settings or load()
    return closing(open_engine(settings.address, settings.index))
