"""Requests in the query language that OpenSearch and Elasticsearch share.

A query of the command line means here what it means in SQLite: all words must occur in title or text, the title counts
double, a phrase is its words side by side.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from xxhash import xxh3_128_hexdigest

from ibidem_core.address import Fields
from ibidem_dedupe.overrides import DocumentRef
from ibidem_engines import query as queries
from ibidem_engines.cluster.client import BAD_REQUEST, read_responses
from ibidem_engines.query import Filter, Phrase, Query, Words, days
from ibidem_engines.requests import Json, RequestFlow, Target, in_slices
from ibidem_ingest.dates import iso_day

Clause = dict[str, Any]

PACKED = "ibidem.packed"
LONG = "ibidem.long"
ONLY_PACKED: Clause = {"stored_fields": "_none_", "docvalue_fields": [PACKED]}
PACKED_STATES: Clause = ONLY_PACKED | {"seq_no_primary_term": True}  # packed value and sequence number of a hit
ALL: Clause = {"match_all": {}}
COUNTED: Clause = {"size": 0, "track_total_hits": True}  # what matches is counted only
STATES: Clause = {"_source": False, "seq_no_primary_term": True, "track_total_hits": False}  # names and states

AT_ONCE = 1_000  # documents that are read by name in one search
MAX_OFFSET = 1_000_000
MAX_VALUE = 1_000
SNIPPET = 200


def hits_of(answer: Json) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = answer["hits"]["hits"]
    return hits


def total_of(answer: Json) -> int:
    return int(answer["hits"]["total"]["value"])


def state_of(document: Json) -> tuple[int, int]:
    """Return sequence number and primary term of a document, which each write changes."""
    return document["_seq_no"], document["_primary_term"]


def all_of(*clauses: Clause) -> Clause:
    """Build a clause for documents that match all of some clauses, without ranking them."""
    return {"bool": {"filter": list(clauses)}}


def any_of(clauses: Sequence[Clause], least: int = 1) -> Clause:
    """Build a clause for documents that match one of some clauses, or at least as many as said."""
    if len(clauses) == least == 1:
        return clauses[0]
    return {"bool": {"should": list(clauses), "minimum_should_match": least}}


# Documents without signatures, and those without words.
UNSIGNED = any_of([{"bool": {"must_not": {"exists": {"field": "ibidem.schema"}}}}, {"term": {"ibidem.length": 0}}])

# Documents by schema and idf table.
COUNTS: Clause = {
    **COUNTED,
    "aggs": {
        "schemas": {"terms": {"field": "ibidem.schema", "size": 100}},
        "tables": {"terms": {"field": "ibidem.idf", "size": 1_000}},
        "unsigned": {"filter": UNSIGNED},
    },
}


def clause(query: Query, fields: Fields) -> Clause:
    parts = _words(query, fields)
    parts["must_not"] += [_any_of(each.field, [each.value], fields) for each in query.excluded]
    parts["filter"] = filters(query.filters, fields)
    return {"bool": {name: part for name, part in parts.items() if part}}


def filters(conditions: Sequence[Filter], fields: Fields) -> list[Clause]:
    """Build filter clauses; of several values for one field, any may match."""
    by_field: dict[str, list[str]] = {}
    for condition in conditions:
        by_field.setdefault(condition.field, []).append(condition.value)
    return [_any_of(field, values, fields) for field, values in by_field.items()]


def _any_of(field: str, values: Sequence[str], fields: Fields) -> Clause:
    """Build one clause that matches any of several values: a server takes few clauses, but many terms."""
    if field == "id":
        return ids_query(values)
    if field in queries.MEMBERSHIPS:
        return terms(f"ibidem.{field}", values)
    if not field.startswith("meta."):
        return any_of([_condition(field, value, fields) for value in values])
    name = field.removeprefix("meta.")
    own_clause = terms("ibidem.meta", [filter_value(name, value) for value in values])
    path = f"{fields.meta}.{name}" if fields.meta else name
    return own_clause if fields.are_own else any_of([own_clause, terms(path, values)])


def filter_value(name: str, value: str) -> str:
    """Return the value by which filters find an entry of `meta`; long values are hashed."""
    value = f"{name}={value}"
    return value if len(value) <= MAX_VALUE else f"x:{xxh3_128_hexdigest(value.encode())}"


def terms(path: str, values: Sequence[str], least: int = 1) -> Clause:
    """Build a clause for documents that have one of some values, or at least as many as said."""
    if least > 1:
        return any_of([{"term": {path: value}} for value in values], least)
    return {"term": {path: values[0]}} if len(values) == 1 else {"terms": {path: list(values)}}


def window(query: Query, fields: Fields, size: int) -> Clause:
    """Build the request for the top of a ranking, with packed signatures only."""
    return {"query": clause(query, fields), "size": size, "track_total_hits": True, **ONLY_PACKED}


def with_ids(body: Json) -> Clause:
    return {name: part for name, part in body.items() if name != "stored_fields"} | {"_source": False}


def highlight(fields: Fields, offset_limit: str) -> Clause:
    return {
        offset_limit: MAX_OFFSET,
        "pre_tags": [queries.HIGHLIGHT[0]],
        "post_tags": [queries.HIGHLIGHT[1]],
        "fields": {
            fields.title: {"number_of_fragments": 0},
            **{
                name: {"number_of_fragments": 1, "fragment_size": SNIPPET, "order": "score"}
                for name in (fields.searched, *fields.stemmed)
            },
        },
    }


def fetch_by_name(ids: Sequence[DocumentRef]) -> Clause:
    """Build the request for whole documents by index and id, with any routing."""
    return {"query": any_of(documents(ids)), "size": len(ids), "track_total_hits": False}


def fetch_parts(
    target: Target, ids: Sequence[DocumentRef], parts: Json, *clauses: Clause, at_once: int = AT_ONCE
) -> RequestFlow[list[Json]]:
    """Read parts of documents by index and id, of those that match some clauses."""
    hits: list[Json] = []
    for batch in in_slices(list(dict.fromkeys(ids)), at_once):
        body = fetch_by_name(batch)
        hits += hits_of((yield target.search({**body, **parts, "query": all_of(body["query"], *clauses)})))
    return hits


def first_value(hit: Json, field: str) -> Any:
    """Return the first value of a field of a hit; None if it has none."""
    return next(iter(hit.get("fields", {}).get(field, ())), None)


def documents(ids: Sequence[DocumentRef]) -> list[Clause]:
    by_index: dict[str, list[str]] = {}
    for index, name in ids:
        by_index.setdefault(index, []).append(name)
    return [all_of({"term": {"_index": index}}, ids_query(names)) for index, names in by_index.items()]


def ids_query(ids: Sequence[str]) -> Clause:
    return {"ids": {"values": list(ids)}}


def _words(words: Query | Words, fields: Fields) -> Clause:
    return {
        "must": [any_of([_part(part, fields) for part in entry]) for entry in words.all_of] or [ALL],
        "must_not": [_part(part, fields) for part in words.none_of],
    }


def _part(part: Phrase | Words, fields: Fields) -> Clause:
    if isinstance(part, Phrase):
        return _phrase(part, fields)
    return {"bool": {name: clauses for name, clauses in _words(part, fields).items() if clauses}}


def _phrase(phrase: Phrase, fields: Fields) -> Clause:
    """Build a phrase query on title or text; both scores count if both match, as in SQLite's bm25."""
    in_field = {"title": [fields.title], "text": [fields.searched]}
    names = in_field.get(phrase.field, [f"{fields.title}^2", fields.searched])
    if phrase.field != "title" and not phrase.prefix and " " not in phrase.text:
        names = [*names, *fields.stemmed]  # a word matches in any form; a phrase only as typed
    if phrase.slop is not None:
        return any_of([_near(phrase.text.split(), phrase.slop, name) for name in names])
    if phrase.prefix:
        return {"multi_match": {"query": phrase.text, "type": "bool_prefix", "operator": "and", "fields": names}}
    return {"multi_match": {"query": phrase.text, "type": "phrase", "fields": names, "tie_breaker": 1.0}}


