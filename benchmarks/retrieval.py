"""Distinct texts among the ten passages for a language model, and the cost of finding them.

    python benchmarks/retrieval.py [--collections FOLDER] [--queries N] [--documents N] [--write]

The server is the one in IBIDEM_TEST_OPENSEARCH, or started as the tests start it. Newswire stories are signed and
indexed; the titles of some of them are the questions. A retriever of LangChain takes ten passages for each: the
server's own ranking as it is; the ten that LangChain's maximal marginal relevance chooses among its first fifty; and
the ten groups that a wrapped client puts first. Which stories repeat each other is a label of the collection (exact
overlap, `pairs_exact.tsv`, half of the five-word runs or more), and no signature of ibidem's.

No language model runs here: a passage's vector is its tf-idf vector, projected at random onto 256 dimensions, which
keeps the cosine. Passages with the same words have the same vector under any model, so this is the case that suits
diversity by vectors best.
"""

import csv
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import opensearchpy
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as Passage
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from numpy.typing import NDArray

import ibidem
from benchmark import options, publish, run_servers
from ibidem_engines.engine import Record
from ibidem_ingest.text.tokens import tokens
from newswire import load, sign_stories
from servers.indices import remove_indices

INDEX = "measured-retrieval"
TEN, FETCHED = 10, 50
DIMENSIONS = 256
SAME = 0.5
"""Share of five-word runs from which two stories count as one text, as ibidem's level `near` does by default."""

Ids = Sequence[str]
Vectors = Mapping[str, NDArray[np.float64]]


class Retriever(BaseRetriever):
    """Retriever: returns ten passages for a question."""

    ask: Callable[[str], Ids]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Passage]:  # noqa: ARG002 - LangChain's own signature
        return [Passage(page_content="", id=name) for name in self.ask(query)]


def words(text: str) -> list[str]:
    """Cut a text as signatures do."""
    return [str(token) for token in tokens(text)]


def vectors(records: Sequence[Record]) -> tuple[Vectors, Callable[[str], NDArray[np.float64]]]:
    """Project tf-idf vectors at random; returns the vectors of the stories, and the embedding of a question."""
    counts = {record.document.id: Counter(words(record.document.text)) for record in records}
    document_counts = Counter(word for each in counts.values() for word in each)
    draw = np.random.default_rng(7)
    base = {word: draw.standard_normal(DIMENSIONS) for word in document_counts}

    def embed(each: Mapping[str, int]) -> NDArray[np.float64]:
        vector = np.zeros(DIMENSIONS)
        for word, times in each.items():
            if word in base:
                vector += (1 + math.log(times)) * math.log(len(counts) / document_counts[word]) * base[word]
        return vector / (np.linalg.norm(vector) or 1.0)

    return {name: embed(each) for name, each in counts.items()}, lambda text: embed(Counter(words(text)))


