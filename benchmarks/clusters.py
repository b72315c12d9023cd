"""Indexes on OpenSearch and Elasticsearch with and without signatures, loaded and measured on disk."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import elasticsearch.helpers
import opensearchpy.helpers

import benchmark  # noqa: F401 - finds the tests' servers
from ibidem_engines.cluster.index import template
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.document import Document
from servers.indices import ask, remove_indices

BATCH = 500
BARE = "measured-bare"
# The lean one is compressed by a library that Elasticsearch's jars in Maven's repository come without.
LAYOUTS = {"opensearch": ("full", "lean"), "elasticsearch": ("full",)}

PATIENCE = 120  # seconds that a client waits for an answer: its own ten are too few on a machine with neighbours

CLIENTS: dict[str, Any] = {
    "opensearch": (partial(opensearchpy.OpenSearch, timeout=PATIENCE), opensearchpy.helpers.bulk),
    "elasticsearch": (partial(elasticsearch.Elasticsearch, request_timeout=PATIENCE), elasticsearch.helpers.bulk),
}


def batches(stories: Sequence[Record]) -> Iterator[Sequence[Record]]:
    return (stories[at : at + BATCH] for at in range(0, len(stories), BATCH))


MIN_HASH = "min_hash"  # layout with the engine's own filter for near duplicates

FILTERS = ("opensearch",)  # servers that have that filter: Elasticsearch's jars in Maven's repository come without it

_FILTERS: dict[str, Any] = {
    "five_words": {"type": "shingle", "min_shingle_size": 5, "max_shingle_size": 5, "output_unigrams": False},
    "hundred_buckets": {"type": "min_hash", "hash_count": 1, "bucket_count": 100, "hash_set_size": 1},
}


def add_min_hash(body: dict[str, Any]) -> dict[str, Any]:
    """Let an index keep 100 buckets of the engine's own min-hash over runs of five words, next to the text."""
    analysis = body["settings"]["analysis"]
    analyzer = analysis["analyzer"]["ibidem_text"]
    analysis["filter"] = _FILTERS
    analysis["analyzer"][MIN_HASH] = analyzer | {"filter": [*analyzer["filter"], *_FILTERS]}
    field = {"type": "text", "analyzer": MIN_HASH, "index_options": "docs", "norms": False}
    body["mappings"]["properties"]["text"]["fields"] = {MIN_HASH: field}
    return body


def load_bare(url: str, stories: Sequence[Record], name: str = BARE, *, min_hash: bool = False) -> None:
    """Load documents without ibidem, with the client's own helper."""
    make_bare(url, name, min_hash=min_hash)
    send_bare(url, (each.document for each in stories), name)


def make_bare(url: str, name: str = BARE, *, min_hash: bool = False) -> None:
    """Make an empty index without the object `ibidem`."""
    body = template("full")
    del body["mappings"]["properties"]["ibidem"]
    body = add_min_hash(body) if min_hash else body
    ask(url, "DELETE", f"/{name}?ignore_unavailable=true")
    ask(url, "PUT", f"/{name}", json.dumps(body))


def send_bare(url: str, documents: Iterable[Document], name: str = BARE) -> None:
    """Send documents with the client's own helper."""
    client, bulk = CLIENTS[url.partition("+")[0]]
    actions = (
        {"_index": name, "_id": each.id, "title": each.title, "text": each.text}
        | {"date": each.date, "source": each.source, "meta": dict(each.meta)}
        for each in documents
    )
    with client(f"http://{url.partition('://')[2]}") as connection:
        bulk(connection, actions, chunk_size=BATCH)


def make_engine(url: str, kind: str, name: str = "") -> Engine:
    name = name or f"measured-{kind}"
    remove_indices(url, name)
    engine = open_engine(f"{url}/?layout={kind}", name)
    engine.create()
    return engine


def disk_bytes(url: str, names: Sequence[str]) -> dict[str, int]:
    """Return the bytes that indexes take in one segment, without the history for copies of a shard."""
    for name in names:
        ask(url, "POST", f"/{name}/_flush?force=true")
    for name in names:
        wait_for(lambda name=name: is_released(url, name), f"the history of {name} is kept")
        ask(url, "POST", f"/{name}/_doc?refresh=true", "{}")  # a second segment: one alone is not written again
        ask(url, "POST", f"/{name}/_forcemerge?max_num_segments=1")
    return {name: segment_bytes(url, name) for name in names}


def is_released(url: str, name: str) -> bool:
    """Return whether no lease keeps a write of an index: a merge keeps the source of each such document twice."""
    shards = ask(url, "GET", f"/{name}/_stats?level=shards")["indices"][name]["shards"]
    return all(
        lease["retaining_seq_no"] > copy["seq_no"]["max_seq_no"]
        for copies in shards.values()
        for copy in copies
        for lease in copy["retention_leases"]["leases"]
    )


def segment_bytes(url: str, name: str) -> int:
    """Return the bytes of an index's segments; files of segments that were merged stay on the disk a while longer."""
    ask(url, "POST", f"/{name}/_refresh")
    shards = ask(url, "GET", f"/{name}/_segments")["indices"][name]["shards"]
    copies = [copy for copies in shards.values() for copy in copies]
    return sum(segment["size_in_bytes"] for copy in copies for segment in copy["segments"].values())


def wait_for(is_done: Callable[[], bool], otherwise: str) -> None:
    for _ in range(PATIENCE):
        if is_done():
            return
        time.sleep(1)
    raise TimeoutError(f"{otherwise} after {PATIENCE} seconds")