def _near(words: Sequence[str], slop: int, name: str) -> Clause:
    """Build a query for words in any order with few words between them, like FTS5's NEAR; slop counts moves."""
    field, _, boost = name.partition("^")
    each = [{"match": {"query": word, "max_gaps": 0, "ordered": True}} for word in words]
    phrase_clause: Clause = {"all_of": {"intervals": each, "ordered": False, "max_gaps": slop}}
    return {"intervals": {field: phrase_clause | ({"boost": float(boost)} if boost else {})}}


def _condition(field: str, value: str, fields: Fields) -> Clause:
    """Build a query for the value of a field, for a date that overlaps a range, or for documents without any."""
    if not value:
        path = "ibidem.date" if field == "date" else getattr(fields, field)
        return {"bool": {"must_not": [{"exists": {"field": path}}]}}
    if field != "date":
        return {"term": {getattr(fields, field): value}}
    first, last = days(value)
    ends = [("gte", first), ("lte", last)]
    bounds = {name: iso_day(day) for name, day in ends if day is not None}
    signed_clause = all_of(*({"range": {"ibidem.date": {name: day}}} for name, day in bounds.items()))
    if fields.are_own:
        return signed_clause
    date_clause = {"range": {fields.date: bounds | {"format": "strict_date"}}}
    return any_of(
        [signed_clause, {"bool": {"must_not": {"exists": {"field": "ibidem.date"}}, "filter": [date_clause]}}]
    )


