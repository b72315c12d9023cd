"""Wrap a client so that its `search` takes `dedupe` parameters."""

import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from ibidem_ingest.errors import UsageError

if TYPE_CHECKING:
    import elasticsearch
    import opensearchpy

    from ibidem.dedupe.parameters import By, Mode, Scope
    from ibidem_ingest.pairs.decision import Level

    class Search:
        """What a client's search takes next to the client's own arguments."""

        def search(  # noqa: PLR0913 - the parameters of dedupe, by name
            self,
            *args: Any,
            dedupe: Mode | None = None,
            dedupe_level: Level | None = None,
            dedupe_keep: str | None = None,
            dedupe_by: By | None = None,
            dedupe_window: int | None = None,
            dedupe_scope: Scope | None = None,
            dedupe_similarity: int | None = None,
            dedupe_window_days: int | str | None = None,
            dedupe_max_per_group: int | None = None,
            dedupe_preset: str | None = None,
            dedupe_cursor: str | None = None,
            dedupe_explain: bool | None = None,
            **search: Any,
        ) -> Any:
            """Search as the client does; with `dedupe` and `dedupe_…` the duplicates are grouped."""

    class AsyncSearch:
        """The same of a client whose methods are waited for."""

        async def search(  # noqa: PLR0913 - the parameters of dedupe, by name
            self,
            *args: Any,
            dedupe: Mode | None = None,
            dedupe_level: Level | None = None,
            dedupe_keep: str | None = None,
            dedupe_by: By | None = None,
            dedupe_window: int | None = None,
            dedupe_scope: Scope | None = None,
            dedupe_similarity: int | None = None,
            dedupe_window_days: int | str | None = None,
            dedupe_max_per_group: int | None = None,
            dedupe_preset: str | None = None,
            dedupe_cursor: str | None = None,
            dedupe_explain: bool | None = None,
            **search: Any,
        ) -> Any:
            """Search as the client does; with `dedupe` and `dedupe_…` the duplicates are grouped."""

    class Elasticsearch(Search, elasticsearch.Elasticsearch):
        """`elasticsearch.Elasticsearch` whose search takes dedupe parameters."""

    class AsyncElasticsearch(AsyncSearch, elasticsearch.AsyncElasticsearch):
        """`elasticsearch.AsyncElasticsearch` whose search takes dedupe parameters."""

    class OpenSearch(Search, opensearchpy.OpenSearch):
        """`opensearchpy.OpenSearch` whose search takes dedupe parameters."""

    class AsyncOpenSearch(AsyncSearch, opensearchpy.AsyncOpenSearch):
        """`opensearchpy.AsyncOpenSearch` whose search takes dedupe parameters."""


CLIENTS = {
    ("elasticsearch", "Elasticsearch"): ("ibidem.clients.elasticsearch", "DedupeElasticsearch"),
    ("elasticsearch", "AsyncElasticsearch"): ("ibidem.clients.elasticsearch", "AsyncDedupeElasticsearch"),
    ("opensearchpy", "OpenSearch"): ("ibidem.clients.opensearch", "DedupeOpenSearch"),
    ("opensearchpy", "AsyncOpenSearch"): ("ibidem.clients.opensearch", "AsyncDedupeOpenSearch"),
}
"""By package and class of the client."""


@overload
def wrap(client: "elasticsearch.Elasticsearch") -> "Elasticsearch": ...


@overload
def wrap(client: "elasticsearch.AsyncElasticsearch") -> "AsyncElasticsearch": ...


@overload
def wrap(client: "opensearchpy.OpenSearch") -> "OpenSearch": ...


@overload
def wrap(client: "opensearchpy.AsyncOpenSearch") -> "AsyncOpenSearch": ...


def wrap(client: Any) -> Any:
    """Give a client whose `search` also takes `dedupe` and every `dedupe_…` parameter.

    It is of the client's own class and shares its connections; every other method, and a search without these
    parameters, is the client's own.

    Args:
        client: An `Elasticsearch`, `AsyncElasticsearch`, `OpenSearch` or `AsyncOpenSearch`.

    Raises:
        UsageError: Something else.

    >>> wrap("http://localhost:9200")
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: a str cannot be wrapped; give a client: elasticsearch.Elasticsearch, \
elasticsearch.AsyncElasticsearch, opensearchpy.OpenSearch, opensearchpy.AsyncOpenSearch
    """
    before = _before(client)
    if isinstance(client, before):
        return client
    wrapped = copy.copy(client)
    wrapped.__class__ = type(type(client).__name__, (before, type(client)), {"__module__": __name__})
    wrapped._ibidem_wrapped = client  # noqa: SLF001 - parts of a client know it by a weak reference
    return wrapped


def _before(client: object) -> type:
    """Find the class that precedes a client's own."""
    for each in type(client).__mro__:
        home = CLIENTS.get((each.__module__.partition(".")[0], each.__name__))
        if home:
            class_: type = getattr(import_module(home[0]), home[1])
            return class_
    right = ", ".join(".".join(each) for each in CLIENTS)
    raise UsageError(f"a {type(client).__name__} cannot be wrapped", f"give a client: {right}")
