"""Search of a signed index for retrievers: the best passages for a question, each text once.

Each passage has the duplicates that were left out, and their reasons.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from ibidem.grouped_search.api import Response, reason, search_index
from ibidem.grouped_search.response import DUPLICATES, Passage
from ibidem.grouped_search.texts import Duplicate, group_texts
from ibidem_core.address import OURS
from ibidem_dedupe.parameters import WINDOW, PassageFields, parse_request, read
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.dates import interval
from ibidem_ingest.errors import UsageError, short_repr

# Under this name the metadata of a passage say which others repeat it or overlap it in their document.
KEY = "duplicates"


def with_duplicates(metadata: Mapping[str, Any], duplicates: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the metadata of a passage with its duplicates, and without its signatures.

    >>> with_duplicates({"title": "Lease", "ibidem": {"packed": "…"}}, [])
    {'title': 'Lease', 'duplicates': []}
    """
    return {**{name: value for name, value in metadata.items() if name != OURS}, KEY: duplicates}


def members(hit: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the duplicates inside a collapsed lead as metadata values, as `as_metadata` does."""
    found = []
    for each in hit.get("inner_hits", {}).get(DUPLICATES, {}).get("hits", {}).get("hits", ()):
        mark = each["_dedupe"]
        why = reason(mark["why"]) if mark.get("why") else ""
        found.append({"id": each["_id"], "level": mark["level"], "reason": why})
        if "side" in mark:
            found[-1] |= {"side": mark["side"]} | ({"of": mark["of"]} if mark["of"] != hit["_id"] else {})
    return found


def read_date(value: object) -> str:
    """Return a date in ISO 8601; empty if the value is not a date.

    >>> read_date(date(2024, 5, 1)), read_date("2024-05"), read_date("May 1, 2024"), read_date(20240501)
    ('2024-05-01', '2024-05', '', '')
    """
    if not isinstance(value, date | str):
        return ""
    try:
        interval(str(value))
    except ValueError:
        return ""
    return str(value)


Text = tuple[str, str, Mapping[str, Any], object]  # of a framework: id, text, metadata, and the document it is cut from


def keep_leads(
    texts: Sequence[Text], language: str, keep: str, date_key: str, policy: Policy | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the position of each lead, with its metadata, which name its duplicates."""
    passages = []
    for _, text, metadata, document in texts:  # metadata may hold values of any type
        name, title = (value if isinstance(value, str) else "" for value in (document, metadata.get("title")))
        passages.append(Passage(text, name, read_date(metadata.get(date_key)), title=title))
    for group in group_texts(passages, policy=policy, language=language, keep=keep):
        lead, _, metadata, _ = texts[group.lead]
        found = [*(as_metadata(each, group.lead, texts) for each in group.duplicates), *noted(metadata)]
        for each in group.duplicates:
            name, _, notes, _ = texts[each.place]
            found += [{**one, "of": one.get("of", name)} for one in noted(notes)]
        by_id: dict[str, dict[str, str]] = {}
        for one in found:
            if one["id"] != lead:
                by_id.setdefault(one["id"], one)
        yield group.lead, with_duplicates(metadata, [*by_id.values()])


def noted(metadata: Mapping[str, object]) -> list[dict[str, str]]:
    """Return the duplicates in the metadata of a passage; none if the value has another type.

    >>> noted({"duplicates": [{"id": "b", "level": "near", "reason": ""}]}), noted({"duplicates": "two"})
    ([{'id': 'b', 'level': 'near', 'reason': ''}], [])
    """
    value = metadata.get(KEY)
    if not isinstance(value, list):
        return []
    return [dict(each) for each in value if isinstance(each, Mapping) and isinstance(each.get("id"), str)]


def as_metadata(duplicate: Duplicate, lead: int, texts: Sequence[Text]) -> dict[str, str]:
    """Return `id`, `level` and `reason`; `side` for a neighbour; `of` if it belongs to another text than the lead."""
    found = {"id": texts[duplicate.place][0], "level": duplicate.level, "reason": duplicate.reason}
    if duplicate.side:
        found["side"] = duplicate.side
    if duplicate.of != lead:
        found["of"] = texts[duplicate.of][0]
    return found


GroupSearch = Callable[[str, int], Response]  # returns the best groups for a question: the question, and how many

MAX_PASSAGES = 1_000
MAX_DUPLICATES = 100  # duplicates that a passage names, unless `dedupe_max_per_group` says otherwise

OPTIONS: Mapping[str, object] = {"dedupe": "collapse", "dedupe_explain": True}


@dataclass(frozen=True, slots=True)
class FoundPassage:
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
    named = read_options(options, document_field, text_field)

    def groups(question: str, size: int) -> Response:
        response: Response = client.search(index=index, body={"query": make_query(question), "size": size}, **named)
        return response

    return PassageSearch(groups, text_field)


def search_engine(
    engine: Engine, filters: tuple[str, ...] = (), *, document_field: str = "", **options: object
) -> PassageSearch:
    """Return a search of an index that ibidem filled, including SQLite."""
    request = parse_request(read_options(options, document_field))

    def groups(question: str, size: int) -> Response:
        return search_index(engine, parse_query(question, filters), request, size=size)

    return PassageSearch(groups)


def read_options(
    options: Mapping[str, object], document_field: str = "", text_field: str = "text"
) -> dict[str, object]:
    """Return the parameters of a search for passages; with a document field, overlapping ones are found.

    >>> read_options({"dedupe_window": 50})["dedupe_max_per_group"]
    50
    >>> read_options({"dedupe": "indent"})
    Traceback (most recent call last):
    ibidem_ingest.errors.UsageError: dedupe='indent' would return copies as passages; use 'collapse', or 'off' for the \
engine's own list
    """
    named = {"dedupe_document": str(PassageFields(document_field, text_field))} if document_field else {}
    found = {**OPTIONS, **{name: value for name, value in {**named, **options}.items() if value is not None}}
    mode = read("dedupe", found["dedupe"])
    if mode == "indent":
        remedy = "use 'collapse', or 'off' for the engine's own list"
        raise UsageError(f"dedupe={mode!r} would return copies as passages", remedy)
    most = min(MAX_DUPLICATES, read("dedupe_window", found.get("dedupe_window", WINDOW)))
    return found if mode == "off" else {"dedupe_max_per_group": most, **found}


def read_passage(hit: Mapping[str, Any], text_field: str) -> FoundPassage:
    text, source = take(hit["_source"], text_field)
    if not isinstance(text, str):
        remedy = "name the field of the text as text_field, and do not leave it out of _source"
        raise UsageError(f"document {hit['_id']!r} has {short_repr(text)} in {text_field!r}, no text", remedy)
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
