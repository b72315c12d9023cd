"""Search of a signed index for retrievers: the best passages for a question, each text once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ibidem.grouped_search.api import search_index
from ibidem.retrieval.passages import members, with_duplicates
from ibidem_dedupe.parameters import WINDOW, PassageFields
from ibidem_dedupe.request import parse_request, read
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError, short_repr

Response = Mapping[str, Any]
GroupSearch = Callable[[str, int], Response]  # returns the best groups for a question: the question, and how many

MAX_PASSAGES = 1_000
MAX_DUPLICATES = 100  # duplicates that a passage names, unless `dedupe_max_per_group` says otherwise

OPTIONS: Mapping[str, object] = {"dedupe": "collapse", "dedupe_explain": True}


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage found by a search."""

    id: str
    text: str
    score: float | None  # its score, as the engine gave it
    # All other fields of its source but `ibidem`, and under `duplicates` the passages that it stands for.
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PassageSearch:
    """A search for passages that returns each text once."""

    search: GroupSearch  # finds groups
    text_field: str = "text"  # field with the text, in the source of a document; dots lead into objects

    def find(self, question: str, k: int) -> list[FoundPassage]:
        """Return up to `k` different passages for a question, the best first."""
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_PASSAGES:
            raise UsageError(f"k is {short_repr(k)}", f"give a whole number from 1 to {MAX_PASSAGES:,}")
        return [read_passage(hit, self.text_field) for hit in self.search(question, k)["hits"]["hits"]]


def search_client(
    client: Any,  # one of the four classes that `wrap` accepts
    index: str,
    query: Callable[[str], Mapping[str, Any]] | None = None,
    *,
    text_field: str = "text",
    document_field: str = "",
    **options: object,
) -> PassageSearch:
    """Return a search through a wrapped client, with the client's own rights."""
    make_query = query or (lambda question: {"match": {text_field: question}})
    named = read_options({**name_fields(document_field, text_field), **options})

    def groups(question: str, size: int) -> Response:
        """Search through the client."""
        response: Response = client.search(index=index, body={"query": make_query(question), "size": size}, **named)
        return response

    return PassageSearch(groups, text_field)


def search_engine(
    engine: Engine, filters: tuple[str, ...] = (), *, document_field: str = "", **options: object
) -> PassageSearch:
    """Return a search of an index that ibidem filled, including SQLite."""
    request = parse_request(read_options({**name_fields(document_field), **options}))

    def groups(question: str, size: int) -> Response:
        """Search through the engine."""
        return search_index(engine, parse_query(question, filters), request, size=size)

    return PassageSearch(groups)


def name_fields(document_field: str, text_field: str = "text") -> dict[str, object]:
    """Return the parameter that finds overlapping passages; none without a document field."""
    return {"dedupe_document": str(PassageFields(document_field, text_field))} if document_field else {}


def read_options(options: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters of a search for passages.

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
    most = min(MAX_DUPLICATES, read("dedupe_window", found.get("dedupe_window", WINDOW)))
    return found if mode == "off" else {"dedupe_max_per_group": most, **found}


def read_passage(hit: Mapping[str, Any], text_field: str) -> FoundPassage:
    """Convert a lead into a passage."""
    text, source = take(hit["_source"], text_field)
    if not isinstance(text, str):
        raise UsageError(
            f"document {hit['_id']!r} has {short_repr(text)} in {text_field!r}, no text",
            "name the field of the text as text_field, and do not leave it out of _source",
        )
    return FoundPassage(hit["_id"], text, hit.get("_score"), with_duplicates(source, members(hit)))


def take(source: Mapping[str, Any], field: str) -> tuple[object, dict[str, Any]]:
    """Return the value of a field, and the other fields; a dot leads into an object, or is part of the name.

    >>> take({"body": {"text": "Rent is due.", "page": 7}}, "body.text")
    ('Rent is due.', {'body': {'page': 7}})
    >>> take({"body.text": "Rent is due."}, "body.text"), take({"body": 7}, "body.text")
    (('Rent is due.', {}), (None, {'body': 7}))
    """
    rest = dict(source)
    if field in rest:
        return rest.pop(field), rest
    for dot in (at for at, character in enumerate(field) if character == "."):
        if isinstance(inner := rest.get(field[:dot]), Mapping):
            found, others = take(inner, field[dot + 1 :])
            if found is not None:
                return found, {**rest, field[:dot]: others}
    return None, rest
