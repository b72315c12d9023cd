"""Query of the command line and the page, with the same meaning on every engine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xxhash import xxh3_128_hexdigest

from ibidem_engines.query_syntax import WORD_FIELDS, Parentheses, Term, read_query
from ibidem_ingest.dates import interval
from ibidem_ingest.errors import UsageError
from ibidem_ingest.written_dates import iso_range

MAX_WORDS = 200
TYPED = ("source", "language", "date", "id")  # fields whose conditions may be typed in a query, as `source:Reuters`

FLAGS = ("inclusive", "current")
# Fields that `ibidem regroup --threads` and `--versions` store; in a query these are words.
MEMBERSHIPS = ("thread", "work", *FLAGS)

FILTERS = (*TYPED, *MEMBERSHIPS, "meta.<name>")

# A query in one line of help.
QUERY_HELP = (
    'All words must occur; "a phrase", "near words"~5, OR, NOT, -word, parentheses, title:word, elect* and '
    "date:1987..1988 work."
)

_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"') | {"\0": " "})


@dataclass(frozen=True, slots=True)
class Phrase:
    """A word, or several quoted words in order or near each other."""

    text: str  # as typed (no syntax characters)
    field: str = ""  # `title` or `text`, where it must occur; empty: in either
    prefix: bool = False  # whether every word that begins with it counts
    slop: int | None = None  # how many other words may be between its words, in any order; None: they follow each other


@dataclass(frozen=True, slots=True)
class Words:
    """The contents of parentheses, in the form of a query."""

    all_of: tuple[tuple["Phrase | Words", ...], ...] = ()  # every entry must match, by any one of its parts
    none_of: tuple["Phrase | Words", ...] = ()  # parts that must not


@dataclass(frozen=True, slots=True)
class Filter:
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

    @property
    def meaning(self) -> tuple[object, ...]:
        """Normalized form of the query, independent of its spelling."""
        return self.all_of, self.none_of, self.filters, self.excluded

    def digest(self) -> str:
        """Return a hash of the parsed query, independent of its spelling.

        >>> parse_query("  grain ").digest() == parse_query("grain").digest() != parse_query("wheat").digest()
        True
        """
        return xxh3_128_hexdigest(repr(self.meaning).encode())

    def phrases(self, field: str = "") -> tuple[Phrase, ...]:
        """Return every phrase, searched in a field, that may make a document match."""
        return tuple(
            each
            for entry in self.all_of
            for each in _phrases(entry)
            if not (field and each.field) or each.field == field
        )


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
    group, notes = read_query(_clean(text), _is_field)
    typed: list[Filter] = []
    words = Parentheses()
    for entry in group.all_of:
        conditions = _conditions(entry)
        typed += conditions
        words.all_of += [] if conditions else [entry]
    excluded: list[Filter] = []
    for part in group.none_of:
        conditions = _conditions([part])
        excluded += conditions
        words.none_of += [] if conditions else [part]
    query = _words(words)
    _check_words(query, conditions=bool(typed))
    conditions = [parse_filter(each) for each in filters]
    return Query(text, query.all_of, query.none_of, (*conditions, *typed), tuple(excluded), notes)


def match_all(filters: Sequence[str] = ()) -> Query:
    """Return the query for all documents, or for the documents that pass filters.

    >>> match_all(["language=en"]).all_of
    ()
    """
    return Query("", filters=tuple(parse_filter(each) for each in filters))


def _is_field(name: str) -> bool:
    return name in WORD_FIELDS or name in TYPED or (name.startswith("meta.") and name != "meta.")


def _conditions(parts: Sequence[Term | Parentheses]) -> list[Filter]:
    """Return alternatives as conditions on one field; empty if they are words."""
    fields = {part.field if isinstance(part, Term) and part.field not in WORD_FIELDS else "" for part in parts}
    if fields == {""}:
        return []
    if len(fields) > 1:
        name = min(fields - {""})
        raise UsageError(
            f"{name}: is in an OR with something else", f"join by OR only {name}: with {name}:, and the rest by AND"
        )
    return [parse_filter(f"{part.field}={part.text}") for part in parts if isinstance(part, Term)]


def _words(group: Parentheses) -> Words:
    """Return a group that contains only words, as words."""
    return Words(tuple(tuple(map(_part, entry)) for entry in group.all_of), tuple(map(_part, group.none_of)))


def _part(part: Term | Parentheses) -> Phrase | Words:
    if isinstance(part, Parentheses):
        words = _words(part)
        if not words.all_of:
            raise UsageError("a pair of parentheses only excludes words", "put a word that must occur into it")
        return words
    if part.field and part.field not in WORD_FIELDS:
        raise UsageError(
            f"{part.field}: nested too deep in parentheses",
            f"put {part.field}: next to the words, joined by AND or NOT",
        )
    return Phrase(part.text, part.field, part.prefix, part.slop)


def _phrases(parts: Sequence[Phrase | Words]) -> Iterator[Phrase]:
    for part in parts:
        if isinstance(part, Phrase):
            yield part
        else:
            for entry in part.all_of:
                yield from _phrases(entry)


def parse_filter(typed: str) -> Filter:
    """Parse a condition such as `source=Reuters`, `date=1987-03..1987-06` or `meta.court=9th Cir.`."""
    name, separator, value = (part.strip() for part in _encodable(typed).partition("="))
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


def _clean(text: str) -> str:
    """Normalize quotation marks, and remove characters that engines do not accept."""
    return _encodable(text).translate(_QUOTES)


def _encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _check_words(words: Words, *, conditions: bool) -> None:
    """Refuse an empty search, and one with too many words."""
    if not words.all_of and words.none_of and not conditions:
        raise UsageError("the query only excludes words", "type at least one word that must occur")
    if not words.all_of and not conditions:
        raise UsageError("the query holds no word", 'type words to look for, a phrase as "export duty"')
    count = _count([*(part for entry in words.all_of for part in entry), *words.none_of])
    if count > MAX_WORDS:
        raise UsageError(f"the query has {count} words", f"use at most {MAX_WORDS}")


def _count(parts: Sequence[Phrase | Words]) -> int:
    return sum(
        len(part.text.split())
        if isinstance(part, Phrase)
        else _count([*(each for entry in part.all_of for each in entry), *part.none_of])
        for part in parts
    )
