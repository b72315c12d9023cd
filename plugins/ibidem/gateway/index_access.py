"""Index access: which indexes callers may name (`IBIDEM_GATEWAY_INDEXES`), also inside a query.

Paths: which are answered by the gateway itself, and the mode of grouping that an index alias, or a header, asks for.
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, get_args

from starlette.types import Scope

from ibidem.gateway import grammar
from ibidem.gateway.errors import HttpError
from ibidem.grouped_search.dsl.unsupported import refuse_depth
from ibidem_core.settings import Settings
from ibidem_engines.engine import Ledger

# Names of the indexes that keep records next to an index.
_LEDGER = re.compile(rf".+-ibidem-(?:{'|'.join(get_args(Ledger))})")

# Names that the engines take, or patterns with `*`: no other cluster's, no exclusion.
_NAME = re.compile(r'[^\x00-\x20\x7f\\/?"<>|,#:{}%+_.-][^\x00-\x20\x7f\\/?"<>|,#:{}%]{0,254}')

_CHARACTER = r'[^\x00-\x20\x7f\\/?"<>|,#:{}%*]'
# A date in the name of an index, with a format that holds no quoted text.
_DATE = re.compile(r"\{now(?:[+-]\d{1,9}[A-Za-z]|/[A-Za-z])*(?:\{[A-Za-z0-9._-]*(?:\|[A-Za-z0-9/_+:-]+)?\})?\}")

# A name with dates, such as `<logs-{now/d}>`.
_DATED_NAME = re.compile(rf"<((?:(?![+_.-]){_CHARACTER})?(?:{_CHARACTER}|{_DATE.pattern})+)>")

DATE_MATH = re.compile("<[^<>]*>")  # part of a path in which a stroke, written `%2F`, separates no names


def patterns(settings: Settings) -> tuple[str, ...]:
    """Return the names and patterns that are open to callers."""
    return settings.gateway_indexes or (settings.index,)


def has_all_indexes(settings: Settings) -> bool:
    """Return whether callers may access every index, so that no check is needed."""
    return "*" in patterns(settings)


def is_allowed(name: str, settings: Settings) -> bool:
    """Return whether a name, or everything that a pattern matches, is open to callers.

    A pattern is taken as a text: whatever a `*` in it matches, a `*` of the settings covers as well. A ledger, which
    holds the key of cursors among other records, is open only where it is named itself, or where all indexes are.

    >>> settings = Settings(gateway_indexes="news-*")
    >>> is_allowed("news-2026-*", settings), is_allowed("*", settings), is_allowed("news-1-ibidem-runs", settings)
    (True, False, False)
    """
    if _LEDGER.fullmatch(name) and not has_all_indexes(settings):
        return name in patterns(settings)
    return any(fnmatchcase(name, literal(pattern)) for pattern in patterns(settings))


def check_expansion(value: object, settings: Settings) -> None:
    """Refuse a wildcard that matches hidden indexes, such as ledgers, unless all indexes are open."""
    kinds = str(value).split(",") if not isinstance(value, list) else [str(each) for each in value]
    if {"hidden", "all"} & {each.strip().lower() for each in kinds} and not has_all_indexes(settings):
        raise HttpError(
            403, "security_exception", "wildcards cannot match hidden indexes here", "write expand_wildcards=open"
        )


def literal(pattern: str) -> str:
    """Escape a pattern so that only `*` is special."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


def check_indexes(names: str, settings: Settings) -> str:
    """Check and return the index names of a path."""
    if has_all_indexes(settings) and settings.gateway_paths == "all":
        return names
    for name in names.split(","):
        check_name(name, settings)
    return names


def check_name(name: str, settings: Settings) -> None:
    """Check one name or pattern."""
    dated = _DATED_NAME.fullmatch(name)
    if not (dated or _NAME.fullmatch(name)) or ".." in name:
        raise HttpError(
            400, "invalid_index_name_exception", f"{name!r} is not the name of an index", "write lower-case names"
        )
    if not is_allowed(_DATE.sub("*", dated[1]) if dated else name, settings):
        open_ones = ", ".join(patterns(settings))
        raise HttpError(
            403,
            "security_exception",
            f"index {name!r} is not allowed here",
            f"allowed are {open_ones} (IBIDEM_GATEWAY_INDEXES)",
        )


INDEX, ID = ("index", "_index"), ("id", "_id", "path")
TARGET = "target_index"  # where a runtime field of type `lookup` reads

WRAPPER = "wrapper"


def check_references(body: Any, settings: Settings) -> None:
    """Check every index that a search body references; no check if all indexes are open."""
    if has_all_indexes(settings):
        return
    refuse_depth(body)
    for reader in (grammar.search, references):
        for index in reader(body):
            check_indexes(index, settings)


def references(body: Any) -> Iterator[str]:
    """Yield the indexes of references with an id, and of look-ups.

    >>> list(references({"query": {"terms": {"id": {"index": "lists", "id": "1", "path": "ids"}}}}))
    ['lists']
    """
    stack = [body]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield from (grammar.named_index(value, name) for name in INDEX if names_a_document(value, name))
            if TARGET in value:
                yield grammar.named_index(value, TARGET)
            if isinstance(value.get(WRAPPER), dict) and isinstance(value[WRAPPER].get("query"), str):
                grammar.refuse(WRAPPER)
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def names_a_document(value: dict[str, Any], name: str) -> bool:
    """Return whether an object refers to a document by index and id."""
    return name in value and not isinstance(value[name], dict | list) and any(each in value for each in ID)


INDEXES = r"(?:[^/<>]|<[^<>]*>)+"  # names of indexes in a path whose `%2F` are read

# Paths that are answered here.
OWN = re.compile(
    rf"/|/(?:healthz|readyz|metrics|docs|openapi\.json)|/ibidem/(?!_).*|/(?:{INDEXES}/)?_(?:search|msearch|count)"
)


def has_all_paths(settings: Settings) -> bool:
    """Return whether every path of every index is forwarded, so that only the engine decides on access."""
    return settings.gateway_paths == "all" and has_all_indexes(settings)


def streams(scope: Scope, settings: Settings) -> bool:
    """Return whether a request is streamed; the body of a streamed request may have any length."""
    return has_all_paths(settings) and not OWN.fullmatch(scope["path"])


HEADER = "x-ibidem-dedupe"  # its value is a mode

# Modes by what follows the name of an index, after `~`.
ALIASES: Mapping[str, str] = {"dedupe": "collapse", "indent": "indent"}

_ALIAS = re.compile(rf"~({'|'.join(ALIASES)})(?=,|$)")


def split_alias(indexes: str) -> tuple[str, str]:
    """Split an alias into the engine's own index names and the dedupe mode that it implies, if any.

    >>> split_alias("news~dedupe,law"), split_alias("news")
    (('news,law', 'collapse'), ('news', ''))
    """
    match = _ALIAS.search(indexes)
    return _ALIAS.sub("", indexes), ALIASES[match[1]] if match else ""


def default_mode(alias: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the default dedupe parameters; an alias takes precedence over a header.

    >>> default_mode("", {"x-ibidem-dedupe": "indent"})
    {'dedupe': 'indent'}
    """
    mode = alias or headers.get(HEADER, "")
    return {"dedupe": mode} if mode else {}


def own_path(raw: str) -> str:
    """Return a path with the engine's own index names.

    >>> own_path("/news~dedupe/_doc/a~dedupe")
    '/news/_doc/a~dedupe'
    """
    first, stroke, tail = raw.removeprefix("/").partition("/")
    return f"/{split_alias(first)[0]}{stroke}{tail}"
