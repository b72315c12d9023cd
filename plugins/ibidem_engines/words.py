"""Words of a query in texts: passages with them marked, and spellings that the index has.

FTS5's own `snippet` takes half a minute on ten million characters in which a common word is looked for.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ibidem_engines.engine import HIGHLIGHT, Engine
from ibidem_engines.query import Phrase, Query, parse_query
from ibidem_ingest.text.tokens import INVISIBLE, visible

PASSAGE_CHARACTERS = 200
LEADING_CHARACTERS = 60
MAX_MATCHES = 2_000
MAX_EXAMINED = 500  # matches of each phrase among which the passage is chosen

MAX_WORDS = 50  # words of a phrase that are looked for, of a longer one the first: each may cost a reading of the text

_FOLDED_BELOW = 0x3000
_NO_MARKS = str.maketrans(dict.fromkeys(HIGHLIGHT))
# A sentence's end may be followed by closing quotation marks.
_SENTENCE_END = re.compile(r"[.!?][\"'\u201d\u2019)]*\s+|\n\s*\n\s*|\f\s*")
_GAP = r"[\W_]+"
_WORD = re.compile(r"[^\W_]+")

Span = tuple[int, int, int]


_STOP_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
der die das den dem des ein eine einer eines und oder von zu im
le la les l d du un une et ou de des en au aux
el los las una y o del al
il lo gli i e di da
"""
# Words that say little of where in a text a query is answered, Lucene's English ones and some of four languages.
STOP_WORDS = frozenset(_STOP_WORDS.split())


def searched_phrases(query: Query | None, field: str = "") -> tuple[Phrase, ...]:
    """List the phrases of a query that are searched in a field; stop words only if the query has nothing else.

    >>> [each.text for each in searched_phrases(Query(all_of=((Phrase("the"),), (Phrase("court"),))))]
    ['court']
    """
    phrases = () if query is None else query.phrases(field)
    return tuple(each for each in phrases if each.prefix or fold(each.text) not in STOP_WORDS) or phrases


def passage(text: str, phrases: Sequence[Phrase]) -> str:
    """Cut the passage of about 200 characters with the most phrases, and highlight them.

    >>> marked_with_stars = str.maketrans(dict.fromkeys(HIGHLIGHT, "*"))
    >>> passage("A bill. The duty on Grain was raised.", [Phrase("grain")]).translate(marked_with_stars)
    'A bill. The duty on *Grain* was raised.'
    """
    patterns = _patterns(phrases, text)
    spans = sorted(_matches(fold(text), patterns, MAX_EXAMINED)) if patterns else []
    begin = _begin(text, _densest(spans)) if spans else len(text) - len(text.lstrip())
    end = _end(text, begin)
    piece = _mark(text[begin:end], patterns)
    return f"{'…' if text[:begin].strip() else ''}{' '.join(piece.split())}{'…' if text[end:].strip() else ''}"


def mark(title: str, phrases: Sequence[Phrase]) -> str:
    """Highlight the phrases in a short text."""
    return _mark(title, _patterns(phrases, title))


def fold(text: str) -> str:
    """Lowercase letters and strip diacritics of Latin ones, as the analyzer does; no character changes its position.

    >>> fold("Éléments de DROIT")
    'elements de droit'
    """
    if text.isascii():
        return text.lower()
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    small_letters = np.where(codes < _FOLDED_BELOW, _folds()[np.minimum(codes, _FOLDED_BELOW - 1)], codes)
    return small_letters.tobytes().decode("utf-32-le")


