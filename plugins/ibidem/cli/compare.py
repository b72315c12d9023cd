"""`ibidem compare`: two documents side by side, with the differing words in their shared passages."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from ibidem.cli import console
from ibidem.cli.ingest import FormatName
from ibidem.comparison.compare import Comparison, Passage, Run, Span, blocks, compare
from ibidem.comparison.word_diff import Words, word_diff
from ibidem.grouped_search.api import format_count, page_range, reason
from ibidem.index.documents import read_decision, read_document
from ibidem_core.settings import Settings, load
from ibidem_dedupe.evidence import percent, shared_text
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.parameters import PAIR_LEVEL, pair_policy
from ibidem_dedupe.policy import Level
from ibidem_engines.connect import check_distinct
from ibidem_ingest.document import PAGE_BREAK, Document
from ibidem_ingest.errors import Refusal, Refused, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import DETECT, Choice
from ibidem_ingest.text.passages import SharedPassage

MAX_PASSAGES = 10  # passages that are shown, the longest
GUTTER = 3  # blanks between the two columns
EXCERPT_WORDS = 60  # words of a passage that are shown
WIDEST_LEVEL: Level = "partial"  # at which a pair is compared
MIN_SHARE = 0.5  # share of one of the texts that is in the other, from which their differences can be read
REMEDY = "compare two ids or two files"
VERDICTS = {"same": "duplicates", "not": "no duplicates"}  # what a manual decision makes of a pair


def side_by_side(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield the amount of shared text, and the longest shared passages in the order of the first text."""
    words = sum(passage.words for passage in comparison.passages)
    if not words:
        yield Text("They share no passage of eight words.")
        return
    suffix = f"; the longest {MAX_PASSAGES}" if len(comparison.passages) > MAX_PASSAGES else ""
    counted = format_count(len(comparison.passages), "passage")
    yield Text(f"They share {format_count(words, 'word')} in {counted}{suffix}:")
    longest = sorted(comparison.passages, key=lambda passage: -passage.words)[:MAX_PASSAGES]
    for passage in sorted(longest, key=lambda passage: passage.a):
        yield Text()
        yield from passage_columns(passage, comparison)


