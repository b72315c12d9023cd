"""What is asked of the dedupe layer where neither query string nor body can say it: a header, or an index alias."""

import re
from collections.abc import Mapping

HEADER = "x-ibidem-dedupe"
"""Its value is a mode."""

ALIASES: Mapping[str, str] = {"dedupe": "collapse", "indent": "indent"}
"""Modes by what follows the name of an index, after `~`."""

_ALIAS = re.compile(rf"~({'|'.join(ALIASES)})(?=,|$)")


def unaliased(indexes: str) -> tuple[str, str]:
    """Return the engine's own names of indexes, and the mode that an alias asks for, or nothing.

    Args:
        indexes: Names by commas.

    >>> unaliased("news~dedupe,law"), unaliased("news")
    (('news,law', 'collapse'), ('news', ''))
    """
    match = _ALIAS.search(indexes)
    return _ALIAS.sub("", indexes), ALIASES[match[1]] if match else ""


def default_mode(alias: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Return what is asked where a request says nothing else; an alias says more than a header.

    Args:
        alias: The mode that an alias asks for, or nothing.
        headers: Those of the request, names in small letters.

    >>> default_mode("", {"x-ibidem-dedupe": "indent"})
    {'dedupe': 'indent'}
    """
    mode = alias or headers.get(HEADER, "")
    return {"dedupe": mode} if mode else {}


def own_path(raw: str) -> str:
    """Return a path with the engine's own names of indexes.

    Args:
        raw: The path as it came.

    >>> own_path("/news~dedupe/_doc/a~dedupe")
    '/news/_doc/a~dedupe'
    """
    first, stroke, rest = raw.removeprefix("/").partition("/")
    return f"/{unaliased(first)[0]}{stroke}{rest}"