def word_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word of a text as indexed, with its start and end.

    >>> list(word_spans("Don't!"))
    [('don', 0, 3), ('t', 4, 5)]
    """
    yield from ((match[0], *match.span()) for match in _WORD.finditer(fold(text)))


@cache
def _folds() -> NDArray[np.uint32]:
    """Fold every character of the alphabets with upper case."""
    return np.array([ord(_fold(chr(code))) for code in range(_FOLDED_BELOW)], np.uint32)


def _fold(character: str) -> str:
    letter = character.lower()
    base = unicodedata.normalize("NFD", letter)[0]
    if base.isascii() and base.isalpha():
        return base
    return letter if len(letter) == 1 else character


def _patterns(phrases: Sequence[Phrase], text: str) -> list[re.Pattern[str]]:
    """Return patterns for a text: words with only non-word characters between them, or alone if they may be apart."""
    unseen = "" if visible(text) == text else f"[{INVISIBLE}]*+"  # within words
    patterns: list[re.Pattern[str]] = []
    for phrase in phrases:
        near = [] if phrase.slop is None else phrase.text.split()
        end = rf"(?:{unseen}[^\W_])*+" if phrase.prefix else rf"(?!{unseen}[^\W_])"
        for piece in [each for each in near if fold(each) not in STOP_WORDS] or near or [phrase.text]:
            if parts := _WORD.findall(fold(piece))[:MAX_WORDS]:
                words = (unseen.join(map(re.escape, part)) for part in parts)
                patterns.append(re.compile(_GAP.join(words) + end))
    return patterns


def _matches(text: str, patterns: Sequence[re.Pattern[str]], limit: int) -> Iterator[Span]:
    """Return start, end and phrase of the first matches of each phrase, up to a limit.

    A pattern that began with a look behind would cost the regular expression engine its search for a literal.
    """
    for number, pattern in enumerate(patterns):
        spans = (match.span() for match in pattern.finditer(text))
        matches = (span for span in spans if not (span[0] and text[span[0] - 1].isalnum()))
        yield from ((begin, end, number) for begin, end in islice(matches, limit))


def _densest(spans: Sequence[Span]) -> int:
    """Return the start of the passage with the most phrases, then the most matches; ties go to the first."""
    best, best_at, last = (0, 0), 0, 0
    for first, (begin, _, _) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= begin + PASSAGE_CHARACTERS - LEADING_CHARACTERS:
            last += 1
        inside = spans[first:last]
        if (worth := (len({number for _, _, number in inside}), len(inside))) > best:
            best, best_at = worth, begin
    return best_at if best > (0, 0) else spans[0][0]


def _begin(text: str, position: int) -> int:
    """Return the start of the passage: the start of the sentence if it is near, else of the word."""
    start = max(0, position - LEADING_CHARACTERS)
    if start == 0:
        return len(text) - len(text.lstrip())
    head = text[start:position]
    borders = list(_SENTENCE_END.finditer(head))[-1:] or list(re.finditer(r"\s+", head))[:1]
    return start + borders[0].end() if borders else position


def _end(text: str, begin: int) -> int:
    """Return the end of the passage: the end of a sentence if it is near the width, else of a word."""
    latest = begin + PASSAGE_CHARACTERS
    if latest >= len(text):
        return len(text)
    piece = text[begin:latest]
    sentences = [end.end() for end in _SENTENCE_END.finditer(piece, PASSAGE_CHARACTERS - LEADING_CHARACTERS)]
    if sentences:
        return begin + sentences[-1]
    gap = max(piece.rfind(" "), piece.rfind("\n"))
    return begin + gap if gap > PASSAGE_CHARACTERS - LEADING_CHARACTERS else latest


def _mark(piece: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """Highlight matches; marks already in the text are removed first, and overlapping matches are merged."""
    piece = piece.translate(_NO_MARKS)
    parts, position = [], 0
    for begin, end, _ in sorted(_matches(fold(piece), patterns, MAX_MATCHES)):
        if begin >= position:
            parts += [piece[position:begin], HIGHLIGHT[0], piece[begin:end], HIGHLIGHT[1]]
            position = end
    return "".join(parts) + piece[position:]


# Letters of a word that spellings are looked for of: shorter ones are one slip from very many.
MIN_LETTERS, MAX_LETTERS = 3, 40

MAX_SPELLED = 10  # words of a query that are looked at

ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "αβγδεζηθικλμνξοπρστυφχψω",
    "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    "אבגדהוזחטיכלמנסעפצקרשתךםןףץ",
    "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
)


def spellings(word: str) -> set[str]:
    """Return all words at edit distance one from a word, with the letters of its alphabet.

    >>> {"grain", "gain", "rain"} <= spellings("gran") | spellings("garin") | spellings("grin") | spellings("rgain")
    True
    >>> spellings("an")
    set()
    """
    found: set[str] = set()
    if not MIN_LETTERS <= len(word) <= MAX_LETTERS:
        return found
    letters = "".join(alphabet for alphabet in ALPHABETS if set(alphabet) & set(word)) or "".join(sorted(set(word)))
    for position in range(len(word) + 1):
        head, tail = word[:position], word[position:]
        found.update(head + letter + tail for letter in letters)
        if tail:
            found.add(head + tail[1:])
            found.update(head + letter + tail[1:] for letter in letters)
        if len(tail) > 1:
            found.add(head + tail[1] + tail[0] + tail[2:])
    return found - {word}


def did_you_mean(engine: Engine, query: Query) -> str:
    """Return a corrected query that has matches, or an empty string."""
    words = dict.fromkeys(
        word for phrase in query.phrases() if not phrase.prefix for word, _, _ in word_spans(phrase.text)
    )
    better = engine.suggest(list(words)) if words else {}
    if not better:
        return ""
    typed = query.typed
    for word, begin, end in reversed(list(word_spans(typed))):
        if word in better:
            typed = typed[:begin] + better[word] + typed[end:]
    corrected = replace(parse_query(typed), filters=query.filters, excluded=query.excluded)
    return typed if engine.search(corrected, 1).total else ""
