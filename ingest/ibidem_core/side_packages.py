"""Side packages: parts of the product that the core does not import and works without.

A side package registers at entry points, as a package of somebody else would. Group `ibidem.commands`: a table of
commands, `{"serve": ("Serve searches over HTTP.", "ibidem_gateway.command")}`, with the line of the help and the module
whose `run` or `app` is the command; the table's module is imported for the help, so it imports nothing itself.
"""

from collections.abc import Iterator
from importlib.metadata import entry_points
from typing import Any


def registered(group: str) -> Iterator[tuple[str, Any]]:
    """Yield name and object of each entry point; packages that are not installed are skipped, other errors raised."""
    for each in entry_points(group=group):
        try:
            value = each.load()
        except ModuleNotFoundError as error:
            if error.name != each.module.partition(".")[0]:
                raise
        else:
            yield each.name, value
