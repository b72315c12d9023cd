"""Paths: which are answered here, and the mode of grouping that an index alias, or a header, asks for."""

import re
from collections.abc import Mapping

from starlette.types import Scope

from ibidem.gateway.index_access import all_open
from ibidem_workers.settings import Settings

OWN = re.compile(
    r"/|/(?:healthz|readyz|metrics|docs|openapi\.json)|/ibidem/(?!_).*|/(?:[^/]+/)?_(?:search|msearch|count)"
)
"""Paths that are answered here."""


def everything(settings: Settings) -> bool:
    """Return whether every path of every index goes to the engine, which alone decides on it."""
    return settings.gateway_paths == "all" and all_open(settings)


def streams(scope: Scope, settings: Settings) -> bool:
    """Return whether a request is streamed, so that its body may be of any length.

    Args:
        scope: The request.
        settings: The settings in force.
    """
    return everything(settings) and not OWN.fullmatch(scope["path"])


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
