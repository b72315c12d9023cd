"""Layout within words and figures, which only the content hash keeps: thousands marks, spaced-out print, line numbers.

- `1,200`, `1.200`, `1'200` and `1 200` with a blank that breaks no line are read as `1200`, up to three groups.
- Three or more single letters of an alphabet with capitals, one blank between each, are a word.
- Numbers that stand alone and rise by one, eight or more in a row, each at most 200 characters behind the last, are
  those of lines: before or behind them, in a column of their own, or within the text.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops
from ibidem_ingest.text.word_hash import Places

MIN_LINES, MAX_FIRST, MAX_GAP = 8, 50, 200  # line numbers of a run, the first of them, and characters between two
MARKS, WIDE = ",.'", 0xFEE0  # thousands marks; among signs they are in full width, as no others in normal form
THOUSANDS_MARKS = [chr(ord(mark) + WIDE) for mark in MARKS]

_BLANKS = "\xa0\u2007\u2009\u202f"
_LETTER = r"[^\W\d_\u0530-\U0010ffff]"
# Lookbehinds stand behind what is searched for, which is found sooner so. Of spaced-out print behind the first letter.
_SPACED = rf" {_LETTER} {_LETTER}(?<=(?<!\w){_LETTER}.{{4}})(?: {_LETTER})*(?!\w)"
_GROUPED = rf"[1-9](?<![\w.,'].)[0-9]{{0,2}}(?:[{_BLANKS}][0-9]{{3}}){{1,3}}(?!\w)"
_CLOSED = re.compile(f"{_SPACED}|{_GROUPED}")
_ALONE = re.compile(r"[1-9](?<![^\x00- ].)[0-9]{0,3}(?=[:|]?(?![^\x00- ]))")

Characters = NDArray[np.unsignedinteger]
Span = tuple[int, int]


def remove_layout(text: str) -> str:
    """Return a text without spaced-out print, blanks in figures and line numbers, on the same pages."""
    for start, stop in _line_numbers(text):
        text = text[:start] + " " * (stop - start) + text[stop:]
    return _CLOSED.sub(lambda match: "".join(match[0].split()), text)


def remove_all_layout(texts: Sequence[str]) -> list[str]:
    """Return each text without layout; itself where it has none."""
    source = "\n".join(["", "", *texts, "\n" * 64]).encode("latin-1", "replace")
    begins = np.cumsum([2, *(len(text) + 1 for text in texts)])
    found = np.empty(len(texts), np.uint8)  # all that have layout, and some others
    loops.call("ibidem_layout", source, begins, len(texts), found)
    if not all(map(str.isascii, texts)):
        found |= [any(map(text.__contains__, _BLANKS)) for text in texts]
    return [remove_layout(text) if maybe else text for text, maybe in zip(texts, found, strict=True)]


def _line_numbers(text: str) -> list[Span]:
    runs: list[list[Span]] = []
    expecting: dict[int, list[Span]] = {}  # by the number that would continue the run
    for match in _ALONE.finditer(text):
        value = int(match[0])
        run = expecting.pop(value, None)
        if run is None or match.start() - run[-1][1] > MAX_GAP:
            if value > MAX_FIRST:
                continue
            runs.append(run := [])
        run.append(match.span())
        expecting[value + 1] = run
    spans = [span for run in runs if len(run) >= MIN_LINES for span in run]
    return spans if spans and 2 * len(spans) <= len(text.split()) else []


def close_figures(characters: Characters, positions: Places, signs: NDArray[np.uint32]) -> Characters:
    """Close up figures with thousands marks, which become wide; others than letters and digits are spaces."""

    def digits(places: Places) -> NDArray[np.bool_]:
        return characters.take(places) - characters.dtype.type(ord("0")) < 10

    chosen = np.flatnonzero((signs[:, None] == [ord(mark) for mark in MARKS]).any(axis=1))
    if not chosen.size:
        return characters
    at, mark = positions[chosen], signs[chosen]
    group = digits(at + 2) & digits(at + 3) & (characters[at + 4] == ord(" "))
    tens, hundreds = digits(at - 2), digits(at - 3)
    begin = at - 1 - tens - (tens & hundreds)
    linked = group & digits(at - 1) & tens & hundreds & (np.diff(at, prepend=-4) == 4) & (mark == np.roll(mark, 1))
    first = group & ~linked & (characters[begin] != ord("0")) & (characters[begin - 1] == ord(" "))
    second = linked & np.roll(first, 1)
    nth = first + 2 * second + 3 * (linked & np.roll(second, 1))
    kept, three = nth > 0, np.arange(1, 4)
    signs[chosen[kept]] += WIDE
    places, closed = at[kept, None], characters.copy()
    closed[places + np.arange(4)] = ord(" ")
    closed[places - nth[kept, None] + three] = characters[places + three]
    return closed
