"""Warnings that commands print beside their results."""

from collections.abc import Iterable

from rich.text import Text

from ibidem.cli.console import messages
from ibidem.cli.marked import harmless
from ibidem.foreign import REMEDY, Foreign


def warn_of(found: Iterable[Foreign]) -> None:
    """Say which documents are in another language than they say."""
    for each in found:
        messages().print(Text(harmless(f"{each}: {REMEDY}")))
