"""`wrap`: a client of Elasticsearch or OpenSearch that also accepts `dedupe`, with type hints."""

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from ibidem.clients.search import wrapped

if TYPE_CHECKING:
    from collections.abc import Coroutine

    import elasticsearch
    import opensearchpy

    from ibidem_dedupe.parameters import By, ListLevel, Mode, Scope

    Answer_co = TypeVar("Answer_co", covariant=True)

    class SearchMethod(Protocol[Answer_co]):
        """A client's `search` or `msearch`, with the additional dedupe arguments."""

        def __call__(  # noqa: PLR0913 - the parameters of dedupe, by name
            self,
            *args: Any,
            dedupe: Mode | None = None,
            dedupe_level: ListLevel | None = None,
            dedupe_keep: str | None = None,
            dedupe_by: By | None = None,
            dedupe_window: int | None = None,
            dedupe_scope: Scope | None = None,
            dedupe_similarity: int | None = None,
            dedupe_window_days: int | str | None = None,
            dedupe_max_per_group: int | None = None,
            dedupe_preset: str | None = None,
            dedupe_document: str | None = None,
            dedupe_cursor: str | None = None,
            dedupe_explain: bool | None = None,
            **search: Any,
        ) -> Answer_co:
            """Search as the client does; `dedupe` and `dedupe_…` group the duplicates."""

    class Search:
        """Methods of a client that take dedupe parameters."""

        search: SearchMethod[Any]
        msearch: SearchMethod[Any]

    class AsyncSearch:
        """Methods of an asynchronous client that take dedupe parameters."""

        search: SearchMethod[Coroutine[Any, Any, Any]]
        msearch: SearchMethod[Coroutine[Any, Any, Any]]

    class Elasticsearch(Search, elasticsearch.Elasticsearch):
        """`elasticsearch.Elasticsearch` whose `search` accepts dedupe parameters."""

    class AsyncElasticsearch(AsyncSearch, elasticsearch.AsyncElasticsearch):
        """`elasticsearch.AsyncElasticsearch` whose `search` accepts dedupe parameters."""

    class OpenSearch(Search, opensearchpy.OpenSearch):
        """`opensearchpy.OpenSearch` whose `search` accepts dedupe parameters."""

    class AsyncOpenSearch(AsyncSearch, opensearchpy.AsyncOpenSearch):
        """`opensearchpy.AsyncOpenSearch` whose `search` accepts dedupe parameters."""


@overload
def wrap(client: "elasticsearch.Elasticsearch") -> "Elasticsearch": ...


@overload
def wrap(client: "elasticsearch.AsyncElasticsearch") -> "AsyncElasticsearch": ...


@overload
def wrap(client: "opensearchpy.OpenSearch") -> "OpenSearch": ...


@overload
def wrap(client: "opensearchpy.AsyncOpenSearch") -> "AsyncOpenSearch": ...


def wrap(client: Any) -> Any:
    """Return a client whose `search` and `msearch` also accept `dedupe` and every `dedupe_…` parameter, or in the body.

    It passes for the client's own class and shares its connections; every other method, and a search without these
    parameters, is the client's own. A client of a newer Elasticsearch than its server speaks the server's version.

    Args:
        client: An `Elasticsearch`, `AsyncElasticsearch`, `OpenSearch` or `AsyncOpenSearch`.

    Raises:
        UsageError: Something else.

    >>> wrap("http://localhost:9200")
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: a str cannot be wrapped; give a client: elasticsearch.Elasticsearch, \
elasticsearch.AsyncElasticsearch, opensearchpy.OpenSearch, opensearchpy.AsyncOpenSearch
    """
    return wrapped(client)
