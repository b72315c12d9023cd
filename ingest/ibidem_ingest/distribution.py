"""The distribution that this package was installed from: its name, version, extras and side packages.

The name `ibidem` on the Python Package Index belongs to another project, so that the distribution has another name,
while the command and the package to import are called `ibidem`. An environment that holds both has the modules of
whichever was installed last.

The core does not import side packages and works without them. They register at entry points, as a package of somebody
else would:

- `ibidem.commands`: a table of commands, `{"serve": ("Serve searches over HTTP.", "ibidem_gateway.command")}`, with the
  line of the help and the module whose `run` or `app` is the command. The help reads the table, so its module imports
  nothing.
- `ibidem.hooks`: what the core asks for by name, each with its type beside the one place that calls it.
"""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from typing import Any

from ibidem_ingest.errors import UsageError, short_repr

NAME = "ibidem-search"

# A distribution of other people with the same package to import; earlier copies of this one had that name, too.
FOREIGN = "ibidem"

FOREIGN_REMEDY = f"pip uninstall --yes {FOREIGN} {NAME}, then: pip install {NAME}"


def installed_version() -> str:
    """Return the version of the installed distribution; `unknown` for modules outside one."""
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "unknown"


def foreign_version() -> str | None:
    """Return the version of a foreign `ibidem` in the same environment; None if there is none."""
    try:
        return version(FOREIGN)
    except PackageNotFoundError:
        return None


def install_command(extra: str) -> str:
    """Return the command that installs what an extra needs."""
    return f"pip install '{NAME}[{extra}]'"


TEXT_FORMATS = {"html": "trafilatura", "markdown": "markdown_it"}  # of a text within a field, with their libraries
READER_REMEDY = f"install it with: {install_command('readers')}"


def require_library(library: str, format_: str) -> None:
    """Check that the library for a format is installed, before anything is read."""
    if find_spec(library) is None:
        raise UsageError(f"reading {format_} needs {library}, which is not installed", READER_REMEDY)


def check_text_format(name: str) -> None:
    """Refuse an unknown format of texts within fields, and one whose library is missing; an empty one is plain text."""
    if name not in ("", *TEXT_FORMATS):
        raise UsageError(f"{short_repr(name)} is no format of texts", f"use {', '.join(TEXT_FORMATS)}")
    if name:
        require_library(TEXT_FORMATS[name], name)


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
