"""Ten passages for a language model: how many are different, whether they answer, and how long it takes.

    python benchmarks/retrieval.py [--collections FOLDER] [--queries N] [--documents N] [--rounds N] [--write]

One node of Elasticsearch is started here with the plugin (`make plugin` comes first), since it has `diversify`, too;
every way asks it with the same client, through LangChain's retriever. Three collections:

- newswire, where the titles of stories are the questions. Which stories repeat each other is a label of the collection
  (exact overlap, `pairs_exact.tsv`, half of the five-word runs or more), and no signature of ibidem's;
- the set of Lee, Pincombe and Welsh, judged by people (`judged.py`), as it is and with three copies of each story;
- long newswire stories, cut by a sliding window. Two passages of a story that share words of its text are one text.

Each way is warmed with all questions. Of each question the least time of the rounds counts, and of these the median.
No language model runs here (`passage_vectors.py`).
"""

import argparse
import csv
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import elasticsearch
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as Passage
from langchain_core.retrievers import BaseRetriever

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_engines.records import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_workers.groups.follower import Follower
from judged import JudgedSet, load_judged
from measured import write
from newswire import load, sign_stories
from passage_vectors import DIMENSIONS, Vectors, words
from retrieval_ways import FETCHED, TEN, Ask, Ids, Question, Ways
from search import run_node

SAME = 0.5  # share of five-word runs from which two stories count as one text, as ibidem's level `near` does by default

CUT, STEP, LONG = 100, 75, 250  # words of a passage and from one to the next, and of a story that is cut

STORIES = 2_000
DOCUMENT = "document"
DEDUPE_DOCUMENT = f"meta.{DOCUMENT}"
Measured = tuple[Sequence[Ids], float]  # the passages of each question, and the milliseconds


class Retriever(BaseRetriever):
    """Retriever: returns ten passages for a question."""

    ask: Callable[[str], Ids]

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Passage]:  # noqa: ARG002 - LangChain's own signature
        return [Passage(page_content="", id=name) for name in self.ask(query)]


def measure(ask: Ask, questions: Sequence[Question], rounds: int) -> Measured:
    """Ask all questions in each round; the first warms up."""
    by_text = {question.text: question for question in questions}
    retriever = Retriever(ask=lambda text: ask(by_text[text]))
    found = [[str(each.id) for each in retriever.invoke(question.text)] for question in questions]
    least = [float("inf")] * len(questions)
    for _ in range(rounds):
        for place, question in enumerate(questions):
            began = time.perf_counter()
            retriever.invoke(question.text)
            least[place] = min(least[place], 1e3 * (time.perf_counter() - began))
    return found, median(least)


