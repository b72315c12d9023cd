"""Query of the command line and the page, with the same meaning on every engine, and its syntax.

`OR` joins its two neighbours and so binds before `AND`, which is the same as a space, as in legal search engines and on
the web. Nothing that is typed is an error of syntax: what means nothing is left out or taken as words, and noted.

Cursor of a search: a text that lets the next page continue the same ranking.

A cursor holds what its ranking reads and where the next page begins, with digests of the index, the query and the
parameters that it belongs to, as JSON in base64 for a URL. It is checked like any other parameter. It gives no rights:
whoever writes one sees what a search with the same account and filters finds.

Words of a query in texts: passages with them marked, and spellings that the index has. FTS5's own `snippet` takes half
a minute on ten million characters in which a common word is looked for.
"""

import re
import string
import unicodedata
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import chain, islice
from typing import Annotated, Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter
from xxhash import xxh3_128_hexdigest

from ibidem_ingest.dates import interval, iso_range
from ibidem_ingest.errors import UsageError
from ibidem_ingest.text.tokens import INVISIBLE, visible

MAX_PARENTHESES = 20  # parentheses inside parentheses; SQLite reads 100
MAX_WORDS = 200

# Fields of which words are looked for; the others are followed by a value as in a filter.
WORD_FIELDS = ("title", "text")
QUERY_FIELDS = ("source", "language", "date", "id")  # fields of conditions in a query, as `source:Reuters`

UNPAIRED = "an unmatched parenthesis was ignored"

_OPERATORS = {"AND": "and", "&&": "and", "OR": "or", "||": "or", "NOT": "not"}
_NAME = "|".join((*WORD_FIELDS, *QUERY_FIELDS, r"meta(?:\.[\w-]+)+"))
# What is typed, within a word, where one may begin, and behind the name of a field.
_WITHIN = r'(?P<space>\s+)|(?P<close>\))|(?P<phrase>"(?P<quoted>[^"]*)"(?:~(?P<slop>\d{1,4})(?!\w))?)|(?P<quote>")'
_FIELD = rf"(?P<field>(?P<name>{_NAME}):(?=[^\s:)]))"
_RANGE = r"(?P<range>\[\s*(?P<first>\S+)\s+TO\s+(?P<last>\S+?)\s*\])"
_WORDS = r'(?P<word>[^\s"]+)'
_PIECES = {
    "within": re.compile(rf"{_WITHIN}|{_WORDS}"),
    "begin": re.compile(rf"{_WITHIN}|(?P<open>\()|(?P<not>-(?=\S))|{_FIELD}|{_WORDS}"),
    "value": re.compile(rf"{_WITHIN}|(?P<open>\()|{_RANGE}|{_WORDS}"),
}
_KNOWN = re.compile(rf"(?:{_NAME}):")
_UNKNOWN = re.compile(r"([^\W\d_][\w-]*(?:\.[\w-]+)*):(?=[^\s:)/\\])")
_STRANGE = re.compile(r"\w[~^][\d.]*$|\w[*?]\w|^[*?]\w")
_EDGES = string.punctuation + string.whitespace


class Token(NamedTuple):
    kind: str  # `open`, `close`, `not`, `or`, `and`, `field`, `phrase` or `word`
    text: str  # a word, the words of a phrase, or the name of a field
    # Of a phrase how many other words may be between its words, in any order; None: they follow each other.
    slop: int | None = None


class Phrase(NamedTuple):
    """A word, or several quoted words in order or near each other."""

    text: str  # as typed (no syntax characters)
    field: str = ""  # `title` or `text`, where it must occur; empty: in either; another one: it is a condition
    prefix: bool = False  # whether every word that begins with it counts
    slop: int | None = None  # how many other words may be between its words, in any order; None: they follow each other


class Words(NamedTuple):
    """The contents of parentheses, in the form of a query."""

    all_of: tuple[tuple["Phrase | Words", ...], ...] = ()  # every entry must match, by any one of its parts
    none_of: tuple["Phrase | Words", ...] = ()  # parts that must not


Part = Phrase | Words


