"""`ibidem tune --ask`: show the pairs whose labels teach the most, and take a key for each."""

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

PLACES = 6
"""Places that differ which are shown of a pair."""

Key = Literal["y", "n", "s", "q"]
KEYS: Mapping[str, Key] = {"y": "y", "n": "n", "s": "s", "q": "q", "\x03": "q", "\x04": "q", "": "q"}
PROMPT = "the same? y yes, n no, s skip, q stop: "


@dataclass(frozen=True, slots=True)
class AskRequest:
    """The arguments of `ibidem tune --ask`.

    Args:
        answers: The table of answers.
        count: The most pairs to ask about.
        filters: Only documents that pass are taken.
        save: Name of the preset that the rule is kept as; empty: it is not kept.
        as_json: Whether to print JSON.
    """

    answers: Path
    count: int
    filters: Sequence[Filter]
    save: str
    as_json: bool


@dataclass(slots=True)
class Session:
    """Questions to a person.

    Args:
        inquiry: Chooses the pairs.
        documents: The documents by id.
        path: The table of answers.
        asked: How many pairs were judged.
        labels_alone: How many of them are no manual decisions, since the index lacks a document.
    """

    inquiry: Inquiry
    documents: Mapping[str, Document]
    path: Path
    asked: int = 0
    labels_alone: int = 0

    def ask(self, engine: Engine, count: int) -> None:
        """Ask until the person stops, all pairs are judged, or further answers change nothing."""
        while self.asked < count and not self.inquiry.is_settled and (number := self.inquiry.next()) is not None:
            pair = self.inquiry.name(number)
            for line in question(self.documents[pair[0]], self.documents[pair[1]], self.asked + 1, count):
                messages().print(line)
            key = read_key()
            if key == "q":
                return
            if key == "s":
                self.inquiry.skip(number)
                continue
            self.note(engine, pair, is_duplicate=key == "y")
            self.inquiry.answer(number, is_duplicate=key == "y")

    def note(self, engine: Engine, pair: Pair, *, is_duplicate: bool) -> None:
        """Keep an answer as a label, and as a manual decision where the index has both documents."""
        add_answer(self.path, pair, is_duplicate=is_duplicate)
        self.asked += 1
        try:
            add_override(engine, pair, "same" if is_duplicate else "not", author=getpass.getuser(), reason="tune --ask")
        except (MissingDocument, NoIndex):
            self.labels_alone += 1


def ask(documents: Iterable[Document | Refusal], request: AskRequest, settings: Settings) -> None:
    """Ask about pairs of documents, and print and keep what the answers teach.

    Args:
        documents: Documents and refusals, as readers give them; their texts are held.
        request: The arguments.
        settings: The settings.

    Raises:
        UsageError: A table of answers that cannot be used, or documents of which no two are alike.
    """
    texts: dict[str, Document] = {}
    with bar("Signing") as advance:
        collection = sign_collection(
            hold(documents, texts), Tables(settings.tables), lambda count: advance(count, None), request.filters
        )
    given = read_answers(request.answers, collection.ids)
    inquiry = Inquiry(collection)
    if not len(inquiry):
        raise UsageError("no two of these documents are alike enough to ask about", "name more documents")
    inquiry.take(given)
    session = Session(inquiry, texts, request.answers)
    with engine_context(settings) as engine:
        session.ask(engine, request.count)
        if request.save and inquiry.answers:
            about = f"learned from {format_count(len(inquiry.answers), 'answer')} of tune --ask"
            save_preset(engine, request.save, Preset(Policy.from_rule(inquiry.rule), about))
    report(session, request)


def hold(documents: Iterable[Document | Refusal], texts: dict[str, Document]) -> Iterator[Document | Refusal]:
    """Yield what readers give, and hold the documents."""
    for item in documents:
        if isinstance(item, Document):
            texts[item.id] = item
        yield item


def question(a: Document, b: Document, number: int, count: int) -> Iterator[Text]:
    """Yield both titles and the words that differ."""
    yield Text(f"\n{number} of {count}", "about")
    for document in (a, b):
        yield Text.assemble((sanitize(document.title or "(no title)"), "title"), f"  {sanitize(document.id)}")
    difference = word_diff(a.text, b.text, PLACES)
    yield format_difference(difference) if difference else Text("no word differs")


def read_key() -> Key:
    """Read a key of the terminal, or a line of another input; another key is asked for again."""
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
    """Print what the answers teach, and what to expect of it."""
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
        yield Text(f"{session.labels_alone:,} are labels alone: the index lacks their documents", "account")
    yield Text(f"F1 to expect over these pairs: {expected}")
    yield Text("More answers would change next to nothing." if inquiry.is_settled else "More answers may change it.")
    if saved:
        yield Text(f"Saved as a preset of the index: --preset {saved}", "level")
    else:
        yield Text("--save NAME keeps the rule with the index; --ask 0 learns it again from the same answers", "level")
