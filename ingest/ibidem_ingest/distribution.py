"""The distribution that this package was installed from: its name, version and extras.

The name `ibidem` on the Python Package Index belongs to another project, so that the distribution has another name,
while the command and the package to import are called `ibidem`. An environment that holds both has the modules of
whichever was installed last.
"""

from importlib.metadata import PackageNotFoundError, version

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
    """Return the command that installs what an extra needs.

    Examples:
        >>> install_command("readers")
        "pip install 'ibidem-search[readers]'"
    """
    return f"pip install '{NAME}[{extra}]'"