@dataclass(frozen=True, slots=True)
class Bench:
    """The node, and how it is asked."""

    address: str  # its address, as `IBIDEM_ENGINE` names it
    client: Any
    tables: Tables  # the idf tables
    count: int  # questions of each kind
    rounds: int  # rounds that are timed

    def ways(self, index: str, stored: Sequence[Record], *, vectors: bool = True) -> Ways:
        """Fill an index, settle its groups, and give the ways over it."""
        load(self.address, stored, index)
        with closing(open_engine(self.address, index)) as engine:
            Follower(engine).catch_up()
            engine.refresh()
        texts = {record.document.id: record.document.text for record in stored} if vectors else {}
        ways = Ways(self.client, index, Vectors(texts), self.tables)
        if vectors:
            ways.load_vectors()
        return ways

    def sample(self, questions: Sequence[Question]) -> Sequence[Question]:
        """Choose some questions, evenly."""
        return questions[:: max(1, len(questions) // self.count)][: self.count]

    def sign(self, documents: Sequence[Document]) -> list[Record]:
        """Sign documents."""
        return [each for at in range(0, len(documents), 400) for each in records(documents[at : at + 400], self.tables)]


def text_of_each(collection: Path, names: Ids) -> dict[str, str]:
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


def newswire(bench: Bench, stored: Sequence[Record], collection: Path) -> Iterator[str]:
    """Yield the figures of newswire."""
    text = text_of_each(collection, [record.document.id for record in stored])
    sizes = Counter(text.values())
    ways = bench.ways("measured-retrieval", stored)
    titled = [record.document for record in stored if len(words(record.document.title)) > 3]
    repeated = [document for document in titled if sizes[text[document.id]] > 1]
    multiples = sum(size > 1 for size in sizes.values())
    yield f"{len(stored):,} newswire stories, of which {multiples:,} texts are there more than once. *Different*:"
    yield "texts among the ten. *Of the best*: how many of the ten texts that the server ranks first, each once,"
    yield "are there."
    for title, asked in (("any story", titled), ("a story that is there more than once", repeated)):
        questions = bench.sample([Question(each) for each in dict.fromkeys(document.title for document in asked)])
        best = [set(list(dict.fromkeys(text[name] for name in hits(ways, each)))[:TEN]) for each in questions]
        yield from ("", f"### {len(questions)} questions about {title}", "")
        yield "| ten passages | different | all ten different | of the best | median, ms |"
        yield "|---|---|---|---|---|"
        for name, request in ways.all().items():
            found, took = measure(request, questions, bench.rounds)
            texts = [{text[each] for each in names} for names in found]
            complete = sum(len(each) == TEN for each in texts)
            recall = mean(len(each & wanted) for each, wanted in zip(texts, best, strict=True))
            different = mean(map(len, texts))
            yield f"| {name} | {different:.2f} | {complete} of {len(questions)} | {recall:.2f} | {took:.1f} |"


def hits(ways: Ways, question: Question) -> Ids:
    """Return the first fifty."""
    answer = ways.client.search(index=ways.index, **question.body(FETCHED))
    return [hit["_id"] for hit in answer["hits"]["hits"]]


def judged(bench: Bench, collection: JudgedSet) -> Iterator[str]:
    """Yield nDCG of the judged set."""
    yield f"{len(collection.stories)} stories (Lee, Pincombe and Welsh 2005, in the package gensim), each asked for"
    yield "by its own text, itself left out; how similar the others are, people have judged. *nDCG@10*: 1 is the"
    yield "best order there is; a text that comes again gains nothing. Each story is there once, or four times:"
    yield "word for word, with a line above it, without its last tenth."
    yield from (
        "",
        "| ten passages | nDCG@10, each once | nDCG@10, with copies | different, with copies |",
        "|---|---|---|---|",
    )
    once, copied = (
        bench.ways(f"measured-judged-{name}", bench.sign(list(collection.documents(copies=copies))))
        for name, copies in (("once", False), ("copied", True))
    )
    questions = [
        Question(text, [f"{number}{copy}" for copy in ("", "-word", "-line", "-short")])
        for number, text in enumerate(collection.stories)
    ]
    for name, request in once.all().items():
        alone, with_copies = ([each(question) for question in questions] for each in (request, copied.all()[name]))
        different = mean(len({each.partition("-")[0] for each in names}) for names in with_copies)
        scores = [
            mean(collection.ndcg(number, names) for number, names in enumerate(found)) for found in (alone, with_copies)
        ]
        yield f"| {name} | {scores[0]:.3f} | {scores[1]:.3f} | {different:.2f} |"


def windows(bench: Bench, stored: Sequence[Record]) -> Iterator[str]:
    """Yield the figures of passages that a sliding window cut."""
    stories = [record.document for record in stored if len(record.document.text.split()) >= LONG][:STORIES]
    passages = [passage for story in stories for passage in cut(story)]
    ways = bench.ways("measured-windows", bench.sign(passages), vectors=False)
    questions = bench.sample([Question(story.title) for story in stories if len(words(story.title)) > 3])
    yield f"{len(stories):,} newswire stories of {LONG} words or more, cut into {len(passages):,} passages of {CUT}"
    yield f"words that share {CUT - STEP} with the next. *Overlapping*: passages among the ten that share a part of"
    yield "their story with a better one."
    yield from ("", "| ten passages | overlapping | median, ms |", "|---|---|---|")
    grouped = {
        "plain: as the server ranks": ways.plain,
        "ibidem, client without plugin": lambda question: ways.grouped(question, "off"),
        "the same with `dedupe_document`": lambda question: ways.grouped(
            question, "off", dedupe_document=DEDUPE_DOCUMENT
        ),
        "`ibidem.group_texts` of 50 with documents": lambda question: ways.group_texts(question, DOCUMENT),
    }
    for name, request in grouped.items():
        found, took = measure(request, questions, bench.rounds)
        yield f"| {name} | {mean(map(overlapping, found)):.2f} | {took:.1f} |"


def cut(story: Document) -> Iterator[Document]:
    """Cut a story by a sliding window; the id of a passage is that of the story and its number."""
    text = story.text.split()
    for number, start in enumerate(range(0, len(text) - (CUT - STEP), STEP)):
        piece = " ".join(text[start : start + CUT])
        yield Document(f"{story.id}#{number}", piece, date=story.date, meta={DOCUMENT: story.id})


def overlapping(names: Ids) -> int:
    """Count the passages that stand next to an earlier one of their story.

    >>> overlapping(["a#1", "b#2", "a#2", "a#4"])
    1
    """
    places = [(story, int(number)) for story, _, number in (name.rpartition("#") for name in names)]
    return sum(
        any(story == other and abs(number - before) <= 1 for other, before in places[:at])
        for at, (story, number) in enumerate(places)
    )


def main() -> None:
    """Measure and print, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, default=Path("../shared/data"))
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--documents", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    collection = arguments.collections / "reuters21578"
    people = load_judged()
    stored = sign_stories(collection / "docs.jsonl.xz", arguments.documents)
    with (
        tempfile.TemporaryDirectory() as folder,
        run_node("elasticsearch") as address,
        elasticsearch.Elasticsearch(address.partition("+")[2], request_timeout=60) as client,
    ):
        bench = Bench(address, client, Tables(Path(folder)), arguments.queries, arguments.rounds)
        lines = [
            *(*about(arguments.rounds), "", "## Newswire", "", *newswire(bench, stored, collection)),
            *("", "## Relevance, judged by people", "", *judged(bench, people)),
            *("", "## Passages of a sliding window", "", *windows(bench, stored)),
        ]
    if arguments.write:
        write("retrieval", "Passages for a language model", lines)
    else:
        print("\n".join(lines))


def about(rounds: int) -> Iterator[str]:
    """Say how the figures were taken."""
    yield "One node of Elasticsearch on the machine that asks, with the plugin; ten passages a question, by a"
    yield f"retriever of LangChain. Means over all questions; of the times the least of {rounds} rounds for each"
    yield f"question, and of these the median. Vectors are tf-idf, projected at random onto {DIMENSIONS} dimensions."
    yield "Maximal marginal relevance is LangChain's, in the client; `diversify` searches an index of texts and"
    yield "vectors alone. Every way counts all matches, but `diversify`, which does not."


if __name__ == "__main__":
    main()
