"""Where things are printed: results on standard output, messages and progress on standard error."""

import sys
from collections.abc import Mapping

import orjson
from rich.console import Console
from rich.theme import Theme

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


class Paper(Console):
    """A console that lets a closed pipe be answered at the edge, where all errors are."""

    def on_broken_pipe(self) -> None:
        """Raise again what the library would answer by itself."""
        raise BrokenPipeError


def results() -> Console:
    """Return the console of standard output; colour only on a terminal, none with NO_COLOR."""
    return Paper(theme=THEME, highlight=False, soft_wrap=False, emoji=False, markup=False)


def messages() -> Console:
    """Return the console of standard error."""
    return Paper(theme=THEME, highlight=False, stderr=True, emoji=False, markup=False)


def print_json(answer: Mapping[str, object]) -> None:
    """Print one JSON document on standard output, and nothing else."""
    text = orjson.dumps(answer, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS, default=str)
    sys.stdout.write(text.decode() + "\n")