def texts(collection: Path, names: Ids) -> dict[str, str]:
    """Return the text number of each story: stories that share half of their five-word runs are one text."""
    lead = {name: name for name in names}

    def root(name: str) -> str:
        while lead[name] != name:
            lead[name] = lead[lead[name]]
            name = lead[name]
        return name

    with (collection / "pairs_exact.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if float(row["jac5"]) >= SAME and row["a"] in lead and row["b"] in lead:
                lead[root(row["a"])] = root(row["b"])
    return {name: root(name) for name in names}


def ways(
    client: Any, story_vectors: Vectors, vector: Callable[[str], NDArray[np.float64]]
) -> dict[str, Callable[[str], Ids]]:
    """Return the retrievers by their names on the page."""
    wrapper = ibidem.wrap(client)

    def body(question: str, size: int) -> dict[str, Any]:
        return {"query": {"match": {"text": question}}, "size": size, "_source": False}

    def rank(question: str, size: int = TEN) -> Ids:
        response = client.search(index=INDEX, body=body(question, size))
        return [hit["_id"] for hit in response["hits"]["hits"]]

    def diverse(question: str, share: float) -> Ids:
        names = rank(question, FETCHED)
        places = maximal_marginal_relevance(vector(question), [story_vectors[name] for name in names], share, TEN)
        return [names[at] for at in places]

    def collapse(question: str) -> Ids:
        response = wrapper.search(index=INDEX, body=body(question, TEN), dedupe="collapse", dedupe_window=FETCHED)
        return [hit["_id"] for hit in response["hits"]["hits"]]

    return {
        "as the server ranks": rank,
        "maximal marginal relevance, λ 0.5": lambda question: diverse(question, 0.5),
        "maximal marginal relevance, λ 0.8": lambda question: diverse(question, 0.8),
        "ibidem, `collapse`": collapse,
    }


def first_different(names: Ids, text: Mapping[str, str]) -> set[str]:
    """Return the first ten texts of a ranking."""
    return set(list(dict.fromkeys(text[name] for name in names))[:TEN])


def rows(
    client: Any, retrievers: Mapping[str, Callable[[str], Ids]], questions: Ids, text: Mapping[str, str]
) -> Iterator[str]:
    """Measure every retriever and yield its row."""
    best = [
        first_different([hit["_id"] for hit in client.search(index=INDEX, body=_best(question))["hits"]["hits"]], text)
        for question in questions
    ]
    for name, ask in retrievers.items():
        retriever = Retriever(ask=ask)
        retriever.invoke(questions[0])
        different, recall, seconds = [], [], []
        for question, best_ids in zip(questions, best, strict=True):
            began = time.perf_counter()
            documents = retriever.invoke(question)
            seconds.append(1e3 * (time.perf_counter() - began))
            passage_texts = {text[str(passage.id)] for passage in documents}
            different.append(len(passage_texts))
            recall.append(len(passage_texts & best_ids))
        complete = sum(count == TEN for count in different)
        figures = f"{mean(different):.2f} | {complete} of {len(questions)} | {mean(recall):.2f} | {median(seconds):.1f}"
        yield f"| {name} | {figures} |"


def _best(question: str) -> dict[str, Any]:
    return {"query": {"match": {"text": question}}, "size": FETCHED, "_source": False}


def report(client: Any, records: Sequence[Record], collection: Path, count: int) -> Iterator[str]:
    """Yield the page."""
    text = texts(collection, [record.document.id for record in records])
    sizes = Counter(text.values())
    candidates = [record.document for record in records if len(words(record.document.title)) > 3]
    repeats = [document.title for document in candidates if sizes[text[document.id]] > 1]
    story_vectors, vector = vectors(records)
    multiples = sum(size > 1 for size in sizes.values())
    yield f"{len(records):,} newswire stories in one index of OpenSearch; {multiples:,} texts are there more than once."
    yield "Ten passages a question, by a retriever of LangChain, means over all. *Different*: texts among them."
    yield "*Of the best*: how many of the ten texts that the server ranks first, each once, are among them. Vectors are"
    yield f"tf-idf, projected at random onto {DIMENSIONS} dimensions."
    for title, questions in (
        ("Questions about any story", [document.title for document in candidates]),
        ("Questions about a story that is there more than once", repeats),
    ):
        sample = questions[:: max(1, len(questions) // count)][:count]
        yield f"\n## {title}\n"
        yield "| ten passages | different | all ten different | of the best | median, ms |\n|---|---|---|---|---|"
        yield from rows(client, ways(client, story_vectors, vector), sample, text)


def main() -> None:
    """Measure and print, or write the page."""
    arguments = options(__doc__, queries=100, documents=int, write=False).parse_args()
    collection = arguments.collections / "reuters21578"
    records = sign_stories(collection / "docs.jsonl.xz", arguments.documents)
    with run_servers("opensearch") as servers:
        address = servers.url("opensearch")
        load(address, records, INDEX)
        with opensearchpy.OpenSearch(address.partition("+")[2]) as client:
            lines = report(client, records, collection, arguments.queries)
            publish("retrieval", "Passages for a language model", lines, keep=arguments.write)
        remove_indices(address, INDEX)


if __name__ == "__main__":
    main()
