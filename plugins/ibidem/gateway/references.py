"""Documents that a query names by index and id: they are read as well, so their index has to be open to callers."""

from collections.abc import Iterator
from typing import Any

from ibidem.gateway.indexes import check_indexes
from ibidem_workers.settings import Settings

INDEX, ID = ("index", "_index"), ("id", "_id", "path")
TARGET = "target_index"
"""Where a runtime field of type `lookup` reads."""


def check_references(body: Any, settings: Settings) -> None:
    """Check every index that a query reads from beside the one in the path.

    Such are the terms of another document, its shape, and the documents to be like.

    Args:
        body: A request's body, read from JSON.
        settings: The settings in force.

    Raises:
        Answered: An index that is not open to callers.
    """
    for index in references(body):
        check_indexes(index, settings)


def references(body: Any) -> Iterator[str]:
    """Yield the indexes that a query names together with an id, or looks up in.

    >>> list(references({"query": {"terms": {"id": {"index": "lists", "id": "1", "path": "ids"}}}}))
    ['lists']
    """
    stack = [body]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield from (value[name] for name in INDEX if names_a_document(value, name))
            yield from (value[name] for name in (TARGET,) if isinstance(value.get(name), str))
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def names_a_document(value: dict[str, Any], name: str) -> bool:
    """Tell whether an object names a document by an index and an id."""
    return isinstance(value.get(name), str) and any(each in value for each in ID)
