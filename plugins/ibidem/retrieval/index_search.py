"""Search of a signed index for retrievers: the best passages for a question, each text once."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ibidem.grouped_search.api import search
from ibidem.grouped_search.passage import Passage, overlaps
from ibidem.retrieval.passages import KEY, left_with, members
from ibidem_dedupe.parameters import WINDOW
from ibidem_dedupe.request import parse_request, read
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError, short_repr

Response = Mapping[str, Any]
PageSearch = Callable[[str, int, int, str], Response]
"""Returns a page of groups for a question: the question, the number of the page from 1, its size, the cursor."""

MOST_PASSAGES = 1_000
MOST_PAGES = 5
"""Pages that are read at the most, where passages of one document overlap so that a page does not hold enough."""

MOST_DUPLICATES = 100
"""Duplicates that a passage names, unless `dedupe_max_per_group` says otherwise."""

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


@dataclass(frozen=True, slots=True)
class PassageSearch:
    """A search for passages that returns each text once.

    Args:
        search: Finds a page.
        text_field: Field with the text, in the source of a document.
        document_field: Field that names the document from which a passage was cut, with dots: `meta.document`; empty:
            overlapping passages are not looked for.
    """

    search: PageSearch
    text_field: str = "text"
    document_field: str = ""

    def find(self, question: str, k: int) -> list[FoundPassage]:
        """Return up to `k` different passages for a question, the best first.

        Args:
            question: What is asked.
            k: How many.

        Raises:
            UsageError: `k` is out of range, or a hit has no text.
        """
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_PASSAGES:
            raise UsageError(f"k is {short_repr(k)}", f"give a whole number from 1 to {MOST_PASSAGES:,}")
        found, cursor = DistinctPassages(self.text_field, self.document_field), ""
        for number in range(1, MOST_PAGES + 1):
            response = self.search(question, number, k, cursor)
            hits = response["hits"]["hits"]
            found.add(hits)
            cursor = response.get("dedupe", {}).get("cursor") or ""
            if len(found.kept) >= k or len(hits) < k:
                break
        return found.kept[:k]


def search_client(
    client: Any,  # of one of four classes, which `wrap` names
    index: str,
    query: Callable[[str], Mapping[str, Any]] | None = None,
    *,
    text_field: str = "text",
    document_field: str = "",
    **options: object,
) -> PassageSearch:
    """Return a search through a wrapped client, with the client's own rights.

    Args:
        client: What `ibidem.wrap` returned for `Elasticsearch` or `OpenSearch`.
        index: Index that is searched.
        query: Makes the query of a question, in the engine's own language, filters included; by default the words of
            the question are looked for in the field with the text.
        text_field: As for `PassageSearch`.
        document_field: As for `PassageSearch`.
        options: Parameters of a search by name, such as `dedupe_level` or `dedupe_keep`.

    Raises:
        UsageError: An option that is not for passages.
    """
    make_query = query or (lambda question: {"match": {text_field: question}})
    named = read_options(options)

    def page(question: str, number: int, size: int, cursor: str) -> Response:
        """Ask the client for a page."""
        body = {"query": make_query(question), "from": (number - 1) * size, "size": size}
        found: Response = client.search(
            index=index, body=body, **named, **({"dedupe_cursor": cursor} if cursor else {})
        )
        return found

    return PassageSearch(page, text_field, document_field)


def search_engine(
    engine: Engine, filters: tuple[str, ...] = (), *, document_field: str = "", **options: object
) -> PassageSearch:
    """Return the search of an index that ibidem filled, SQLite among the engines.

    Args:
        engine: What `ibidem.open_engine` returned.
        filters: Conditions as `ibidem search --filter` takes them: `source=Reuters`.
        document_field: As for `PassageSearch`.
        options: As for `search_client`.

    Raises:
        UsageError: An option that is not for passages.
    """
    request = read_options(options)

    def page(question: str, number: int, size: int, cursor: str) -> Response:
        """Ask the engine for a page."""
        asked = parse_request({**request, **({"dedupe_cursor": cursor} if cursor else {})})
        return search(engine, parse_query(question, filters), asked, number, size)

    return PassageSearch(page, document_field=document_field)


def read_options(options: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters of a search for passages.

    Raises:
        UsageError: A mode that lists copies among the passages, or a number that is not understood.

    >>> read_options({"dedupe_window": 50})["dedupe_max_per_group"]
    50
    >>> read_options({"dedupe": "indent"})
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: dedupe='indent' would return copies as passages; use 'collapse', or 'off' for the \
engine's own list
    """
    found = {**OPTIONS, **{name: value for name, value in options.items() if value is not None}}
    mode = read("dedupe", found["dedupe"])
    if mode == "indent":
        raise UsageError(
            f"dedupe={mode!r} would return copies as passages", "use 'collapse', or 'off' for the engine's own list"
        )
    most = min(MOST_DUPLICATES, read("dedupe_window", found.get("dedupe_window", WINDOW)))
    return found if mode == "off" else {"dedupe_max_per_group": most, **found}


@dataclass(slots=True)
class DistinctPassages:
    """The distinct passages of a search: none repeats or overlaps an earlier one.

    Args:
        text_field: Field with the text, in the source of a document.
        document_field: Field that names the document from which a passage was cut, with dots: `meta.document`.
        kept: The passages so far.
    """

    text_field: str
    document_field: str
    kept: list[FoundPassage] = field(default_factory=list)
    _texts: list[Passage] = field(default_factory=list)

    def add(self, hits: Sequence[Mapping[str, Any]]) -> None:
        """Add the leads of a page, or record each as the neighbour of an earlier one of the same document."""
        found = [self._read(hit) for hit in hits]
        first, texts = len(self.kept), [*self._texts, *(self._passage(each) for each in found)]
        shared = overlaps(texts)
        earlier_by_place: dict[int, list[int]] = defaultdict(list)
        for later, earlier in shared:
            if earlier < later:
                earlier_by_place[later].append(earlier)
        kept_by_place = dict(enumerate(self.kept))
        for place, each in enumerate(found, first):
            lead = min((at for at in earlier_by_place[place] if at in kept_by_place), default=None)
            if lead is None:
                kept_by_place[place] = each
                continue
            overlap = shared[place, lead]
            kept_by_place[lead].metadata[KEY] += [
                {"id": each.id, "level": "partial", "reason": overlap.reason, "side": overlap.side},
                *left_with(each.id, each.metadata),
            ]
        self.kept = [*kept_by_place.values()]
        self._texts = [texts[place] for place in kept_by_place]

    def _read(self, hit: Mapping[str, Any]) -> FoundPassage:
        """Read a lead.

        Raises:
            UsageError: It has no text.
        """
        source = dict(hit["_source"])
        text = source.pop(self.text_field, None)
        if not isinstance(text, str):
            raise UsageError(
                f"document {hit['_id']!r} has {short_repr(text)} in {self.text_field!r}, no text",
                "name the field of the text as text_field, and do not leave it out of _source",
            )
        return FoundPassage(hit["_id"], text, hit.get("_score"), {**source, KEY: members(hit)})

    def _passage(self, found: FoundPassage) -> Passage:
        """Return the text of a passage with the name of its document."""
        return Passage(found.text, read_field(found.metadata, self.document_field))


def read_field(source: Mapping[str, Any], name: str) -> str:
    """Return a text field by its dotted name; empty if it is missing or not text.

    >>> read_field({"meta": {"document": "lease.pdf"}}, "meta.document"), read_field({"meta": 7}, "meta.document")
    ('lease.pdf', '')
    """
    value: object = source
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""
