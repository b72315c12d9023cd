"""What every request is given: the settings, and the index with the caller's own rights."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from ibidem.gateway.callers import Caller
from ibidem.gateway.engines import Engines
from ibidem_engines.engine import Engine
from ibidem_workers.settings import Settings


@dataclass(frozen=True, slots=True)
class Given:
    """What every request may use.

    Args:
        settings: The settings in force.
        engines: The engines, by caller.
    """

    settings: Settings
    engines: Engines

    @property
    def kind(self) -> str:
        """Which engine it is: `sqlite`, `opensearch` or `elasticsearch`."""
        return self.settings.engine.partition(":")[0].partition("+")[0]


def given(request: Request) -> Given:
    """Return what a request may use."""
    found: Given = request.app.state.given
    return found


def callers_engine(request: Request) -> Engine:
    """Return the index of the settings as the caller may read and write it."""
    all_ = given(request)
    return all_.engines.of(Caller.of(request.headers), all_.settings.index)


WithGiven = Annotated[Given, Depends(given)]
"""A parameter of a route: what every request may use."""

CallersEngine = Annotated[Engine, Depends(callers_engine)]
"""A parameter of a route: the index of the settings, with the caller's own rights."""
