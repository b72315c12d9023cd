"""Word diff of two texts, on one line and at limited cost; places of the words of a text.

What both texts begin and end with is set aside first, character by character. What is left is aligned at anchors, runs
of words that each text has once (patience diff); `difflib` aligns the words between two anchors. The first differences
alone are looked for, and beyond `MAX_CHARACTERS` characters none; the last piece says so.

A place is the character offsets and the page of a token of `tok3`; signing needs none. A text is cut at white space
into chunks, and a chunk runs on over the end of a line or page after a hyphen, where a broken word may be joined; so no
token crosses two chunks.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.grouped_search.api import page_range
from ibidem_ingest.document import PAGE_BREAK
from ibidem_ingest.signatures.unique_words import longest
from ibidem_ingest.text import signs
from ibidem_ingest.text.folding import fold
from ibidem_ingest.text.tokens import code_points, find_signs, shapes, tokens

_BREAK = r"[ \t]*\r?\n[ \t]*|[ \t]*(?:\r?\n[ \t]*)?\f[ \t]*(?:\r?\n[ \t]*)?"
_CHUNK = re.compile(rf"\S+(?:(?<=[-\u2010\u2011\u00ac\u00ad\u2223])(?:{_BREAK})\S+)*")
UNANCHORED_WORDS = 400  # words of each text that are aligned without anchors
ANCHORS = (8, 3, 1)  # words of an anchor; shorter ones are looked for where texts have no longer one in common
MAX_DEPTH = 20  # times that words between two anchors are cut at anchors again
MAX_CHARACTERS = 1_000_000  # characters of each text, from the first difference on, in which differences are looked for
BORDER_CHARACTERS = 1_000  # characters in which the boundary of a word is looked for
WORD_CHARACTERS = 20  # maximum characters of most words

# Words of each text that are cut at first; where they do not hold all differences that are asked for, all are.
FIRST_WORDS = UNANCHORED_WORDS + 100
MAX_RUN = 6
MAX_WORD = 24


class Words(NamedTuple):
    """The tokens of a text and the characters that each of them covers."""

    tokens: list[str]  # as `tok3` cuts them
    starts: list[int]  # offset of each token's first character
    ends: list[int]  # offset behind each token's last character

    def extent(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return the characters of some words, given by the numbers of the first and behind the last."""
        return self.starts[span[0]], self.ends[span[1] - 1]


def token_offsets(text: str) -> Words:
    """Return all tokens of a text with their offsets; a token with an unclear offset covers its whole chunk.

    >>> token_offsets("Held: (No. 12)")
    Words(tokens=['held', 'no', '12'], starts=[0, 7, 11], ends=[4, 9, 13])
    """
    result = Words([], [], [])
    for match in _CHUNK.finditer(text):
        inside = _tokens(match[0])
        result.tokens.extend(inside)
        for start, end in _places(match[0], inside):
            result.starts.append(match.start() + start)
            result.ends.append(match.start() + end)
    return result


@lru_cache(maxsize=100_000)
def _tokens(chunk: str) -> tuple[str, ...]:
    return tuple(tokens(chunk))


def _places(chunk: str, inside: tuple[str, ...]) -> list[tuple[int, int]]:
    text_form = chunk.lower() if chunk.isascii() else fold(unicodedata.normalize("NFKC", chunk).lower())
    places: list[tuple[int, int]] = []
    reached = 0
    for token in inside:
        start = text_form.find(token, reached) if len(text_form) == len(chunk) else -1
        if start < 0:
            return [(0, len(chunk))] * len(inside)
        reached = start + len(token)
        places.append((start, reached))
    return places


def page_breaks(text: str) -> NDArray[np.int64]:
    r"""Return the offsets of the page breaks in a text.

    >>> page_breaks("one\ftwo\fthree").tolist()
    [3, 7]
    """
    return np.fromiter((at for at, character in enumerate(text) if character == PAGE_BREAK), np.int64)


# `page` says where the next difference is, `unread` up to where differences were looked for.
Kind = Literal["same", "gap", "lead", "duplicate", "page", "unread"]
Place = tuple[int, int, int, int]


class Piece(NamedTuple):
    # In both texts (`same`), only in one of them, a run of common words that is left out (`gap`), or a note.
    kind: Kind
    words: tuple[str, ...] = ()  # the words as in the text, or those of the note; empty for a gap