def tokens(text: str, notes: list[str]) -> Iterator[Token]:
    position, state = 0, "begin"
    while position < len(text):
        found = next(_PIECES[state].finditer(text, position))
        kind, piece = found.lastgroup, found[0]
        while kind == "word" and piece.endswith(")") and piece.count(")") > piece.count("("):  # of an outer group
            piece = piece[:-1]
        position += len(piece)
        if kind == "word":
            yield _read_word(piece, notes) if state == "begin" else Token(kind, piece)
        elif kind == "phrase":
            yield Token("phrase", found["quoted"], int(found["slop"]) if found["slop"] else None)
        elif kind == "range":
            yield Token("phrase", "..".join("" if end == "*" else end for end in found.group("first", "last")))
        elif kind == "quote":
            notes.append("an unmatched quotation mark was ignored; searched as words")
        elif kind and kind != "space":
            yield Token(kind, piece.removesuffix(":"))
        if kind != "close":
            state = "value" if kind == "field" else "begin" if kind in ("space", "open", "not") else "within"


def _read_word(piece: str, notes: list[str]) -> Token:
    """Distinguish operators from words, and add notes on words that only look like operators."""
    if name := _UNKNOWN.match(piece):
        notes.append(f"{piece}: field {name[1]!r} does not exist; searched as words")
    if _KNOWN.fullmatch(piece):
        notes.append(f"{piece} needs its word right behind it; searched as a word")
    return Token(_OPERATORS.get(piece, "word"), piece)


def _group(pieces: Iterator[Token], notes: list[str], depth: int = 0, field: str = "") -> Words:
    """Parse tokens up to the closing parenthesis, or to the end."""
    entries: list[list[Part]] = []
    none_of: list[Part] = []
    follows = False  # whether the last part was one that must match, which an OR may join to
    before: list[Token] = []  # operators and fields behind it
    has_and = has_or = False  # whether parts were joined by them
    for piece in pieces:
        if piece.kind == "close" and depth:
            break
        if piece.kind == "close":
            notes.append(UNPAIRED)
        elif piece.kind not in ("open", "phrase", "word"):
            before.append(piece)
        else:
            name = next((each.text for each in reversed(before) if each.kind == "field"), field)
            parts = _read_part(piece, pieces, notes, depth, name)
            operators = [each.kind for each in before if each.kind in ("and", "or") and follows]
            follows, before = bool(parts) and all(each.kind != "not" for each in before), []
            has_and |= operators[:1] == ["and"]
            if follows and operators == ["or"]:
                entries[-1] += parts
                has_or = True
            elif follows:
                entries.append([*parts])
            else:
                notes += ["OR cannot join excluded words"] * (bool(parts) and operators == ["or"])
                none_of += parts
    else:
        notes += [UNPAIRED] * bool(depth)
    if has_and and has_or and len(entries) > 1:
        notes.append("OR was applied before AND; parentheses change that")
    own = len(none_of)
    for at, entry in reversed(list(enumerate(entries))):  # a group alone is the same as its parts
        if len(entry) == 1 and isinstance(group := entry[0], Words):
            entries[at : at + 1] = map(list, group.all_of)
            none_of[own:own] = group.none_of
    return Words(tuple(map(tuple, entries)), tuple(none_of))


def _read_part(piece: Token, pieces: Iterator[Token], notes: list[str], depth: int, field: str) -> Sequence[Part]:
    """Read a term or a group; a group that only lists alternatives becomes these, and an empty one nothing."""
    if piece.kind != "open":
        return _term(piece, field, notes)
    if depth == MAX_PARENTHESES:
        raise UsageError(f"more than {MAX_PARENTHESES} parentheses inside one another", "write the query with fewer")
    group = _group(pieces, notes, depth + 1, field)
    if len(group.all_of) == 1 and not group.none_of:
        return group.all_of[0]
    return () if group == Words() else (group,)


def _term(piece: Token, field: str, notes: list[str]) -> Sequence[Phrase]:
    """Parse the words of a token, without surrounding punctuation; empty if there are no words."""
    if field not in ("", *WORD_FIELDS):
        return [Phrase(piece.text.strip(), field)]
    words = piece.text.strip(_EDGES)
    if not any(map(str.isalnum, words)):
        return []
    if piece.kind == "phrase":
        return [Phrase(" ".join(words.split()), field, slop=piece.slop if len(words.split()) > 1 else None)]
    prefix = piece.text.rstrip(_EDGES.replace("*", "")).endswith("*")
    if prefix and not all(each.isalnum() or unicodedata.category(each).startswith("M") for each in words):
        notes.append(f"{piece.text}: * is allowed after one word of letters and digits; searched as words")
        prefix = False
    elif _STRANGE.search(piece.text):
        notes.append(f"{piece.text}: *, ?, ~ and ^ have no meaning there; searched as words")
    return [Phrase(words, field, prefix)]


FLAGS = ("inclusive", "current")
# Fields that `ibidem regroup --threads` and `--versions` store; in a query these are words.
MEMBERSHIPS = ("thread", "work", *FLAGS)

