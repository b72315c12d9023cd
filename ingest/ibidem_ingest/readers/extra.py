"""The libraries that read HTML and PDF: an extra, because a newsroom with JSON Lines needs neither."""

import logging
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers.foreign import Unreadable
from ibidem_ingest.readers.formats import Format

LIBRARIES = {Format.HTML: "trafilatura", Format.PDF: "pypdfium2"}
_QUIET = logging.NullHandler()
REMEDY = "install it with: pip install 'ibidem[readers]'"


def require(format_: Format) -> None:
    """Make sure, before anything is read, that the library for a format is installed.

    Raises:
        UsageError: It is not; names the command that installs it.
    """
    library = LIBRARIES.get(format_)
    if library is not None and find_spec(library) is None:
        raise UsageError(f"reading {format_} needs {library}, which is not installed", REMEDY)


def library_for(format_: Format) -> ModuleType:
    """Load the library for a format.

    Raises:
        Unreadable: It is not installed; names the command that installs it.
    """
    try:
        library = import_module(LIBRARIES[format_])
    except ImportError as error:
        raise Unreadable(
            f"reading {format_} needs {LIBRARIES[format_]}, which is missing ({error}); {REMEDY}"
        ) from error
    # It warns of every page without text, which is a refusal here; a program's own handlers still hear it.
    logging.getLogger(library.__name__).addHandler(_QUIET)
    return library
