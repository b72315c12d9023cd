"""Ways to ten passages: the server's own, those that drop by distance of vectors, and those that group texts."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.vectorstores.utils import maximal_marginal_relevance

import ibidem
from ibidem_ingest.idf.store import Tables
from passage_vectors import DIMENSIONS, Vectors

TEN, FETCHED = 10, 50
VECTORS = "vectors"
BATCH = 1_000
Json = dict[str, Any]
Ids = Sequence[str]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked."""

    text: str  # its words
    without: Collection[str] = ()  # ids that are no answers

    def body(self, size: int = TEN, **parts: Any) -> Json:
        """Ask for the best passages; all matches are counted, as ibidem does."""
        return {"query": self.query(), "size": size, "_source": False, "track_total_hits": True, **parts}

    def query(self) -> Json:
        """Return the query."""
        match: Json = {"match": {"text": self.text}}
        if not self.without:
            return match
        return {"bool": {"must": [match], "must_not": [{"ids": {"values": list(self.without)}}]}}


Ask = Callable[[Question], Ids]  # returns the ids of ten passages, or fewer


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways over one index."""

    client: Any  # client of Elasticsearch
    index: str  # the index; another one beside it holds texts and vectors
    vectors: Vectors  # vectors of the passages
    tables: Tables  # the idf tables

    def all(self) -> Mapping[str, Ask]:
        """Return the ways by their names on the page."""
        return {
            "plain: as the server ranks": self.plain,
            "maximal marginal relevance of 50, λ 0.5": lambda question: self.mmr(question, 0.5),
            "maximal marginal relevance of 50, λ 0.8": lambda question: self.mmr(question, 0.8),
            "Elasticsearch's `diversify` of 50, λ 0.5": lambda question: self.diversify(question, 0.5),
            "Elasticsearch's `diversify` of 50, λ 0.8": lambda question: self.diversify(question, 0.8),
            "native `collapse` by content": self.collapse,
            "ibidem, stored groups": lambda question: self.grouped(question, "off", dedupe_by="stored"),
            "ibidem, plugin": lambda question: self.grouped(question, "on"),
            "ibidem, client without plugin": lambda question: self.grouped(question, "off"),
            "`ibidem.group_texts` of 50": self.group_texts,
        }

    def plain(self, question: Question) -> Ids:
        """Take the first ten."""
        return ids(self.client.search(index=self.index, **question.body()))

    def mmr(self, question: Question, share: float) -> Ids:
        """Choose ten of fifty by their vectors, as LangChain does."""
        names = ids(self.client.search(index=self.index, **question.body(FETCHED)))
        known = [self.vectors.by_name[name] for name in names]
        return [names[at] for at in maximal_marginal_relevance(self.vectors.embed(question.text), known, share, TEN)]

    def diversify(self, question: Question, share: float) -> Ids:
        """Let the server choose ten of fifty by their vectors."""
        retriever = {
            "type": "mmr",
            "field": "vector",
            "rank_window_size": FETCHED,
            "size": TEN,
            "lambda": share,
            "query_vector": self.vectors.embed(question.text).tolist(),
            "retriever": {"standard": {"query": question.query()}},
        }
        body = {"retriever": {"diversify": retriever}, "size": TEN, "_source": False}
        return ids(self.client.search(index=f"{self.index}-{VECTORS}", **body))

    def collapse(self, question: Question) -> Ids:
        """Let the server show one of those with the same words."""
        return ids(self.client.search(index=self.index, **question.body(collapse={"field": "ibidem.content"})))

    def grouped(self, question: Question, plugin: str, **options: object) -> Ids:
        """Show one of each group."""
        os.environ["IBIDEM_PLUGIN"] = "off" if plugin == "off" else "auto"
        found = ibidem.wrap(self.client).search(index=self.index, **question.body(), dedupe="collapse", **options)
        return ids(found)

    def group_texts(self, question: Question, document: str = "") -> Ids:
        """Group the first fifty in memory."""
        found = self.client.search(index=self.index, **question.body(FETCHED, _source=["text", "meta"]))
        hits = found["hits"]["hits"]
        passages = [
            ibidem.Passage(hit["_source"]["text"], hit["_source"]["meta"][document] if document else "") for hit in hits
        ]
        groups = ibidem.group_texts(passages, language="en", tables=self.tables)
        return [hits[group.lead]["_id"] for group in groups[:TEN]]

    def load_vectors(self) -> None:
        """Make the index with vectors; a text without words has none, since a vector of zeros has no cosine."""
        name, field = f"{self.index}-{VECTORS}", {"type": "dense_vector", "dims": DIMENSIONS, "index": True}
        mapping = {"properties": {"text": {"type": "text"}, "vector": field}}
        self.client.indices.create(index=name, settings={"number_of_replicas": 0}, mappings=mapping)
        items = list(self.vectors.texts.items())
        for start in range(0, len(items), BATCH):
            lines: list[Json] = []
            for each, text in items[start : start + BATCH]:
                vector = self.vectors.by_name[each]
                lines += [
                    {"index": {"_id": each}},
                    {"text": text} | ({"vector": vector.tolist()} if vector.any() else {}),
                ]
            if self.client.bulk(index=name, operations=lines)["errors"]:
                raise SystemExit(f"not all vectors of {self.index} were taken")
        self.client.indices.refresh(index=name)
        self.client.indices.forcemerge(index=name, max_num_segments=1)


def ids(response: Any) -> Ids:
    """Return the ids of the hits of an answer."""
    return [hit["_id"] for hit in response["hits"]["hits"]]
