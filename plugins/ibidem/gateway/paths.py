"""Which paths are answered here, and which go to the engine."""

import re

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