FILTERS = (*QUERY_FIELDS, *MEMBERSHIPS, "meta.<name>")

# A query in one line of help.
QUERY_HELP = (
    'All words must occur; "a phrase", "near words"~5, OR, NOT, -word, parentheses, title:word, elect* and '
    "date:1987..1988 work."
)

_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"') | {"\0": " "})


class Filter(NamedTuple):
    """A condition on a field that does not affect the ranking: one of `FILTERS`.

    A date's value is a year, a month, a day, or two of them as `from..to` (either may be missing); a document passes
    when its own date, which may be a whole year, has a day in common with it. Of a list in `meta`, one entry is enough.
    `inclusive` and `current` are `true` or `false`.
    An empty value of `source`, `language` or `date`, which nobody can type, asks for documents that have none.
    """

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Query:
    """A user's query.

    Args:
        typed: The query as typed, for messages.
        all_of: Every entry must match, by any one of its parts (`OR` joins its two neighbours).
        none_of: Parts that must not occur.
        filters: Conditions that do not rank; several on one field: any of them.
        excluded: Conditions that must not hold.
        notes: What of it was not understood, in words.
    """

    typed: str = ""
    all_of: tuple[tuple[Phrase | Words, ...], ...] = ()
    none_of: tuple[Phrase | Words, ...] = ()
    filters: tuple[Filter, ...] = ()
    excluded: tuple[Filter, ...] = ()
    notes: tuple[str, ...] = ()

    def digest(self) -> str:
        """Return a hash of the parsed query, independent of its spelling.

        >>> parse_query("  grain ").digest() == parse_query("grain").digest() != parse_query("wheat").digest()
        True
        """
        parts = self.all_of, self.none_of, self.filters, self.excluded
        return xxh3_128_hexdigest(repr(parts).encode())

    def phrases(self, field: str = "") -> tuple[Phrase, ...]:
        """Return every phrase, searched in a field, that may make a document match."""
        phrases = (each for each in _parts(self, excluded=False) if isinstance(each, Phrase))
        return tuple(each for each in phrases if not (field and each.field) or each.field == field)


def parse_query(text: str, filters: Sequence[str] = ()) -> Query:
    """Parse a typed query: all words must occur, `"…"` is a phrase, `OR` joins, `NOT` and `-` exclude.

    `"export duty"~5` asks for both words in any order with at most five others between them.
    `(…)` groups, `elect*` is every word that begins so, `title:` and `text:` say where a word, a phrase or a group must
    occur, and `date:1987..1988`, `source:`, `language:`, `id:` and `meta.NAME:` are filters. `OR` binds before `AND`,
    which is the same as a space. All else is a word; what looks like more is named in `notes`. How a word is cut
    (`don't`) is left to the engine, which cuts texts the same way.

    Args:
        text: The query as typed.
        filters: Conditions, each as `FIELD=VALUE`.

    Raises:
        UsageError: A search for nothing, too many words, or a filter that is not valid.

    >>> parse_query('grain OR wheat title:"export duty" -rice').all_of[1]
    (Phrase(text='export duty', field='title', prefix=False, slop=None),)
    """
    notes: list[str] = []
    # Without characters that nobody sees in a word; lone surrogates, which UTF-8 cannot encode, are question marks.
    typed_words = visible(text.encode("utf-8", "replace").decode()).translate(_QUOTES)
    group = _group(tokens(typed_words, notes), notes)
    all_of, typed = _part_conditions(group.all_of)
    none_of, excluded = _part_conditions([(part,) for part in group.none_of])
    words = Words(all_of, tuple(chain(*none_of)))
    _check_words(words, has_conditions=bool(typed))
    conditions = (*map(parse_filter, filters), *typed)
    return Query(text, words.all_of, words.none_of, conditions, excluded, tuple(dict.fromkeys(notes)))


def _part_conditions(entries: Sequence[Sequence[Part]]) -> tuple[tuple[tuple[Part, ...], ...], tuple[Filter, ...]]:
    """Part alternatives that are words from those that are conditions on one field."""
    words: list[tuple[Part, ...]] = []
    conditions: list[Filter] = []
    for parts in entries:
        fields = {part.field if isinstance(part, Phrase) and part.field not in WORD_FIELDS else "" for part in parts}
        if len(fields) > 1:
            name = min(fields - {""})
            remedy = f"join by OR only {name}: with {name}:, and the rest by AND"
            raise UsageError(f"{name}: is in an OR with something else", remedy)
        if fields == {""}:
            words.append(tuple(parts))
        else:
            conditions += [parse_filter(f"{part.field}={part.text}") for part in parts if isinstance(part, Phrase)]
    return tuple(words), tuple(conditions)


