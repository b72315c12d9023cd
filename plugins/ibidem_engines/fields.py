"""Field names of a user's own index (`IBIDEM_FIELDS`)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import fields as members

from ibidem_ingest.errors import UsageError

OURS = "ibidem"
"""The one object that ibidem adds to an index and its documents."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Where an index keeps what a document has; a dot leads into an object.

    Args:
        title: The title; it counts double in a search.
        text: The core text.
        date: The date as it was given.
        source: Where it was published.
        url: Where it can be read.
        language: Its language.
        meta: The object that holds all else; empty when it is at the top, next to the others.
    """

    title: str = "title"
    text: str = "text"
    date: str = "date"
    source: str = "source"
    url: str = "url"
    language: str = "language"
    meta: str = "meta"

    @property
    def own(self) -> bool:
        """Whether these are our own names, so that the index is one that we made."""
        return self == Fields()


def parse_fields(text: str) -> Fields:
    """Read `title=headline,text=body`; what is not named keeps our name.

    Raises:
        UsageError: A name that a document does not have, or that comes twice, or none after the sign.

    >>> parse_fields("title=headline, text=article.body").text
    'article.body'
    """
    named = {}
    names = [member.name for member in members(Fields)]
    for pair in filter(None, (part.strip() for part in text.split(","))):
        ours, separator, theirs = (part.strip() for part in pair.partition("="))
        if ours not in names:
            raise UsageError(f"field {ours!r} in the field names is unknown", f"use {', '.join(names)}")
        if not separator or not (theirs or ours == "meta"):
            raise UsageError(f"field names {pair!r} are not understood", "write title=headline,text=body")
        if ours in named:
            raise UsageError(f"field {ours!r} is named twice in the field names", "name each once")
        if theirs.partition(".")[0] == OURS:
            raise UsageError(f"field names {pair!r} lead into what ibidem adds", f"name a field outside {OURS!r}")
        named[ours] = theirs
    return replace(Fields(), **named)


def value_at(source: Mapping[str, object], path: str) -> object:
    """Read what is at a path: under the name as it is written, or through objects at the dots.

    Of a list of objects it is the list of what is in each.

    >>> value_at({"article": {"body": "Text"}}, "article.body")
    'Text'
    >>> value_at({"parts": [{"body": "One"}, {"body": ["Two", "Three"]}]}, "parts.body")
    ['One', 'Two', 'Three']
    """
    if path in source:
        return source[path]
    first, dot, rest = path.partition(".")
    inner = source.get(first)
    if not dot:
        return None
    if isinstance(inner, list):
        return _joined([value_at(each, rest) for each in inner if isinstance(each, Mapping)])
    return value_at(inner, rest) if isinstance(inner, Mapping) else None


def _joined(values: list[object]) -> list[object] | None:
    """Put values and lists of values into one list; None when there is nothing."""
    parts = [one for each in values for one in (each if isinstance(each, list) else [each]) if one is not None]
    return parts or None


def put_at(source: dict[str, object], path: str, value: object) -> None:
    """Set what is at a path, with objects at the dots.

    >>> record = {}
    >>> put_at(record, "article.body", "Text")
    >>> record
    {'article': {'body': 'Text'}}
    """
    first, dot, rest = path.partition(".")
    if not dot:
        source[path] = value
        return
    inner = source.setdefault(first, {})
    if isinstance(inner, dict):
        put_at(inner, rest, value)


def without(source: Mapping[str, object], path: str) -> dict[str, object]:
    """Leave out what is at a path, and the objects that are empty without it.

    >>> without({"article": {"body": "Text"}, "place": "Chicago"}, "article.body")
    {'place': 'Chicago'}
    """
    first, dot, rest = path.partition(".")
    inner = source.get(first)
    if path in source or not (dot and isinstance(inner, Mapping | list)):
        return {name: value for name, value in source.items() if name != path}
    left: object
    if isinstance(inner, list):
        each_left = [without(each, rest) if isinstance(each, Mapping) else each for each in inner]
        left = [each for each in each_left if each != {}]
    else:
        left = without(inner, rest)
    return {name: left if name == first else value for name, value in source.items() if name != first or left}
