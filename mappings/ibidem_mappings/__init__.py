"""Layouts of an index: JSON and SQL, loaded by name, versioned.

One file for SQLite, `sqlite.v4.sql`, and one for a cluster, `cluster.v3.json`, which is the same in OpenSearch and
Elasticsearch; a layout that has been released is never edited, the next one gets the next number.
"""

from importlib.resources import files


def names() -> list[str]:
    """Return the names of all layouts.

    >>> "sqlite.v4.sql" in names()
    True
    """
    return sorted(entry.name for entry in files(__name__).iterdir() if entry.name.endswith((".json", ".sql")))


def load(name: str) -> str:
    """Read a layout."""
    if name not in (layouts := names()):
        raise LookupError(f"no layout {name!r}; there are: {', '.join(layouts)}")
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