def _check_words(words: Words, *, has_conditions: bool) -> None:
    """Refuse an empty search, too many words, parentheses without a word that must occur, and a condition in them."""
    parts = list(_parts(words))
    if any(isinstance(part, Words) and not part.all_of for part in parts):
        raise UsageError("a pair of parentheses only excludes words", "put a word that must occur into it")
    phrases = [part for part in parts if isinstance(part, Phrase)]
    if name := next((each.field for each in phrases if each.field not in ("", *WORD_FIELDS)), ""):
        remedy = f"put {name}: next to the words, joined by AND or NOT"
        raise UsageError(f"{name}: nested too deep in parentheses", remedy)
    if not words.all_of and words.none_of and not has_conditions:
        raise UsageError("the query only excludes words", "type at least one word that must occur")
    if not words.all_of and not has_conditions:
        raise UsageError("the query holds no word", 'type words to look for, a phrase as "export duty"')
    if (count := sum(len(each.text.split()) for each in phrases)) > MAX_WORDS:
        raise UsageError(f"the query has {count} words", f"use at most {MAX_WORDS}")


def _parts(words: "Words | Query", *, excluded: bool = True) -> Iterator[Part]:
    """Yield the parts of a group and of the groups in it, with those that must not occur or without."""
    for part in (*chain(*words.all_of), *(words.none_of if excluded else ())):
        yield part
        if isinstance(part, Words):
            yield from _parts(part, excluded=excluded)


def parse_filter(typed: str) -> Filter:
    """Parse a condition such as `source=Reuters`, `date=1987-03..1987-06` or `meta.court=9th Cir.`."""
    name, separator, value = map(str.strip, typed.encode("utf-8", "replace").decode().partition("="))
    if not separator or not value:
        raise UsageError(f"filter {typed!r} is not valid", f"write FIELD=VALUE, FIELD one of {', '.join(FILTERS)}")
    if name not in FILTERS[:-1] and not (name.startswith("meta.") and name != "meta."):
        raise UsageError(f"filter field {name!r} is unknown", f"use one of {', '.join(FILTERS)}")
    if name == "date":
        value = iso_range(value)
        days(value)
    if name in FLAGS and value not in ("true", "false"):
        raise UsageError(f"filter {name}={value} is not valid", f"write {name}=true or {name}=false")
    return Filter(name, value)


