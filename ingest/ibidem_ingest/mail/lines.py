"""Lines of a mail's body: their quote marks, and the kind of each."""

import re
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["new", "quoted", "heading", "signature"]

MARKS = re.compile(r"(?:[ \t]{0,3}>)+")
_SUPERCITE = re.compile(r' ?"[^"]{1,60}" == ')
WIDE, NARROW = 60, 45  # characters of a line that a program wraps, and of the rest of it that lost its mark


@dataclass(eq=False, slots=True)
class Lines:
    """The lines of a body."""

    text: str  # the body
    starts: list[int] = field(default_factory=list)  # the first character of each
    marks: list[int] = field(default_factory=list)  # how many marks of quotation each bears
    contents: list[str] = field(default_factory=list)  # each without its marks
    kinds: list[Kind] = field(default_factory=list)  # what each is found to be
    depths: list[int] = field(default_factory=list)  # how deep each is found to be quoted
    last_marked: int = 0  # the last one with a mark

    def __len__(self) -> int:
        return len(self.contents)

    def set(self, first: int, end: int, kind: Kind, depth: int) -> None:
        """Set the kind of lines."""
        for position in range(first, end):
            self.kinds[position], self.depths[position] = kind, depth


def read_lines(text: str) -> Lines:
    """Read the lines of a body with their quote marks."""
    lines = Lines(text)
    start = 0
    for line in text.splitlines(keepends=True):
        match = MARKS.match(line)
        end = match.end() if match else 0
        lines.starts.append(start)
        lines.marks.append(line.count(">", 0, end))
        lines.contents.append(line[end:].rstrip())
        start += len(line)
    lines.kinds = ["new"] * len(lines)
    lines.depths = [0] * len(lines)
    _unmark_prompts(lines)
    _join_wrapped(lines)
    lines.last_marked = max((at for at, mark in enumerate(lines.marks) if mark), default=0)
    return lines


def _unmark_prompts(lines: Lines) -> None:
    """Treat `>>>` as an interpreter prompt if no line has fewer quote marks, and `>From` as an escape.

    `>>>>> "Ann" == Ann Landlord writes:` is Supercite's line of attribution, and no quotation.
    """
    for position, mark in enumerate(lines.marks):
        if mark > 3 and _SUPERCITE.match(lines.contents[position]):
            lines.marks[position] = 0
    marks = set(lines.marks)
    if 3 in marks and not marks & {1, 2}:
        lines.marks[:] = [0 if mark == 3 else mark for mark in lines.marks]
    for position, mark in enumerate(lines.marks):
        if (
            mark == 1
            and lines.contents[position].startswith("From ")
            and lines.text.startswith(">From ", lines.starts[position])
        ):
            around = lines.marks[max(0, position - 1) : position] + lines.marks[position + 1 : position + 2]
            lines.marks[position] = max(around, default=0)


def _join_wrapped(lines: Lines) -> None:
    """Treat a short line between two quoted lines as the rest of the first one, wrapped by a mail program."""
    marks, contents = lines.marks, lines.contents
    for position in range(1, len(lines) - 1):
        if (
            not marks[position]
            and marks[position - 1]
            and marks[position + 1] == marks[position - 1]
            and 0 < len(contents[position]) < NARROW
            and len(contents[position - 1]) + 2 * marks[position - 1] >= WIDE
            and contents[position - 1][-1] not in ".!?:"
            and contents[position][0].islower()
        ):
            marks[position] = marks[position - 1]


def count_marks(content: str) -> int:
    """Count the quote marks after an indent."""
    match = MARKS.match(content.lstrip())
    return match[0].count(">") if match else 0
