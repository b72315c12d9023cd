"""`ibidem tune --ask`: show the pairs whose labels improve the rule most, and read a key for each."""

import getpass
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
from rich.text import Text

from ibidem.cli.console import bar, engine_context, format_difference, messages, print_json, results, sanitize
from ibidem.comparison.word_diff import word_diff
from ibidem.evaluation.answers import add_answer, read_answers
from ibidem.evaluation.asking import Inquiry
from ibidem.evaluation.evaluate import sign_collection
from ibidem.evaluation.labels import Pair
from ibidem.grouped_search.explanations import format_count
from ibidem.index.documents import add_override
from ibidem_core.errors import NoIndex
from ibidem_core.settings import Settings
from ibidem_dedupe.parameters import Preset
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.query import Filter
from ibidem_engines.stored_presets import save_preset
from ibidem_ingest.document import Document
from ibidem_ingest.errors import MissingDocument, Refusal, UsageError
from ibidem_ingest.idf.store import Tables

PLACES = 6  # places that differ which are shown of a pair

Key = Literal["y", "n", "s", "q"]  # yes, no, skip, quit
KEYS: Mapping[str, Key] = {"y": "y", "n": "n", "s": "s", "q": "q", "\x03": "q", "\x04": "q", "": "q"}
PROMPT = "the same? y yes, n no, s skip, q stop: "


@dataclass(frozen=True, slots=True)
class Question:
    """A pair of documents to judge."""

    number: int  # the pair's, among all candidates
    asked: int  # how many pairs were judged before it
    count: int  # how many are judged at most
    documents: tuple[Document, Document]


@dataclass(frozen=True, slots=True)
class AskRequest:
    """The arguments of `ibidem tune --ask`."""

    answers: Path  # the table of answers
    count: int  # the most pairs to ask about
    filters: Sequence[Filter]  # only documents that pass are taken
    save: str  # name of the preset that the rule is kept as; empty: it is not kept
    as_json: bool  # whether to print JSON


@dataclass(slots=True)
class Session:
    """Questions to a person, until all pairs are judged, answers change nothing, or the person stops."""

    inquiry: Inquiry  # chooses the pairs
    documents: Mapping[str, Document]  # the documents by id
    path: Path  # the table of answers
    engine: Engine  # the index that keeps manual decisions
    count: int  # the most pairs to ask about
    asked: int = 0  # how many pairs were judged
    labels_alone: int = 0  # how many of them are no manual decisions, since the index lacks a document
    is_stopped: bool = False  # whether the person stopped

    def question(self) -> Question | None:
        """Return the next pair."""
        if self.is_stopped or self.asked >= self.count or self.inquiry.is_settled:
            return None
        number = self.inquiry.next()
        if number is None:
            return None
        a, b = self.inquiry.name(number)
        return Question(number, self.asked, self.count, (self.documents[a], self.documents[b]))

    def answer(self, number: int, key: Key) -> None:
        """Record the answer to a pair."""
        if key == "q":
            self.is_stopped = True
        elif key == "s":
            self.inquiry.skip(number)
        else:
            self.note(self.inquiry.name(number), is_duplicate=key == "y")
            self.inquiry.answer(number, is_duplicate=key == "y")

    def note(self, pair: Pair, *, is_duplicate: bool) -> None:
        """Store an answer as a label, and as a manual decision if the index has both documents."""
        add_answer(self.path, pair, is_duplicate=is_duplicate)
        self.asked += 1
        try:
            add_override(
                self.engine, pair, "same" if is_duplicate else "not", author=getpass.getuser(), reason="tune --ask"
            )
        except (MissingDocument, NoIndex):
            self.labels_alone += 1


def ask(documents: Iterable[Document | Refusal], request: AskRequest, settings: Settings) -> None:
    """Ask about pairs of documents, store the answers, and print the rule they lead to."""
    texts: dict[str, Document] = {}
    with bar("Signing") as advance:
        collection = sign_collection(
            hold(documents, texts), Tables(settings.tables), lambda count: advance(count, None), request.filters
        )
    given = read_answers(request.answers, collection.ids)
    inquiry = Inquiry(collection)
    if not len(inquiry):
        raise UsageError("no two of these documents are similar enough to ask about", "name more documents")
    inquiry.take(given)
    with engine_context(settings) as engine:
        session = Session(inquiry, texts, request.answers, engine, request.count)
        ask_on_terminal(session)
        if request.save and inquiry.answers:
            about = f"learned from {format_count(len(inquiry.answers), 'answer')} of tune --ask"
            save_preset(engine, request.save, Preset(Policy.from_rule(inquiry.rule), about))
    report(session, request)


def ask_on_terminal(session: Session) -> None:
    """Show one pair after another on the terminal, and read a key for each."""
    while (question := session.question()) is not None:
        for line in question_lines(question):
            messages().print(line)
        session.answer(question.number, read_key())


def hold(documents: Iterable[Document | Refusal], texts: dict[str, Document]) -> Iterator[Document | Refusal]:
    """Yield the items of the readers, and collect the documents."""
    for item in documents:
        if isinstance(item, Document):
            texts[item.id] = item
        yield item


def question_lines(question: Question) -> Iterator[Text]:
    """Yield both titles and the words that differ."""
    yield Text(f"\n{question.asked + 1} of {question.count}", "about")
    a, b = question.documents
    for document in (a, b):
        yield Text.assemble((sanitize(document.title or "(no title)"), "title"), f"  {sanitize(document.id)}")
    difference = word_diff(a.text, b.text, PLACES)
    yield format_difference(difference) if difference else Text("no word differs")


def read_key() -> Key:
    """Read a key from the terminal, or a line from other input; invalid keys are asked for again."""
    while True:
        messages().print(PROMPT, end="")
        if sys.stdin.isatty():
            typed = click.getchar()
            messages().print(typed if typed.isprintable() else "")
        else:
            line = sys.stdin.readline()
            typed = line.strip()[:1] or ("" if not line else "?")
        if (key := KEYS.get(typed.lower())) is not None:
            return key


def report(session: Session, request: AskRequest) -> None:
    """Print the learned rule and its expected quality."""
    inquiry = session.inquiry
    expected = inquiry.expect()
    saved = request.save if request.save and inquiry.answers else ""
    if request.as_json:
        print_json({
            "asked": session.asked,
            "answers": len(inquiry.answers),
            "labels_alone": session.labels_alone,
            "candidates": len(inquiry),
            "settled": inquiry.is_settled,
            "expected": {"f1": round(expected.f1, 4), "spread": round(expected.spread, 4)},
            "saved": saved or None,
        })  # fmt: skip
        return
    for line in report_lines(session, request, str(expected), saved):
        results().print(line)


def report_lines(session: Session, request: AskRequest, expected: str, saved: str) -> Iterator[Text]:
    """Yield the report as lines."""
    inquiry = session.inquiry
    yield Text(
        f"{format_count(session.asked, 'pair')} judged, {format_count(len(inquiry.answers), 'answer')} "
        f"in {request.answers}, of {format_count(len(inquiry), 'pair')} that share text"
    )
    if session.labels_alone:
        yield Text(
            f"{session.labels_alone:,} are stored as labels only: their documents are not in the index", "account"
        )
    yield Text(f"Expected F1 over these pairs: {expected}")
    yield Text(
        "More answers would hardly change the rule." if inquiry.is_settled else "More answers may change the rule."
    )
    if saved:
        yield Text(f"Saved as a preset of the index: --preset {saved}", "level")
    else:
        yield Text("--save NAME keeps the rule with the index; --ask 0 learns it again from the same answers", "level")
