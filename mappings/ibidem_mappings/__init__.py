"""Layouts of an index: JSON and SQL, loaded by name, versioned.

One file for each engine and layout version, `sqlite.v1.sql`; a layout that has been released is never edited, the next
one gets the next number.
"""

from importlib.resources import files

_LAYOUTS = (".json", ".sql")


def names() -> list[str]:
    """List the layouts that there are.

    >>> "sqlite.v1.sql" in names()
    True
    """
    return sorted(entry.name for entry in files(__name__).iterdir() if entry.name.endswith(_LAYOUTS))


def load(name: str) -> str:
    """Read a layout.

    Args:
        name: One of `names()`.

    Raises:
        LookupError: No such layout; the message lists those that there are.
    """
    if name not in (known := names()):
        raise LookupError(f"no layout {name!r}; there are: {', '.join(known)}")
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
