"""Indented text: wrapped into the width that is left, without blanks at the ends of lines."""

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

NARROWEST = 20


@dataclass(frozen=True, slots=True)
class Below:
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
