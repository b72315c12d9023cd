"""Layout within words and figures, which signatures leave out: thousands marks, spaced-out print and line numbers.

The content hash is made from the text as it is, all other signatures from the text without layout. It keeps its length:
characters stay on their pages, and words begin where they did. What closes up leaves fillers behind it.

- `1,200`, `1 200`, `1'200` become `1200`, for up to three groups, where the figure ends there or a decimal mark
  follows; `1.200` only where a second group or a decimal comma follows.
- Three or more single letters of an alphabet with capitals, one blank between each, become a word, unless they are
  all vowels (French `y a à`).
- Numbers that stand alone and rise by one, eight or more in a row, each at most 200 characters behind the last, go:
  pleading paper, also where its numbers stand at the ends of lines, in a column of their own, or within the lines.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops
from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.word_hash import Places

FILLER = "\x1f"  # behind what was closed up
MAX_GROUPS = 3  # groups of three digits; of more, a row of a table is likelier
MIN_LINES, MAX_FIRST, MAX_GAP = 8, 50, 200  # line numbers of a run, the first of them, and characters between two

_EDGE = "\n" * 64
_BLANKS = "\xa0\u2007\u2009\u202f"
_LETTER = r"[^\W\d_\u0590-\U0010ffff][\u0300-\u036f]*"
_SPACED = re.compile(rf"(?<!\w){_LETTER}(?: {_LETTER}){{2,}}(?!\w)")
_GROUPED = re.compile(r"(?<!\d)(?<!\d[ .,'])[1-9]\d{0,2}(?: \d{3}){1,3}(?!\w| \d)")
_ALONE = re.compile(r"(?<!\S)(\d{1,4})[:|]?(?!\S)")
_VOWELS = frozenset("aeiouyаеиоуыэюяіє")  # noqa: RUF001 - Cyrillic ones
_BORDER = np.array([not chr(octet).isalnum() for octet in range(256)])
_POINT = ord(".")
_MARKS = (ord("'"), ord(","), _POINT)

Octets = NDArray[np.uint8]
Characters = NDArray[np.unsignedinteger]


def remove_layout(texts: Sequence[str]) -> list[str]:
    r"""Return each text without spaced-out print, blanks in figures and line numbers; itself where it has none.

    >>> remove_layout(["S p e r r e: 1 200", "1,200"])
    ['Sperre\x1f\x1f\x1f\x1f\x1f: 1200\x1f', '1,200']
    """
    source = "\n".join([_EDGE, *texts, _EDGE])
    if not source.isascii():
        for blank in _BLANKS:
            source = source.replace(blank, " ")
    data = source.encode("latin-1", "replace")
    octets = np.frombuffer(data, np.uint8)
    at = loops.IN_USE.layout(data) if loops.IN_USE else np.flatnonzero(octets[:-8] <= ord(" "))
    window = octets[at[:, None] + np.arange(-2, 5)]
    digit = window - np.uint8(ord("0")) < 10
    letter = window >= ord("?")  # which stands for a character beyond Latin-1
    begins = np.cumsum([len(_EDGE) + 1, *(len(text) + 1 for text in texts)])
    owners = np.searchsorted(begins, at, "right") - 1
    blanks = (window[:, [2, 4]] == ord(" ")).all(axis=1)
    closes = (
        digit[:, [1, 3, 4, 5]].all(axis=1)
        | letter[:, [1, 3, 5]].all(axis=1) & _BORDER[window[:, [0, 6]]].all(axis=1) & blanks
    )
    numbered = _maybe_numbered(window[:, 3:], digit[:, 3:], owners)
    results = list(texts)
    for number in numbered | set(owners[closes].tolist()):
        begin, end = begins[number : number + 2].tolist()
        text = source[begin : end - 1]
        for start, stop in _line_numbers(text) if number in numbered else ():
            text = text[:start] + " " * (stop - start) + text[stop:]
        closed = _GROUPED.sub(_close_up, _SPACED.sub(_close_up, text))
        results[number] = results[number] if closed == source[begin : end - 1] else closed
    return results


def _close_up(match: re.Match[str]) -> str:
    word = match[0].replace(" ", "")
    return match[0] if _VOWELS.issuperset(fold(word.lower())) else word.ljust(len(match[0]), FILLER)


def _maybe_numbered(window: Octets, digit: NDArray[np.bool_], owners: Places) -> set[int]:
    """Return the texts that hold eight numbers in a row of 1 to 63; given is what follows blanks."""
    value = np.where(digit[:, 1], 10 * (window[:, 0] - 48) + window[:, 1] - 48, window[:, 0] - 48)
    behind = np.where(digit[:, 1], window[:, 2], window[:, 1])
    alone = digit[:, 0] & np.isin(behind, [*range(33), ord(":"), ord("|")]) & (value < 64)
    held = np.zeros((owners.max(initial=0) + 1, 64), bool)
    held[owners[alone], value[alone]] = True
    for step in (1, 2, 4):
        held = held[:, :-step] & held[:, step:]
    return set(np.flatnonzero(held.any(axis=1)).tolist())


def _line_numbers(text: str) -> list[tuple[int, int]]:
    """Return where line numbers are; one that was misread may be missing between two."""
    runs: list[list[tuple[int, int]]] = []
    expecting: dict[int, list[tuple[int, int]]] = {}
    for match in _ALONE.finditer(text):
        value = int(match[1])
        near = (expecting.get(value + step, []) for step in (0, -1, 1))
        following, over_gap, repeated = (run and match.start() - run[-1][1] <= MAX_GAP for run in near)
        if following or over_gap:
            run = expecting.pop(value if following else value - 1)
        elif value <= MAX_FIRST and not repeated:
            runs.append(run := [])
        else:
            continue
        run.append(match.span(1))
        expecting[value + 1] = run
    spans = [span for run in runs if len(run) >= MIN_LINES for span in run]
    return spans if 2 * len(spans) <= len(text.split()) else []


def close_figures(characters: Characters, positions: Places, signs: NDArray[np.uint32]) -> Characters:
    """Close up figures with thousands marks, among signs; all but letters and digits are spaces, four at both ends."""
    chosen = np.isin(signs, _MARKS)
    at, mark = positions[chosen], signs[chosen]
    window = characters[at[:, None] + np.arange(-4, 5)]
    digit = window - window.dtype.type(ord("0")) < 10
    group = digit[:, 5:8].all(axis=1) & (window[:, 8] == ord(" "))
    width = 1 + digit[:, 2] + (digit[:, 2] & digit[:, 1])
    begin = at - width
    fits = ~digit[:, :4].all(axis=1) & (characters[begin] != ord("0")) & (begin - 1 != np.append(-1, at)[:-1])
    behind = np.append(np.where(np.diff(at) == 4, mark[1:], 0), 0)
    linked = group & np.append(False, group[:-1] & (behind[:-1] == mark[:-1]))[: at.size]
    heads, last = np.flatnonzero(group & ~linked), np.flatnonzero(group & ~np.append(linked[1:], False)[: at.size])
    mine, after, sizes = mark[heads], behind[last], last - heads + 1
    sure = (mine != _POINT) | (sizes > 1) | (after != 0)
    sure &= (after != mine) & (sizes <= MAX_GROUPS) & fits[heads]
    sizes = sizes[sure]
    nth = np.arange(sizes.sum()) - np.repeat(sizes.cumsum() - sizes, sizes)
    kept = at[np.repeat(heads[sure], sizes) + nth][:, None]
    closed = characters.copy()
    closed[kept + np.arange(4)] = ord(" ")
    closed[kept - nth[:, None] + np.arange(3)] = characters[kept + np.arange(1, 4)]
    return closed
