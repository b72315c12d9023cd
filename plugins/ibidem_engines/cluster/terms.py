"""Spelling suggestions from the terms of an index in a cluster."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ibidem_core.address import Fields
from ibidem_engines.cluster.client import build_failure
from ibidem_engines.requests import RequestFlow, Target
from ibidem_engines.spelling import MAX_LETTERS, MAX_WORDS, MIN_LETTERS

SUGGESTED = 10  # spellings that are asked for of each word, and of each shard


def suggest(target: Target, fields: Fields, words: Sequence[str]) -> RequestFlow[dict[str, str]]:
    """Find spellings; see `Engine.suggest`."""
    terms = list(words[:MAX_WORDS])
    counts = yield from _answers(target, [_count_body(word, fields) for word in terms]) if terms else _no_answers()
    missing = [
        word
        for word, answer in zip(terms, counts, strict=True)
        if not answer["hits"]["total"]["value"] and MIN_LETTERS <= len(word) <= MAX_LETTERS
    ]
    answers = (
        yield from _answers(target, [_suggest_body(word, fields) for word in missing]) if missing else _no_answers()
    )
    spellings = {word: best(answer["suggest"]) for word, answer in zip(missing, answers, strict=True)}
    return {word: term for word, term in spellings.items() if term}


def best(suggest: Mapping[str, Any]) -> str:
    """Return the suggested term with the most documents for each field; empty if there is none."""
    documents: Counter[str] = Counter()
    for entries in suggest.values():
        documents.update({option["text"]: option["freq"] for entry in entries for option in entry["options"]})
    return min(documents, key=lambda term: (-documents[term], term), default="")


def _answers(target: Target, bodies: Sequence[Mapping[str, Any]]) -> RequestFlow[Sequence[Mapping[str, Any]]]:
    answers: Sequence[Mapping[str, Any]] = (yield target.searches([dict(body) for body in bodies]))["responses"]
    for answer in answers:
        if "error" in answer:
            raise build_failure(int(answer["status"]), answer)
    return answers


def _no_answers() -> RequestFlow[Sequence[Mapping[str, Any]]]:
    yield from ()
    return ()


def _count_body(word: str, fields: Fields) -> dict[str, Any]:
    """Count the documents that contain a word."""
    query = {"multi_match": {"query": word, "fields": [fields.title, fields.text]}}
    return {"query": query, "size": 0, "track_total_hits": 1}


def _suggest_body(word: str, fields: Fields) -> dict[str, Any]:
    """Build the request for terms at edit distance one from a word, in each field."""
    slip = {
        "suggest_mode": "always",
        "max_edits": 1,
        "prefix_length": 0,
        "min_word_length": MIN_LETTERS,
        "size": SUGGESTED,
        "shard_size": SUGGESTED,
        "sort": "frequency",
    }
    fields_by_name = {"title": fields.title, "text": fields.text}
    return {
        "size": 0,
        "suggest": {name: {"text": word, "term": {"field": path, **slip}} for name, path in fields_by_name.items()},
    }