class DiffSide(NamedTuple):
    """The beginning of a text, prepared for alignment: the words to compare, and the words to show."""

    # Tokens and signs that carry meaning, of each chunk, so that case and other punctuation are no difference.
    keys: list[tuple[str, ...]]
    words: list[str]  # each chunk, as in the text
    starts: list[int]  # offset of each chunk in what was cut

    @classmethod
    def cut(cls, text: str, limit: int | None = None) -> "DiffSide":
        """Take the first chunks of a text that hold a token or a sign that carries meaning, such as a minus.

        >>> side = DiffSide.cut("-5.2 % -- or 5")
        >>> side.words, side.keys
        (['-5.2', '%', 'or', '5'], [('5', '2', '-.'), ('%',), ('or', ''), ('5', '')])
        """
        side = cls([], [], [])
        outlines = shapes().take(code_points(text))
        outlines[[match.start() for match in signs.SUPERSCRIPT.finditer(text)]] = signs.OF_SUPERSCRIPT
        positions = find_signs(outlines.tobytes())
        at = 0
        for match in _CHUNK.finditer(text):
            if len(side.words) == limit:
                break
            begin, at = at, bisect_left(positions, match.end(), at)
            sign = signs.name(unicodedata.normalize("NFKC", "".join(text[each] for each in positions[begin:at])))
            if (inside := _tokens(match[0])) or sign:
                side.keys.append((*inside, sign))
                side.words.append(match[0])
                side.starts.append(match.start())
        return side

    def offset(self, number: int) -> int:
        """Return where a word begins, or the last one; 0 if there is none."""
        return self.starts[min(number, len(self.starts) - 1)] if self.starts else 0


def set_aside(a: str, b: str, around: int = 3 * WORD_CHARACTERS) -> tuple[int, str, str]:
    """Remove the common beginning and end of two texts, except for the words around the difference.

    >>> set_aside("The same. " * 20 + "Rent is due.", "The same. " * 20 + "Rent is not due.", around=10)
    (194, 'same. Rent is due.', 'same. Rent is not due.')
    """
    reached = common_length(a, b) - around
    first = max(0, reached - BORDER_CHARACTERS)
    blanks = (at for at in range(reached, first, -1) if a[at - 1].isspace())
    begin = next((at for at in blanks if a[first:at].rstrip()[-1:].isalnum()), first)  # not inside a hyphenated word
    left, right = a[begin:], b[begin:]
    mirrored = common_length(left[::-1], right[::-1])
    behind = max(0, mirrored - around)
    end = behind - next((at for at, character in enumerate(left[len(left) - behind :]) if character.isspace()), behind)
    return begin, left[: len(left) - end], right[: len(right) - end]


def common_length(a: str, b: str) -> int:
    """Return the length of the common prefix of two texts, in characters.

    >>> common_length("grain", "grant")
    3
    """
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def places(a: Sequence[Hashable], b: Sequence[Hashable], depth: int = MAX_DEPTH) -> Iterator[Place]:
    """Yield the ranges where two word sequences differ, in the order of both.

    >>> list(places("the first annual report".split(), "the second annual report".split()))
    [(1, 2, 1, 2)]
    """
    start = next((i for i, (left, right) in enumerate(zip(a, b, strict=False)) if left != right), min(len(a), len(b)))
    limit = min(len(a), len(b)) - start
    end = next((i for i in range(limit) if a[-1 - i] != b[-1 - i]), limit)
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    cuts = anchors(left, right) if depth and max(len(left), len(right)) > UNANCHORED_WORDS else []
    if not cuts:
        yield from ((start + i, start + j, start + k, start + m) for i, j, k, m in places_in_order(left, right))
        return
    i = k = 0
    for next_i, next_k in [*cuts, (len(left), len(right))]:
        between = left[i:next_i], right[k:next_k]
        found = places(*between, depth - 1) if between[0] != between[1] else ()
        yield from ((start + i + f, start + i + t, start + k + g, start + k + u) for f, t, g, u in found)
        i, k = next_i, next_k