def days(value: str) -> tuple[int | None, int | None]:
    """Return the first and last day of a date filter, in days since 1980-01-01; None for an open end.

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


VERSION = "c3"  # form of the parts; a cursor of another form is refused

_START_OVER = "leave it out to start a new list"

_Number = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_PARTS: TypeAdapter[tuple[str, str, str, str, int | None, str, tuple[int, list[Any]] | None]] = TypeAdapter(
    tuple[str, str, str, str, _Number | None, str, tuple[_Number, list[Any]] | None]
)


class ReadView(NamedTuple):
    """Read view of a ranking: writes up to a sequence number, or a point in time; by default the current state."""

    newest: int | None = None  # highest sequence number that is read; None: no limit
    point: str = ""  # id of a point in time of the server, or an empty string


NOW = ReadView()  # everything that is there when the search runs


class Place(NamedTuple):
    """Start position of a page in a collapsed ranking."""

    start: int  # how many groups come before
    # Sort values that an earlier request gave to go on from; needed beyond the groups that an engine counts off.
    search_after: Sequence[object] | None = None


class Cursor(NamedTuple):
    """State that one page passes to the next."""

    view: ReadView = NOW  # what the ranking reads
    next_page: Place | None = None  # where the next page begins, for an engine that does not count that far


@dataclass(frozen=True, slots=True)
class CursorCodec:
    """Encodes and decodes the cursors of one list: an index, a query and parameters.

    >>> codec = CursorCodec("news", "grain", "near")
    >>> codec.decode(codec.encode(Cursor(ReadView(17)))).view.newest
    17
    """

    index: str  # name of the index, or names
    query: str  # digest of the query
    parameters: str  # digest of what else decides on groups and their order

    def encode(self, cursor: Cursor) -> str:
        page = cursor.next_page
        following = None if page is None else [page.start, page.search_after]
        parts = [VERSION, *self._digests(), cursor.view.newest, cursor.view.point, following]
        return urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")

    def decode(self, text: str) -> Cursor:
        """Decode a cursor; an empty text means the first page."""
        if not text:
            return Cursor()
        try:
            content = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            version, *digests, newest, point, following = _PARTS.validate_json(content, strict=True)
        except ValueError as error:
            raise UsageError(
                "dedupe_cursor is not valid: no search of this index has issued it",
                "use `dedupe.cursor` of an answer unchanged, or leave it out to start a new list",
            ) from error
        index, *others = self._digests()
        if [version, digests[0]] != [VERSION, index]:
            raise UsageError("dedupe_cursor belongs to another index, or another version of ibidem", _START_OVER)
        if digests[1:] != others:
            raise UsageError("dedupe_cursor belongs to another query, level, window or preset", _START_OVER)
        return Cursor(ReadView(newest, point), None if following is None else Place(*following))

    def _digests(self) -> list[str]:
        """Return digests of index names, query and parameters; digests, since there may be thousands of names."""
        parts = (each.encode(errors="surrogatepass") for each in (self.index, self.query, self.parameters))
        return [blake2b(part, digest_size=16).hexdigest() for part in parts]


# Marks around a word of the query, from the private use area, so that no text is mistaken for a mark.
HIGHLIGHT = ("\ue000", "\ue001")

PASSAGE_CHARACTERS = 200
LEADING_CHARACTERS = 60
MAX_MATCHES = 2_000
MAX_EXAMINED = 500  # matches of each phrase among which the passage is chosen

MAX_SOUGHT = 50  # words of a phrase that are sought, of a longer one the first: each may cost a reading of the text

_FOLDED_BELOW = 0x3000
_NO_MARKS = str.maketrans(dict.fromkeys(HIGHLIGHT))
# A sentence's end may be followed by closing quotation marks.
_SENTENCE_END = re.compile(r"[.!?][\"'\u201d\u2019)]*\s+|\n\s*\n\s*|\f\s*")
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
    begin = _begin(text, _densest(spans) if spans else 0)
    end = _end(text, begin)
    piece = mark(text[begin:end], phrases)
    return f"{'…' if text[:begin].strip() else ''}{' '.join(piece.split())}{'…' if text[end:].strip() else ''}"


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
    folds = np.arange(_FOLDED_BELOW, dtype=np.uint32)
    for code in range(_FOLDED_BELOW):
        letter = chr(code).lower()
        base = unicodedata.normalize("NFD", letter)[0]
        if (base.isascii() and base.isalpha()) or len(letter) == 1:
            folds[code] = ord(base if base.isascii() and base.isalpha() else letter)
    return folds


def _patterns(phrases: Sequence[Phrase], text: str) -> list[re.Pattern[str]]:
    """Return patterns for a text: words with only non-word characters between them, or alone if they may be apart."""
    unseen = "" if visible(text) == text else f"[{INVISIBLE}]*+"  # within words
    patterns: list[re.Pattern[str]] = []
    for phrase in phrases:
        near = [] if phrase.slop is None else phrase.text.split()
        end = rf"(?:{unseen}[^\W_])*+" if phrase.prefix else rf"(?!{unseen}[^\W_])"
        for piece in [each for each in near if fold(each) not in STOP_WORDS] or near or [phrase.text]:
            if parts := _WORD.findall(fold(piece))[:MAX_SOUGHT]:
                words = (unseen.join(map(re.escape, part)) for part in parts)
                patterns.append(re.compile(r"[\W_]+".join(words) + end))
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
    best, best_at, last = (0, 0), spans[0][0], 0
    for first, (begin, _, _) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= begin + PASSAGE_CHARACTERS - LEADING_CHARACTERS:
            last += 1
        inside = spans[first:last]
        if (worth := (len({number for _, _, number in inside}), len(inside))) > best:
            best, best_at = worth, begin
    return best_at


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


def mark(piece: str, phrases: Sequence[Phrase]) -> str:
    """Highlight phrases; marks already in the text are removed first, and overlapping matches are merged."""
    patterns, piece = _patterns(phrases, piece), piece.translate(_NO_MARKS)
    parts, position = [], 0
    for begin, end, _ in sorted(_matches(fold(piece), patterns, MAX_MATCHES)):
        if begin >= position:
            parts += [piece[position:begin], HIGHLIGHT[0], piece[begin:end], HIGHLIGHT[1]]
            position = end
    return "".join(parts) + piece[position:]


# Letters of a word that spellings are looked for of: shorter ones are one slip from very many.
MIN_LETTERS, MAX_LETTERS = 3, 40

MAX_SPELLED = 10  # words of a query that are looked at
