"""A vault of public stories, one secret, and forgeries: public documents with the secret's packed value and group."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.sign import sign_batch
from servers.indices import ask, create_index
from support.books import book
from support.signed_records import packed_records

Json = dict[str, Any]

HIDDEN = "the-secret"
HIDDEN_WORDS = "unspeakable cipher"
PUBLIC: Json = {"term": {"source": "public"}}
SAID: Json = {"match": {"text": "said"}}
FORGERIES = 3
STORIES = 12


@dataclass(frozen=True)
class Vault:
    """An index with a secret."""

    address: str  # the server, as `IBIDEM_ENGINE` names it
    index: str  # name of the index

    @property
    def alias(self) -> str:
        """Name of an alias that lets only public documents in."""
        return f"{self.index}-open"

    def search(self, body: Json, index: str = "") -> Json:
        """Search past any client."""
        answer: Json = ask(self.address, "POST", f"/{index or self.index}/_search", json.dumps(body))
        return answer


def records() -> list[Record]:
    """Sign the stories and the secret; a long text, so that `partial` reads its long signatures."""
    secret = Document(HIDDEN, f"said {HIDDEN_WORDS} {book(*range(30))}", "The secret", source="hidden")
    stories = [
        Document(f"story-{at}", f"said {'loudly ' * (at % 4)}{book(at, at + 40)}", f"Story {at}", source="public")
        for at in range(STORIES)
    ]
    documents = [secret, *stories]
    return packed_records(documents, sign_batch(documents, None))


def fill(address: str, index: str, shards: int) -> Vault:
    """Write a vault, and into its forgeries the packed value of the secret."""
    vault = Vault(address, index)
    ask(address, "DELETE", f"/{index}?ignore_unavailable=true")
    create_index(address, index, number_of_shards=shards)
    engine = open_engine(address, index)
    try:
        engine.create()
        engine.write(signed := records())
        forge(vault, signed[0])
        engine.refresh()
    finally:
        engine.close()
    actions = [{"add": {"index": index, "alias": vault.alias, "filter": PUBLIC}}]
    ask(address, "POST", "/_aliases", json.dumps({"actions": actions}))
    wait = "wait_for_no_relocating_shards=true&wait_for_status=yellow&timeout=60s"
    ask(address, "GET", f"/_cluster/health/{index}?{wait}")
    return vault


def forge(vault: Vault, secret: Record) -> None:
    """Write public documents that claim to be the secret."""
    source, hidden = (
        ask(vault.address, "GET", f"/{vault.index}/_doc/{id_}?refresh=true&realtime=true")["_source"]
        for id_ in ("story-1", HIDDEN)
    )
    value = packed_values(vault, [HIDDEN])[0]
    lines: list[Json] = []
    for at in range(FORGERIES):
        forged = source | {"title": f"Forgery {at}", "text": f"said {'loudly ' * 9}", "source": "public"}
        forged["ibidem"] = source["ibidem"] | {"id": f"forged-{at}", "packed": value}
        forged["ibidem"] |= {"group": hidden["ibidem"]["group"], "lead": False}
        lines += [{"index": {"_id": f"forged-{at}"}}, forged]
    answer = ask(vault.address, "POST", f"/{vault.index}/_bulk?refresh=true", "\n".join(map(json.dumps, lines)) + "\n")
    assert not answer["errors"], answer


def packed_values(vault: Vault, ids: Sequence[str]) -> list[str]:
    """Read the packed values of documents, as the engine writes them."""
    ask(vault.address, "POST", f"/{vault.index}/_refresh")
    answer = vault.search({"query": {"ids": {"values": list(ids)}}, "docvalue_fields": ["ibidem.packed"]})
    values = {hit["_id"]: hit["fields"]["ibidem.packed"][0] for hit in answer["hits"]["hits"]}
    return [base64(values[each]) for each in ids]


def base64(value: str) -> str:
    """Write a value with the usual alphabet and padding, as a document is written with it."""
    text = value.rstrip("=").replace("-", "+").replace("_", "/")
    return text + "=" * (-len(text) % 4)


# Searches by name that exclude the secret: what comes behind the name of the index, and the body.
SEARCHES: dict[str, tuple[str, Json]] = {
    "a filter": ("", {"query": {"bool": {"must": [SAID], "filter": [PUBLIC]}}}),
    "a query that the secret does not match": ("", {"query": {"match": {"text": "loudly"}}}),
    "a post_filter": ("", {"query": SAID, "post_filter": PUBLIC}),
    "a filtered alias": ("-open", {"query": SAID}),
    "a sort": ("", {"query": {"bool": {"must": [SAID], "filter": [PUBLIC]}}, "sort": [{"source": "asc"}]}),
    "a least score": ("", {"query": {"match": {"text": "loudly"}}, "min_score": 0.0001}),
}


def native(vault: Vault, name: str) -> dict[str, Json]:
    """Return the documents that the server itself finds, by id."""
    suffix, body = SEARCHES[name]
    return {
        hit["_id"]: hit["_source"] for hit in vault.search(body | {"size": 100}, vault.index + suffix)["hits"]["hits"]
    }


def shown(answer: Json) -> dict[str, Json]:
    """Return the documents that an answer shows, by id, and check that it says nothing of the secret."""
    written = json.dumps(answer)
    assert HIDDEN_WORDS not in written
    assert HIDDEN not in written
    hits = [
        each
        for hit in answer["hits"]["hits"]
        for each in (hit, *hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits", ()))
    ]
    return {hit["_id"]: hit["_source"] for hit in hits}
