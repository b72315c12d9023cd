"""What a query of the command line and the page means, the same on every engine."""

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ibidem_ingest.dates import interval
from ibidem_ingest.errors import UsageError

MAX_WORDS = 200
FILTERS = ("source", "language", "date", "id", "meta.<name>")

_PIECE = re.compile(r'(?P<minus>(?<!\S)-)?(?:"(?P<phrase>[^"]*)"|(?P<word>[^\s"]+))')
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"') | {"\0": " "})
_EDGES = string.punctuation + string.whitespace


@dataclass(frozen=True, slots=True)
class Phrase:
    """One word, or several in quotation marks that must stand side by side, as typed (no syntax characters)."""

    text: str


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on a field that does not rank: `source`, `language`, `date`, `id` or `meta.<name>`.

    A date's value is a year, a month, a day, or two of them as `from..to` (either may be missing); a document passes
    when its own date, which may be a whole year, has a day in common with it. Of a list in `meta`, one entry is enough.
    """

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Query:
    """What a user asked for.

    Args:
        typed: The query as it was typed, for messages.
        all_of: Every entry must match, by any one of its phrases (`OR` joins its two neighbours).
        none_of: Phrases that must not occur.
        filters: Conditions that do not rank; several on one field: any of them.
        native: A query in the engine's own language instead, handed through (clients and gateway).
    """

    typed: str = ""
    all_of: tuple[tuple[Phrase, ...], ...] = ()
    none_of: tuple[Phrase, ...] = ()
    filters: tuple[Filter, ...] = ()
    native: Mapping[str, object] | None = None


def parse_query(text: str, filters: Sequence[str] = ()) -> Query:
    """Read a query as people type it: all words must occur, `"…"` is a phrase, `OR` joins, a leading `-` excludes.

    All else is a word: no other character means anything, a quotation mark without its partner is left out, and so is
    an `OR` that lacks a neighbour. How a word is cut (`don't`) is left to the engine, which cuts texts the same way.

    Args:
        text: What was typed.
        filters: Conditions, each as `FIELD=VALUE`.

    Raises:
        UsageError: A search for nothing, too many words, or a filter that is not understood.

    >>> parse_query('grain OR wheat "export duty" -rice').all_of
    ((Phrase(text='grain'), Phrase(text='wheat')), (Phrase(text='export duty'),))
    """
    all_of: list[list[Phrase]] = []
    none_of: list[Phrase] = []
    after_word = joins = False
    for piece in _PIECE.finditer(_clean(text)):
        if piece[0] == "OR":
            after_word, joins = False, after_word
            continue
        phrase, excluded = _phrase(piece), piece["minus"] is not None
        if phrase and excluded:
            none_of.append(phrase)
        elif phrase and joins:
            all_of[-1].append(phrase)
        elif phrase:
            all_of.append([phrase])
        after_word, joins = phrase is not None and not excluded, False
    _check_words(all_of, none_of)
    conditions = tuple(parse_filter(typed) for typed in filters)
    return Query(text, tuple(map(tuple, all_of)), tuple(none_of), conditions)


def parse_filter(typed: str) -> Filter:
    """Read a condition such as `source=Reuters`, `date=1987-03..1987-06` or `meta.court=9th Cir.`.

    Raises:
        UsageError: An unknown field, a missing value, or a date that is none.
    """
    name, separator, value = (part.strip() for part in _encodable(typed).partition("="))
    if not separator or not value:
        raise UsageError(f"filter {typed!r} is not understood", f"write FIELD=VALUE, FIELD one of {', '.join(FILTERS)}")
    if name not in FILTERS[:-1] and not (name.startswith("meta.") and name != "meta."):
        raise UsageError(f"filter field {name!r} is unknown", f"use one of {', '.join(FILTERS)}")
    if name == "date":
        days(value)
    return Filter(name, value)


def days(value: str) -> tuple[int | None, int | None]:
    """Give the first and last day that a date filter asks for, in days since 1980-01-01; None where it is open.

    Raises:
        UsageError: No such date, or an end before its beginning.

    >>> days("1980-02"), days("1980-01-02..")
    ((31, 59), (1, None))
    """
    begin, dots, end = value.partition("..")
    try:
        first, last = interval(begin.strip())[0], interval((end if dots else begin).strip())[1]
    except ValueError as error:
        raise UsageError(f"filter date={value}: {error}", "two dates are written FROM..TO") from error
    if (first is None and last is None) or (first is not None and last is not None and first > last):
        raise UsageError(f"filter date={value} holds no day", "write FROM..TO with the earlier date first")
    return first, last


def _clean(text: str) -> str:
    """Make every quotation mark a straight one, and leave out what no engine can be sent."""
    return _encodable(text).translate(_QUOTES)


def _encodable(text: str) -> str:
    """Put a question mark for halves of characters, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _phrase(piece: re.Match[str]) -> Phrase | None:
    """Take the words of a piece, without punctuation around them; None when there are none."""
    words = (piece["word"] if piece["phrase"] is None else piece["phrase"]).strip(_EDGES)
    return Phrase(" ".join(words.split())) if any(map(str.isalnum, words)) else None


def _check_words(all_of: Sequence[Sequence[Phrase]], none_of: Sequence[Phrase]) -> None:
    """Refuse a search for nothing, and one for more words than engines allow."""
    if not all_of and none_of:
        raise UsageError("the query only excludes", "type at least one word that must occur")
    if not all_of:
        raise UsageError("the query holds no word", 'type words to look for, a phrase as "export duty"')
    count = sum(len(phrase.text.split()) for entry in (*all_of, none_of) for phrase in entry)
    if count > MAX_WORDS:
        raise UsageError(f"the query has {count} words", f"use at most {MAX_WORDS}")