class Columns(NamedTuple):
    """Two texts in columns of equal width, without blanks at the ends of lines."""

    left: Text  # the document on the left
    right: Text  # the document on the right

    def __rich_console__(self, terminal: Console, options: ConsoleOptions) -> RenderResult:
        width = max(console.MIN_WIDTH, (options.max_width - GUTTER) // 2)
        for left, right in zip_longest(self.left.wrap(terminal, width), self.right.wrap(terminal, width)):
            line = (left or Text()).copy()
            line.rstrip()
            if right:
                line.append(" " * (width + GUTTER - line.cell_len)).append_text(right)
                line.rstrip()
            yield line


def passage_columns(passage: Passage, comparison: Comparison) -> Iterator[Columns]:
    opening = list(first_blocks(blocks(passage, comparison.words_a.tokens, comparison.words_b.tokens)))
    more = " …" * (opening[-1].a[1] < passage.a[1])
    a = excerpt(comparison.a.text, comparison.words_a, [(block.is_equal, block.a) for block in opening], "removed")
    b = excerpt(comparison.b.text, comparison.words_b, [(block.is_equal, block.b) for block in opening], "added")
    place_a = passage_place("A", comparison.a.text, comparison.words_a, passage.a)
    yield Columns(place_a, passage_place("B", comparison.b.text, comparison.words_b, passage.b))
    yield Columns(a.append(more), b.append(more))


def passage_place(letter: str, text: str, words: Words, span: Span) -> Text:
    first, end = span
    first_page, last_page = (1 + text.count(PAGE_BREAK, 0, words.starts[at]) for at in (first, end - 1))
    pages = page_range("page", first_page, last_page) if PAGE_BREAK in text else ""
    parts = (pages, "{:,}-{:,}".format(*words.extent(span)), format_count(end - first, "word"))
    return Text.assemble((letter, "place"), ("  " + ", ".join(part for part in parts if part), "about"))


def first_blocks(passage: Iterator[Run]) -> Iterator[Run]:
    """Yield the first words of a passage, in both texts."""
    room = EXCERPT_WORDS
    for a, b, is_equal in passage:
        yield Run((a[0], min(a[1], a[0] + room)), (b[0], min(b[1], b[0] + room)), is_equal)
        room -= max(a[1] - a[0], b[1] - b[0])
        if room <= 0:
            return


def excerpt(text: str, words: Words, spans: Sequence[tuple[bool, Span]], style: str) -> Text:
    """Write the beginning of a passage as it appears in one text; differing words are in brackets."""
    line = Text()
    for is_same, span in spans:
        if span[0] == span[1]:
            continue
        run = console.sanitize(text[slice(*words.extent(span))])
        line.append(" " * bool(line))
        line.append(run if is_same else f"[{run}]", None if is_same else style)
    return line


def run(
    a: Annotated[str, typer.Argument(metavar="A", help="An id, or a file with one document.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another id or file.", show_default=False)],
    level: Annotated[str | None, console.parameter(PAIR_LEVEL, "--level", "LEVEL", default=WIDEST_LEVEL)] = None,
    preset: console.Preset = None,
    format_: FormatName = "",
    as_ids: Annotated[bool, console.option("--id", "A and B are ids, also where files have these names.")] = False,
    as_json: console.Json = False,
) -> None:
    """Compare two documents: every signal, and the text they share."""
    if as_ids and format_:
        raise UsageError("--id and --format cannot be combined", "--format reads files: give one of the two")
    policy = pair_policy({"dedupe_level": level, "dedupe_preset": preset}, WIDEST_LEVEL, console.presets_for(preset))
    settings = load()
    choice = None if as_ids else Choice(format_, language=DETECT)
    left, right, decision = documents(a, b, settings, choice)
    comparison = compare(left, right, Tables(settings.tables, settings.index), policy, decision, settings.distinct)
    console.show(comparison.as_json(), report(comparison), as_json=as_json)


def documents(a: str, b: str, settings: Settings, choice: Choice | None) -> tuple[Document, Document, Override | None]:
    """Read two files, or two documents of the index with the manual decision on them; ids alone without a choice."""
    if choice is not None and Path(a).is_file() and Path(b).is_file():
        return read_file(a, settings, choice), read_file(b, settings, choice), None
    with console.engine_context(settings) as engine:
        check_distinct(engine, settings.distinct)
        # A file beside an id is read last: it is the other one that is neither.
        names = sorted((a, b), key=lambda name: Path(name).is_file())
        found = {name: read_document(engine, name, REMEDY) for name in names}
        return found[a], found[b], read_decision(engine, a, b)


def read_file(path: str, settings: Settings, choice: Choice) -> Document:
    documents = list(islice(read([path], choice, settings.max_text), 2))
    if len(documents) != 1:
        number = "no document" if not documents else "more than one document"
        raise UsageError(f"{path} holds {number}", "give a file with one document, or an id of the index")
    if isinstance(documents[0], Refusal):
        raise Refused(documents[0])
    return documents[0]


def report(comparison: Comparison) -> Iterator[RenderableType]:
    """Yield the parts of the report: both documents, their relation, every signal, the shared text."""
    yield heading("A", comparison.a)
    yield heading("B", comparison.b)
    yield Text()
    yield verdict(comparison)
    yield Text()
    for name, values in comparison.signals.items():
        yield console.Indented(Text(SIGNALS[name](values)), 13, name)
    yield Text()
    yield from side_by_side(comparison)
    shares = comparison.signals["overlap"]
    is_readable = max(float(str(shares[side])) for side in ("a", "b")) >= MIN_SHARE
    if is_readable and (pieces := word_diff(comparison.a.text, comparison.b.text)):
        yield console.Indented(console.one_line(console.format_difference(pieces)), 13, "differs")


def heading(letter: str, document: Document) -> console.Indented:
    facts = " · ".join(console.sanitize(part) for part in (document.date, document.source, document.id) if part)
    title = (console.sanitize(document.title or document.id), "title")
    return console.Indented(Text.assemble(title, (f"\n{facts}", "about")), 3, letter)


def verdict(comparison: Comparison) -> Text:
    """Return the relation of the documents, from a valid manual decision or from their signatures."""
    decision, evidence, note = comparison.decision, comparison.evidence, ""
    if decision is not None:
        line = " · ".join(console.sanitize(part) for part in (decision.author, decision.date, decision.reason) if part)
        if not comparison.is_stale:
            return Text.assemble((f"{VERDICTS[decision.verdict]}, by manual decision", "level"), f" ({line})")
        note = f"\nA manual decision ({VERDICTS[decision.verdict]}; {line}) is not applied: a text has changed since."
    if evidence is None:
        return Text("No duplicates: no evidence suffices.", "level").append(note)
    return Text.assemble((evidence.level, "level"), f": {reason(evidence.why, 'B', 'A')}", note)


def yes(value: object) -> str:
    return "equal" if value else "different"


def parts(signal: Mapping[str, Any], name: str) -> str:
    """Write the signals of the pages or chunks of two long texts."""
    relation = f"{str(signal['relation']).replace('_', ' ')}, confidence {signal['confidence']:.2f}"
    matched = f"{percent(signal['matched_a'])} of A's {name} match, {percent(signal['matched_b'])} of B's"
    return f"{relation}: {matched}; unique words {signal['aligned']:.2f}"


# How each signal is written.
SIGNALS = {
    "length": lambda signal: (
        f"{format_count(signal['a'], 'word')} and {signal['b']:,}"
        + (f", {percent(signal['ratio'])}" if "ratio" in signal else "")
    ),
    "content": lambda signal: yes(signal["equal"]),
    "minhash": lambda signal: (
        f"{signal['shared']} of {signal['of']} samples equal, so {shared_text(signal)}; "
        f"{'a' if signal['band'] else 'no'} shared band"
    ),
    "termvector": lambda signal: (
        f"{signal['shared']} of {signal['of']} rare terms shared"
        + ("" if signal["full"] else " (not a full set, never evidence by default)")
    ),
    "fingerprint": lambda signal: yes(signal["equal"]) + (" (weak, never evidence)" if signal["weak"] else ""),
    "profile": lambda signal: yes(signal["equal"]),
    "characters": lambda signal: (
        f"{signal['shared']} of {signal['of']} samples equal, so about {percent(signal['estimate'])} of the "
        f"characters; of the words that differ about {percent(signal['unknown'])} are in no list of words"
    ),
    "misread": lambda signal: ", ".join(" → ".join(map(console.sanitize, each)) for each in signal["words"]),
    "left_out": lambda signal: "; ".join(
        [f"{format_count(signal['a'], 'word')} of A and {signal['b']:,} of B, in passages that other documents share"]
        + [console.sanitize(str(SharedPassage(**each))) for each in signal["passages"]]
    ),
    "numbers": lambda signal: (
        f"{signal['a']} and {signal['b']}, which {'agree' if signal['agree'] else 'do not agree'}"
    ),
    "date": lambda signal: format_count(signal["days_apart"], "day") + " apart",
    "pages": lambda signal: parts(signal, "pages"),
    "chunks": lambda signal: parts(signal, "chunks"),
    "overlap": lambda signal: f"{percent(signal['a'])} of A is in B, {percent(signal['b'])} of B in A",
}
