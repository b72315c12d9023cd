"""An archive of which some may not be seen by all: they are answered as over one without what is hidden."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.sign import sign_batch
from ibidem_workers.groups.follower import Follower
from servers.indices import create_index, remove_indices
from support.books import book
from support.rights_server import Rights
from support.signed_records import packed_records

Json = dict[str, Any]

# Who may see all; public documents only; no titles, and nothing of what is written in the margin.
CLERK, READER, BLIND = (f"Basic {name}" for name in ("Y2xlcms6cHc=", "cmVhZGVyOnB3", "YmxpbmQ6cHc="))

PUBLIC: Json = {"term": {"source": "public"}}
# Words that are in hidden documents, and in hidden fields, alone; the first begins their ids.
SECRETS = ("classified", "unspeakable")

USERS: Mapping[str, Rights | None] = {
    CLERK: None,
    READER: Rights(PUBLIC),
    BLIND: Rights({"match_all": {}}, frozenset(("title", "meta", "ibidem.meta"))),
}


def documents(*, titles: bool = False) -> list[Document]:
    """Stories in groups, in which hidden documents come first, stand between, or are the whole of a shared text."""
    texts: list[tuple[str, str]] = []
    for number in range(6):
        begin, end = number * 100, number * 100 + 12
        whole = book(*range(begin, end))
        texts += [
            (f"classified-{number}", whole),
            (f"story-{number}", whole),
            (f"classified-copy-{number}", whole),
            (f"first-half-{number}", book(*range(begin, end - 2))),
            (f"second-half-{number}", book(*range(begin + 2, end))),
            (f"long-{number}", book(*range(begin + 3, end + 40))),
        ]
    return [
        Document(
            name,
            f"said {text}{f' {SECRETS[1]}' if name.startswith(SECRETS[0]) else ''}",
            f"{SECRETS[1] if titles or name.startswith(SECRETS[0]) else 'Story'} {at}",
            date=f"1990-01-{1 + at // 24:02}T{at % 24:02}:00:00Z",
            source="hidden" if name.startswith(SECRETS[0]) else "public",
            language="en",
            meta={"margin": f"{SECRETS[1]} {at}"} if titles else {},
        )
        for at, (name, text) in enumerate(texts)
    ]


def fill(address: str, index: str, archive: Sequence[Document], shards: int = 1) -> None:
    """Write an archive, and settle its groups."""
    remove_indices(address, index)
    create_index(address, index, number_of_shards=shards)
    engine = open_engine(address, index)
    try:
        engine.create()
        engine.write(packed_records(archive, sign_batch(archive, None)))
        Follower(engine).catch_up()
        engine.refresh()
    finally:
        engine.close()


def public(archive: Sequence[Document]) -> list[Document]:
    """Return the documents that everybody may see."""
    return [each for each in archive if each.source == "public"]


SAID: Json = {"match": {"text": "said"}}
ORDERED: Json = {"sort": [{"ibidem.date": "asc"}], "size": 50}
# Searches by name, in a whole order: scores depend on hidden documents in the engines themselves.
BODIES: Mapping[str, Json] = {
    "all": {"query": SAID, **ORDERED},
    "a page": {"query": SAID, **ORDERED, "size": 2, "from": 2},
    "some fields": {"query": SAID, **ORDERED, "_source": ["source"], "docvalue_fields": ["source"]},
    "facets": {"query": SAID, **ORDERED, "aggs": {"sources": {"terms": {"field": "source"}}}},
    "hits in buckets": {
        "query": SAID,
        **ORDERED,
        "aggs": {"sources": {"terms": {"field": "source"}, "aggs": {"some": {"top_hits": {"size": 3, **ORDERED}}}}},
    },
    "passages": {"query": SAID, **ORDERED, "highlight": {"fields": {"text": {}}}},
}

# Ways of grouping by name.
GROUPED: Mapping[str, Json] = {
    "indent": {"dedupe": "indent", "by": "window", "explain": True},
    "collapse": {"dedupe": "collapse", "by": "window"},
    "partial": {"dedupe": "indent", "level": "partial", "explain": True},
    "by date": {"dedupe": "indent", "by": "window", "keep": "latest"},
    "a small window": {"dedupe": "indent", "window": 3},
}


# What is of one request, of one index or of the engine's own scores, and the names of groups.
PASSING = ("took", "took_ms", "cursor", "_score", "max_score", "_shards", "_index", "index", "group", "ibidem")


def same_for_all(answer: Any) -> Any:
    """Return an answer without what differs from one request, and from one index, to the next."""
    if isinstance(answer, list):
        return [same_for_all(each) for each in answer]
    if isinstance(answer, dict):
        return {name: same_for_all(each) for name, each in answer.items() if name not in PASSING}
    return answer


def check_hidden(answer: Any) -> None:
    text = answer if isinstance(answer, str) else json.dumps(answer, default=str)
    assert [word for word in SECRETS if word in text] == []
