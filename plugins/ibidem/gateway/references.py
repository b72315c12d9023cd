"""The indexes that a search names beside those in its path: they are read as well, so they have to be open to callers.

Two readers look for them: the grammar knows where queries stand and refuses what it does not know; the other one looks
everywhere for an index beside an id.
"""

from collections.abc import Iterator
from typing import Any

from ibidem.gateway import grammar
from ibidem.gateway.indexes import all_open, check_indexes
from ibidem.native.combinations import refuse_depth
from ibidem_workers.settings import Settings

INDEX, ID = ("index", "_index"), ("id", "_id", "path")
TARGET = "target_index"
"""Where a runtime field of type `lookup` reads."""

WRAPPER = "wrapper"


def check_references(body: Any, settings: Settings) -> None:
    """Check every index that a search names in its body; nothing where all are open.

    Args:
        body: A request's body, read from JSON.
        settings: The settings in force.

    Raises:
        Answered: An index that is not open to callers, or a part that could name one unseen.
        UsageError: A body that is nested too deeply to be looked through.
    """
    if all_open(settings):
        return
    refuse_depth(body)
    for reader in (grammar.search, references):
        for index in reader(body):
            check_indexes(index, settings)


def references(body: Any) -> Iterator[str]:
    """Yield the indexes that are named anywhere together with an id, or looked up in.

    >>> list(references({"query": {"terms": {"id": {"index": "lists", "id": "1", "path": "ids"}}}}))
    ['lists']
    """
    stack = [body]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield from (grammar.index_of(value, name) for name in INDEX if names_a_document(value, name))
            if TARGET in value:
                yield grammar.index_of(value, TARGET)
            if isinstance(value.get(WRAPPER), dict) and isinstance(value[WRAPPER].get("query"), str):
                grammar.refuse(WRAPPER)
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def names_a_document(value: dict[str, Any], name: str) -> bool:
    """Tell whether an object names a document by an index and an id."""
    return name in value and not isinstance(value[name], dict | list) and any(each in value for each in ID)