def places_in_order(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[Place]:
    """Yield the ranges where two word sequences differ; what is too long is read piece by piece.

    Where these have nothing in common, all that follows is one place.
    """
    x = y = 0
    while x < len(a) or y < len(b):
        left, right = a[x : x + UNANCHORED_WORDS], b[y : y + UNANCHORED_WORDS]
        codes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
        is_last = x + UNANCHORED_WORDS >= len(a) and y + UNANCHORED_WORDS >= len(b)
        differing = [(x + i, x + j, y + k, y + m) for tag, i, j, k, m in codes if tag != "equal"]
        # The last words may be in the other text's next ones.
        whole = differing if is_last or codes[-1][0] == "equal" else differing[:-1]
        yield from whole
        if is_last:
            return
        if len(whole) == len(differing):
            x, y = x + len(left), y + len(right)
        elif len(codes) > 1:
            x, y = differing[-1][0], differing[-1][2]
        else:
            yield x, len(a), y, len(b)
            return


def anchors(a: Sequence[Hashable], b: Sequence[Hashable], sizes: Sequence[int] = ANCHORS) -> list[tuple[int, int]]:
    """Return where runs of words begin that each sequence has once, in the same order in both.

    >>> anchors("an old king of the north".split(), "the king of the north".split())
    [(2, 1), (3, 2)]
    """
    for size in sizes:
        place = unique_runs(b, size)
        pairs = [(at, place[run]) for run, at in unique_runs(a, size).items() if run in place]
        if pairs:
            left, right = (each.tolist() for each in longest(*np.array(pairs, np.int64).T))
            return list(zip(left, right, strict=True))
    return []


def unique_runs(words: Sequence[Hashable], size: int) -> dict[tuple[Hashable, ...], int]:
    """Return the positions of the runs of words that occur once, in order."""
    runs = list(zip(*(islice(words, i, None) for i in range(size)), strict=False))
    counts = Counter(runs)
    return {run: at for at, run in enumerate(runs) if counts[run] == 1}


def common_words(run: Sequence[str], context: int, *, first: bool) -> list[Piece]:
    """Return the words between two differences: all of a short run, else the first and last ones with a gap."""
    head = 0 if first else context
    if len(run) <= head + context:
        return [Piece("same", tuple(run))]
    return [Piece("same", tuple(run[:head])), Piece("gap"), Piece("same", tuple(run[-context:]))]


def word_diff(lead: str, duplicate: str, limit: int = 4, context: int = 2) -> list[Piece]:
    """Return the words of a duplicate that differ from the lead's, ignoring case and punctuation.

    >>> [(piece.kind, *piece.words) for piece in word_diff("Profit rose to 12", "Profit fell to 12")]
    [('same', 'Profit'), ('lead', 'rose'), ('duplicate', 'fell'), ('same', 'to', '12')]
    """
    begin, *rest = set_aside(lead, duplicate, WORD_CHARACTERS * (context + 1))
    sides = [DiffSide.cut(part[:MAX_CHARACTERS], FIRST_WORDS) for part in rest]
    is_cut = FIRST_WORDS in (len(sides[0].words), len(sides[1].words))
    differing = list(islice(places(sides[0].keys, sides[1].keys), limit))
    if is_cut and not (len(differing) == limit and max(differing[-1][1], differing[-1][3]) < UNANCHORED_WORDS):
        sides = [DiffSide.cut(part[:MAX_CHARACTERS]) for part in rest]
        differing = list(islice(places(sides[0].keys, sides[1].keys), limit))
        is_cut = max(map(len, rest)) > MAX_CHARACTERS
        ends = len(sides[0].words), len(sides[1].words)
        if is_cut and differing and (differing[-1][1] == ends[0] or differing[-1][3] == ends[1]):
            del differing[-1]  # it ends only where reading does
    is_short = is_cut and len(differing) < limit
    pieces = list(written(differing, sides, lambda a, b: page_label(lead, duplicate, begin + a, begin + b), context))
    end = begin + MAX_CHARACTERS
    return [*pieces, Piece("unread", (f"not looked for beyond character {end:,}",))] if is_short else pieces


def page_label(lead: str, duplicate: str, lead_at: int, duplicate_at: int) -> str:
    """Name the page of a difference in both texts; empty for texts without page breaks."""
    if PAGE_BREAK not in lead or PAGE_BREAK not in duplicate:
        return ""
    in_lead, in_duplicate = 1 + lead.count(PAGE_BREAK, 0, lead_at), 1 + duplicate.count(PAGE_BREAK, 0, duplicate_at)
    return page_range("page", in_lead, in_lead) + (f" → {in_duplicate:,}" if in_duplicate != in_lead else "")


def written(
    differing: Sequence[Place], sides: Sequence[DiffSide], page: Callable[[int, int], str], context: int
) -> Iterator[Piece]:
    """Yield the words of differences with those around them, and the page of each that is on another."""
    a, b = sides[0].words, sides[1].words
    reached, label = 0, ""
    for i, j, k, m in differing:
        common = common_words(a[reached:i], context, first=not reached)
        here = page(sides[0].offset(i), sides[1].offset(k))
        if here != label:
            common.insert(max(0, len(common) - 1), Piece("page", (f"{here}:",)))
            label = here
        yield from (piece for piece in common if piece.words or piece.kind == "gap")
        yield from (piece for piece in (Piece("lead", tuple(a[i:j])), Piece("duplicate", tuple(b[k:m]))) if piece.words)
        reached = j
    if differing and reached < len(a):
        yield Piece("same", tuple(a[reached : reached + context]))
        if len(a) > reached + context:
            yield Piece("gap")


def shorten(run: Sequence[str]) -> str:
    """Join words; a long run is shortened to its first and last words and a count.

    >>> shorten("a b c d e f g h i j k l".split())
    'a b c … l (12 words)'
    """
    run = [word if len(word) <= MAX_WORD else f"{word[:MAX_WORD]}…" for word in run]
    if len(run) <= MAX_RUN:
        return " ".join(run)
    return f"{' '.join(run[:3])} … {run[-1]} ({len(run):,} words)"