SUGGESTIONS = 10  # spellings that are asked for of each word, and of each shard


def suggest(target: Target, fields: Fields, words: Sequence[str]) -> RequestFlow[dict[str, str]]:
    """Find spellings of words that nothing holds; see `Engine.suggest`."""
    words = [each for each in words[: queries.MAX_SPELLED] if queries.MIN_LETTERS <= len(each) <= queries.MAX_LETTERS]
    bodies = [_suggest_body(word, fields) for word in words]
    responses = (yield target.searches(bodies))["responses"] if bodies else []
    # Servers answer so where the title or the text is no field of the index.
    answered = {word: each for word, each in zip(words, responses, strict=True) if each.get("status") != BAD_REQUEST}
    pairs = zip(answered, read_responses({"responses": list(answered.values())}), strict=True)
    spellings = {word: best(answer["suggest"]) for word, answer in pairs if not total_of(answer)}
    return {word: term for word, term in spellings.items() if term}


def best(suggest: Json) -> str:
    """Return the suggested term with the most documents for each field; empty if there is none."""
    documents: Counter[str] = Counter()
    for entries in suggest.values():
        documents.update({option["text"]: option["freq"] for entry in entries for option in entry["options"]})
    return min(documents, key=lambda term: (-documents[term], term), default="")


def _suggest_body(word: str, fields: Fields) -> Clause:
    """Build the request for terms at edit distance one from a word, in each field, and for whether one holds it."""
    slip = {
        "suggest_mode": "always",
        "max_edits": 1,
        "prefix_length": 0,
        "min_word_length": queries.MIN_LETTERS,
        "size": SUGGESTIONS,
        "shard_size": SUGGESTIONS,
        "sort": "frequency",
    }
    paths = {"title": fields.title, "text": fields.searched}
    return {
        "query": {"multi_match": {"query": word, "fields": list(paths.values())}},
        "size": 0,
        "track_total_hits": 1,
        "suggest": {name: {"text": word, "term": {"field": path, **slip}} for name, path in paths.items()},
    }
