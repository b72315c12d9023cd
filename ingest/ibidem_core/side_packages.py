"""Side packages: parts of the product that the core does not import and works without.

They register at entry points, as a package of somebody else would:

- `ibidem.commands`: a table of commands, `{"serve": ("Serve searches over HTTP.", "ibidem_gateway.command")}`, with the
  line of the help and the module whose `run` or `app` is the command. The help reads the table, so its module imports
  nothing.
- `ibidem.hooks`: what the core asks for by name, each with its type beside the one place that calls it.
"""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from ibidem_ingest.errors import UsageError


def registered(group: str, name: str = "") -> Iterator[Any]:
    """Yield what entry points name; packages that are not installed are skipped, other import errors raised."""
    for each in entry_points(group=group):
        if name in ("", each.name):
            try:
                yield each.load()
            except ModuleNotFoundError as error:
                if error.name != each.module.partition(".")[0]:
                    raise


@cache
def hook(name: str) -> Any | None:
    """Return what a side package registered under a name; None if it is not installed."""
    return next(registered("ibidem.hooks", name), None)


def need_hook(name: str, package: str) -> Any:
    """Return what a side package registered; an error if it is not installed."""
    if (found := hook(name)) is None:
        raise UsageError(f"the package {package} is not installed", "install ibidem-search again")
    return found
