"""`ibidem status`: progress and summary of a run, and documents that could not be ingested, with the reason."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from ibidem.cli import SOME_REFUSED, console
from ibidem.grouped_search.api import format_count
from ibidem_core import logs
from ibidem_core.settings import Settings, load
from ibidem_ingest.document import DEFAULT_LANGUAGE
from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers.inputs import LINK, PIPE
from ibidem_ingest.readers.text import EMPTY_REMEDY
from ibidem_workers.ingest import REPEAT_REMEDY, Progress, retry, summary
from ibidem_workers.tasks import DeadLetter, forget, letters

REFUSALS_SHOWN = 20
NAMES_SHOWN = 10
ALL_LETTERS = "*"  # in place of ids: every failed document
STATES = {"waiting": "not done", "reading": "being read"}
# Fates of documents that were read from files.
FATES = {
    "indexed": "indexed",
    "replaced": "of them replaced an earlier version",
    "unchanged": "unchanged",
    "stale": "skipped (older version): a newer version or deletion is in the index",
}
# Fates of the documents of an existing index.
SIGNED = {
    "indexed": "signed",
    "unchanged": "already signed, unchanged",
    "stale": "skipped (older version): changed or deleted since they were read",
}
LEVELS = {
    "identical": "of them identical with an earlier document",
    "near": "of them near duplicates of an earlier document",
}

# What is skipped in folders, and how it is read all the same.
SKIPPED = (
    (LINK, "link", "to follow them, wherever they lead: --follow-links"),
    (PIPE, "named pipe", "name them as arguments to read them."),
)

Summary = Mapping[str, Any]


def update_bar(advance: console.Advance, progress: Progress) -> None:
    """Update a progress bar; the total is known once all documents are submitted."""
    advance(progress.done, progress.documents if progress.submitted else None)


def describe(summary: Summary) -> Iterator[RenderableType]:
    """Yield the outcomes of the documents that were read, one line each, then refusals and remarks."""
    yield from count_lines(list(counts(summary)))
    yield from refusals(summary)
    yield from remarks(summary)


def count_lines(counts: Sequence[tuple[int, str]]) -> Iterator[console.Indented]:
    """Yield numbers with what each means, one below the other."""
    width = max(len(f"{number:,}") for number, _ in counts)
    yield from (console.Indented(Text(f"{number:>{width},}  {meaning}"), 0) for number, meaning in counts)


def counts(summary: Summary) -> Iterator[tuple[int, str]]:
    duplicates = summary["duplicates"]
    noun = "document" if summary["read"] == 1 else "documents"
    yield summary["read"], f"{noun} read in {summary['took_s']:.1f} s"
    meanings = {
        **(SIGNED if (summary.get("kind") == "backfill") else FATES),
        "refused": "refused",
        "pending": "still in the queue",
        "unsigned": "of them without words: found by title and fields, never as a duplicate",
    }
    yield from ((summary[name], meaning) for name, meaning in meanings.items() if summary.get(name))
    yield from ((duplicates[level], meaning) for level, meaning in LEVELS.items() if duplicates.get(level))


def refusals(summary: Summary) -> Iterator[RenderableType]:
    entries: Sequence[Mapping[str, str]] = summary["refusals"]
    if entries:
        yield Text("\nRefused:", "bad")
    by_reason: defaultdict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for entry in entries:
        by_reason[entry["field"], entry["why"]].append(entry)
    yield from (console.Indented(describe_refusals(group), 2) for group in islice(by_reason.values(), REFUSALS_SHOWN))
    if len(by_reason) > REFUSALS_SHOWN or any(len(group) > NAMES_SHOWN for group in by_reason.values()):
        yield Text(f"  all {len(entries):,}: ibidem status {summary['run']} --json")


def describe_refusals(group: Sequence[Mapping[str, str]]) -> Text:
    """Format refusals with the same reason as one line: number, reason, places; or place, document, field, reason."""
    first = group[0]
    if len(group) == 1:
        document = f"document {first['id']!r}" if first["id"] else ""
        place = ", ".join(part for part in (first["where"], document, first["field"]) if part)
        return Text(console.sanitize(f"{place}: {first['why']}"))
    field = f"{first['field']}: " if first["field"] else ""
    places = [entry["where"] for entry in group]
    names = name_few(places if len(set(places)) == len(group) else [entry["id"] for entry in group])
    if first["why"] == EMPTY_REMEDY and not field:
        return Text(f"{len(group):,} empty files: {names}")
    return Text(console.sanitize(f"{len(group):,} documents: {field}{first['why']} ({names})"))


def remarks(summary: Summary) -> Iterator[RenderableType]:
    """Yield the remarks of a summary: repeated ids, unmapped fields, an unfinished run."""
    clashes = {entry["id"] for entry in summary["refusals"] if entry["field"] == "id"}
    repeated_ids = summary["repeated_ids"] if summary.get("repeated") else ()
    if ids := [each for each in repeated_ids if each not in clashes]:
        count = summary["repeated"] - len(repeated_ids) + len(ids)
        subject = f"{format_count(count, 'id')} occurred more than once ({name_few(ids)})"
        yield Text(f"\n{subject}; the newest was kept, or else the last one read.")
    if summary.get("meta_fields"):
        yield Text(f"\nOther fields of records were stored in meta: {name_few(summary['meta_fields'])}.")
    if damaged := summary.get("damaged_bytes"):
        files = name_few([f"{name} ({format_count(count, 'byte')})" for name, count in damaged.items()])
        reason = "� stands in place of bytes that are not in the encoding"
        yield Text(f"\n{console.sanitize(f'{reason}: {files}; --strict refuses such files.')}")
    if unread := summary.get("unread_dates"):
        dates = format_count(unread, "date")
        yield Text(f"\n{dates} could not be read in one way; `meta.date` keeps what was written, and `date` is empty.")
    if (languages := summary.get("languages") or {}).keys() - {DEFAULT_LANGUAGE}:
        yield Text(f"\nLanguages: {name_few([f'{code} {count:,}' for code, count in languages.items()])}.")
    passed_over = dict(summary.get("passed_over") or {})
    for kind, noun, remedy in SKIPPED:
        if count := passed_over.pop(kind, 0):
            yield Text(f"\n{format_count(count, noun)} in folders skipped; {remedy}")
    if passed_over:
        files = name_few([f"{count:,} {suffix}" for suffix, count in passed_over.items()])
        yield Text(f"\nFiles of unknown formats were skipped: {files}; name a format to read them: --format text")
    yield from progress_lines(summary)


def progress_lines(summary: Summary) -> Iterator[Text]:
    """Yield the progress of an unfinished run, and how to continue it."""
    state = summary.get("state")
    if state == "interrupted":
        yield Text("\nThe run was interrupted: its command has ended. Documents already sent are in the queue.")
        if summary.get("again"):
            yield Text(f"The same files were ingested again in run {summary['again']}.")
        else:
            yield Text(f"{REPEAT_REMEDY.capitalize()}.")
    elif state in STATES:
        origin = f" by a command on {summary['host']}" if state == "reading" and summary.get("host") else ""
        yield Text(f"\nThe run is {STATES[state]}{origin}; see it with: ibidem status {summary['run']}")


def name_few(names: Sequence[str]) -> str:
    """Return the first few of many names.

    >>> name_few([str(number) for number in range(12)])
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and others'
    """
    text = ", ".join(console.sanitize(name) for name in names[:NAMES_SHOWN])
    return text + (" and others" if len(names) > NAMES_SHOWN else "")


def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN|ID]", help="A run's name; the last one by default. With --dead: ids."),
    ] = None,
    dead: Annotated[
        bool, console.option("--dead", "List documents that could not be ingested; with ids, show them as they came.")
    ] = False,
    is_retry: Annotated[
        bool | None,
        console.option("--retry/--drop", "With --dead: ingest these documents again, or forget them; '*' is all."),
    ] = None,
    as_json: console.Json = False,
) -> None:
    """Show the progress or summary of a run, also of one started with --no-wait; exits with 3 on refusals."""
    if not dead:
        if is_retry is not None:
            raise UsageError(f"{'--retry' if is_retry else '--drop'} needs --dead", "give --dead too")
        if len(names or ()) > 1:
            raise UsageError("more than one run is named", "name one run, or give --dead for failed documents")
        show_run(load(), names[0] if names else "", as_json=as_json, is_named=True)
    elif is_retry is None:
        list_dead(names or (), as_json=as_json)
    elif not names:
        raise UsageError("no failed document is named", "name their ids, or give '*' for all")
    elif is_retry:
        settings = load()
        logs.set_up(settings)
        with console.bar("Indexing") as advance:
            name = retry(chosen(names), settings, report=partial(update_bar, advance))
        show_run(settings, name, as_json=as_json)
    else:
        with console.engine_context() as engine:
            forget(engine, found := letters(engine, chosen(names)))
        if as_json:
            console.print_json({"dropped": len(found)})
        else:
            console.messages().print(f"{format_count(len(found), 'failed document')} dropped")


def show_run(
    settings: Settings, name: str, *, as_json: bool, is_named: bool = False, started: float | None = None
) -> None:
    """Print the summary of a run, maybe with its name or the time since; exit with 3 if documents were refused."""
    with console.engine_context(settings) as engine:
        found = summary(engine, name)
    if started is not None:
        found["took_s"] = round(time.monotonic() - started, 3)
    head = [Text(f"Run {found['run']}")] * is_named
    console.show(found, chain(head, describe(found)), as_json=as_json)
    if found["refused"]:
        raise typer.Exit(SOME_REFUSED)


def chosen(ids: Sequence[str]) -> Sequence[str]:
    """Return the ids to look for; none for every failed document."""
    return () if list(ids) == [ALL_LETTERS] else ids


def list_dead(ids: Sequence[str], *, as_json: bool) -> None:
    """List failed documents with the reason; of those that are named, also the record as it came."""
    with console.engine_context() as engine:
        dead_letters = letters(engine, chosen(ids))
    columns = ("id", "tries", "when", "why")
    rows = [letter.as_json() for letter in dead_letters]
    lines: Iterable[RenderableType] = [console.table(columns, [[row[name] for name in columns] for row in rows])]
    if ids:
        lines = chain.from_iterable(map(letter_lines, dead_letters))
    report = [letter.as_json() | ({"record": letter.record} if ids else {}) for letter in dead_letters]
    console.show({"dead": report}, lines if dead_letters else ["No failed documents."], as_json=as_json)


def letter_lines(letter: DeadLetter) -> Iterator[Text]:
    for name, value in letter.as_json().items():
        yield Text.assemble((f"{name:>6}  ", "about"), console.sanitize(str(value)))
    for name, value in letter.record.items():
        yield Text.assemble((f"{name}: ", "about"), console.sanitize(str(value)[:1_000]))
