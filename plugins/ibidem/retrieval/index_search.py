"""A search of a signed index as retrievers need it: the best passages for a question, each text once."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ibidem.grouped_search.api import search
from ibidem.grouped_search.explanations import reason
from ibidem.grouped_search.passage import Passage, overlaps
from ibidem.grouped_search.response import DUPLICATES
from ibidem.retrieval.passages import KEY
from ibidem_dedupe.request import parse_request
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError, short_repr

Response = Mapping[str, Any]
PageSearch = Callable[[str, int, int, str], Response]
"""Returns a page of groups for a question: the question, the number of the page from 1, its size, the cursor."""

MOST_PASSAGES = 1_000
MOST_PAGES = 5
"""Pages that are read at the most, where passages of one document overlap so that a page does not hold enough."""

OPTIONS: Mapping[str, object] = {"dedupe": "collapse", "dedupe_explain": True}


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that a search found.

    Args:
        id: Its id.
        text: Its text.
        score: Its score, as the engine gave it.
        metadata: All other fields of its source, and under `duplicates` the passages that it stands for.
    """

    id: str
    text: str
    score: float | None
    metadata: dict[str, Any]


def search_client(
    client: Any,  # of one of four classes, which `wrap` names
    index: str,
    query: Callable[[str], Mapping[str, Any]] | None = None,
    **options: object,
) -> PageSearch:
    """Return the search of a wrapped client, which asks with the client's own rights.

    Args:
        client: What `ibidem.wrap` returned for `Elasticsearch` or `OpenSearch`.
        index: Index that is searched.
        query: Makes the query of a question, in the engine's own language, filters included; by default the words of
            the question are looked for in the field `text`.
        options: Parameters of a search by name, such as `dedupe_level` or `dedupe_keep`.
    """
    make_query = query or (lambda question: {"match": {"text": question}})
    named = {**OPTIONS, **options}

    def page(question: str, number: int, size: int, cursor: str) -> Response:
        """Ask the client for a page."""
        body = {"query": make_query(question), "from": (number - 1) * size, "size": size}
        found: Response = client.search(
            index=index, body=body, **named, **({"dedupe_cursor": cursor} if cursor else {})
        )
        return found

    return page


def search_engine(engine: Engine, filters: tuple[str, ...] = (), **options: object) -> PageSearch:
    """Return the search of an index that ibidem filled, SQLite among the engines.

    Args:
        engine: What `ibidem.open_engine` returned.
        filters: Conditions as `ibidem search --filter` takes them: `source=Reuters`.
        options: As for `search_client`.
    """
    request = {**OPTIONS, **options}

    def page(question: str, number: int, size: int, cursor: str) -> Response:
        """Ask the engine for a page."""
        asked = parse_request({**request, **({"dedupe_cursor": cursor} if cursor else {})})
        return search(engine, parse_query(question, filters), asked, number, size)

    return page


@dataclass(slots=True)
class DistinctPassages:
    """The passages of a search, of which none repeats or overlaps an earlier one.

    Args:
        text_field: Field with the text, in the source of a document.
        document_field: Field that names the document from which a passage was cut, with dots: `meta.document`.
        kept: The passages so far.
    """

    text_field: str
    document_field: str
    kept: list[FoundPassage] = field(default_factory=list)
    _texts: list[Passage] = field(default_factory=list)

    def add(self, hit: Mapping[str, Any]) -> None:
        """Keep a lead, or note it as the neighbour of an earlier one of the same document."""
        source = dict(hit["_source"])
        text = source.pop(self.text_field, None)
        if not isinstance(text, str):
            raise UsageError(
                f"document {hit['_id']!r} has {short_repr(text)} in {self.text_field!r}, no text",
                "name the field of the text as text_field, and do not leave it out of _source",
            )
        passage = Passage(text, read_field(source, self.document_field))
        for place, earlier in enumerate(self._texts):
            if earlier.document != passage.document or not passage.document:
                continue
            if (overlap := overlaps([earlier, passage]).get((1, 0))) is not None:
                self.kept[place].metadata[KEY].append(
                    {"id": hit["_id"], "level": "partial", "reason": overlap.reason, "side": overlap.side}
                )
                return
        self._texts.append(passage)
        metadata = {**source, KEY: list(members(hit))}
        self.kept.append(FoundPassage(hit["_id"], text, hit.get("_score"), metadata))


def find_passages(
    search: PageSearch, question: str, k: int, text_field: str = "text", document_field: str = ""
) -> list[FoundPassage]:
    """Return the best passages for a question, `k` different texts as far as there are so many.

    Args:
        search: Where they are looked for.
        question: What is asked.
        k: How many.
        text_field: Field with the text.
        document_field: Field that names the document of a passage; empty: overlapping passages are not looked for.

    Raises:
        UsageError: `k` is out of range, or a hit has no text.
    """
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_PASSAGES:
        raise UsageError(f"k is {short_repr(k)}", f"give a whole number from 1 to {MOST_PASSAGES:,}")
    found, cursor = DistinctPassages(text_field, document_field), ""
    for number in range(1, MOST_PAGES + 1):
        response = search(question, number, k, cursor)
        hits = response["hits"]["hits"]
        for hit in hits:
            found.add(hit)
        cursor = response.get("dedupe", {}).get("cursor") or ""
        if len(found.kept) >= k or len(hits) < k:
            break
    return found.kept[:k]


def members(hit: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield the duplicates inside a collapsed lead, as metadata can hold them."""
    inner = hit.get("inner_hits", {}).get(DUPLICATES, {}).get("hits", {}).get("hits", ())
    for each in inner:
        mark = each["_dedupe"]
        yield {"id": each["_id"], "level": mark["level"], "reason": reason(mark["why"]) if mark.get("why") else ""}


def read_field(source: Mapping[str, Any], name: str) -> str:
    """Return a field by its name with dots, where it is text; empty otherwise.

    >>> read_field({"meta": {"document": "lease.pdf"}}, "meta.document"), read_field({"meta": 7}, "meta.document")
    ('lease.pdf', '')
    """
    value: object = source
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""
