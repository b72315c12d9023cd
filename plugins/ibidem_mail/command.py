"""`ibidem groups --threads` and `--versions`, which count and export, and `ibidem regroup` with these, which stores.

Mails are read whole, since what they quote is looked at; of each only hashes of its words are kept.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ibidem.cli import console
from ibidem.cli.app import START
from ibidem.cli.groups import COLUMNS, writer
from ibidem.comparison.word_diff import Piece, word_diff
from ibidem.grouped_search.api import format_count
from ibidem.index.documents import TEXTS_AT_ONCE, stored_documents
from ibidem_core.settings import load
from ibidem_engines.engine import Engine
from ibidem_mail.forest import Alteration, Forest, ThreadedMail
from ibidem_mail.memberships import write_threads, write_works
from ibidem_mail.parents import Parents, thread_mails
from ibidem_mail.works import Version, Works, versioned_documents, versions
from ibidem_workers.groups.follower import settle_all

MAX_LISTED = 10
MAX_ALTERED = 20


@dataclass(frozen=True, slots=True)
class IndexThreads:
    rows: Sequence[ThreadedMail]  # each mail in its thread, thread by thread
    # Each answer that alters what it quotes: id of the mail that is quoted, its own, and where.
    altered: Sequence[tuple[str, str, Sequence[Alteration]]]

    def as_json(self) -> dict[str, object]:
        """Return the report as `ibidem groups --threads --json` prints it."""
        sizes = Counter(row.thread for row in self.rows)
        reasons = Counter(row.by for row in self.rows if row.by is not None)
        largest = sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:MAX_LISTED]
        inclusive = sum(row.inclusive for row in self.rows)
        return {
            "mails": len(self.rows),
            "threads": len(sizes),
            "inclusive": inclusive,
            "contained": len(self.rows) - inclusive,
            "roots": sum(row.parent is None for row in self.rows),
            "by": dict(sorted(reasons.items())),
            "altered": [
                {"id": answer, "quotes": mail, "words": [list(change.words) for change in changes]}
                for mail, answer, changes in self.altered
            ],
            "sizes": {str(size): count for size, count in sorted(Counter(sizes.values()).items())},
            "largest": [{"thread": thread, "size": size} for thread, size in largest if size > 1],
        }


Difference = tuple[Version, Sequence[Piece]]  # a version, and where it differs from its predecessor


@dataclass(frozen=True, slots=True)
class IndexVersions:
    rows: Sequence[Version]  # each document in its work, work by work, in order; mails are left out

    def as_json(self) -> dict[str, object]:
        """Return the report as `ibidem groups --versions --json` prints it."""
        sizes = Counter(row.work for row in self.rows)
        largest = sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:MAX_LISTED]
        current = {row.work: row.id for row in self.rows if row.current}
        return {
            "documents": len(self.rows),
            "works": len(sizes),
            "current": len(current),
            "replaced": sum(not row.current for row in self.rows),
            "by": dict(sorted(Counter(row.by for row in self.rows if row.by is not None).items())),
            "sizes": {str(size): count for size, count in sorted(Counter(sizes.values()).items())},
            "largest": [{"work": work, "current": current[work], "size": size} for work, size in largest if size > 1],
        }


def differences(engine: Engine, rows: Sequence[Version]) -> Iterator[Difference]:
    """Yield each version with its differences from its predecessor; the first version has none.

    An id that several indexes behind an alias hold names none of them, and so no difference.
    """
    for start in range(0, len(rows), TEXTS_AT_ONCE):
        some = rows[start : start + TEXTS_AT_ONCE]
        ids = {row.id for row in some if row.replaces} | {row.replaces for row in some if row.replaces}
        stored = engine.fetch([(engine.index, each) for each in sorted(ids)]) if ids else ()
        times = Counter(each.document.id for each in stored)
        texts = {each.document.id: each.document.text for each in stored if times[each.document.id] == 1}
        for row in some:
            lead, text = texts.get(row.replaces or ""), texts.get(row.id)
            yield row, word_diff(lead, text) if lead is not None and text is not None else ()


@dataclass(frozen=True, slots=True)
class ChangedVersion(Version):
    changed: str  # the first places at which it differs from its predecessor: `[removed → added]`, words of both around


def report_sets(kind: str, export: Path | None, *, as_json: bool) -> None:
    """Find threads or versions; export and print them."""
    write = writer(export)
    with console.engine_context() as engine:
        with console.bar("Reading") as advance:
            documents = stored_documents(engine, lambda count: advance(count, None))
            if kind == "threads":
                forest = Forest.grow(Parents.find(thread_mails(documents)))
                found: IndexThreads | IndexVersions = IndexThreads(list(forest.rows()), list(forest.altered()))
            else:
                found = IndexVersions(list(versions(Works.find(versioned_documents(documents)))))
        if export is not None:
            if isinstance(found, IndexThreads):
                write(found.rows, ThreadedMail)
            else:
                changes = differences(engine, found.rows)
                rows = (
                    ChangedVersion(**asdict(row), changed=console.format_difference(made).plain)
                    for row, made in changes
                )
                write(rows, ChangedVersion)
    report = found.as_json()
    console.show(report, (thread_lines if kind == "threads" else version_lines)(report), as_json=as_json)


def version_lines(figures: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the counts, the reasons and the works with the most versions."""
    yield Text(
        f"{format_count(figures['documents'], 'document')} of {format_count(figures['works'], 'work')}; "
        f"{figures['current']:,} current, {figures['replaced']:,} replaced or copies"
    )
    if figures["by"]:
        yield Text("\nEvidence that a document is a version", "title")
    for reason, count in figures["by"].items():
        yield console.Indented(Text(reason), COLUMNS, f"{count:>8,}")
    if figures["largest"]:
        yield Text("\nWorks with the most versions, by the current one", "title")
    for work in figures["largest"]:
        yield console.Indented(
            console.one_line(Text(console.sanitize(work["current"]))), COLUMNS, f"{work['size']:>8,}"
        )


def thread_lines(figures: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the counts, the reasons, the altered quotations and the largest threads."""
    yield Text(
        f"{format_count(figures['mails'], 'mail')} in {format_count(figures['threads'], 'thread')}; "
        f"{figures['inclusive']:,} inclusive, {figures['contained']:,} contained in others"
    )
    if figures["by"]:
        yield Text("\nEvidence for the mail that is answered", "title")
    for reason, count in figures["by"].items():
        yield console.Indented(Text(reason), COLUMNS, f"{count:>8,}")
    if figures["altered"]:
        yield Text(f"\nAltered quotations: {len(figures['altered']):,}", "title")
    for each in figures["altered"][:MAX_ALTERED]:
        yield console.one_line(Text(console.sanitize(f"{each['id']} quotes {each['quotes']} otherwise"), "account"))
    if figures["largest"]:
        yield Text("\nLargest threads", "title")
    for thread in figures["largest"]:
        yield console.Indented(
            console.one_line(Text(console.sanitize(thread["thread"]))), COLUMNS, f"{thread['size']:>8,}"
        )


WRITERS = {"threads": write_threads, "works": write_works}


def write_sets(names: Sequence[str], *, as_json: bool) -> None:
    """Find and store threads or works, and settle the groups of the documents that changed."""
    settings, written = load(), {}
    with console.engine_context(settings) as engine:
        for name in names:
            with console.bar("Reading") as advance:
                written[name] = WRITERS[name](engine, lambda count: advance(count, None))
        if any(each.written for each in written.values()):
            settle_all(engine)
    if as_json:
        took = round(time.monotonic() - START, 3)
        console.print_json({name: each.as_json(name) for name, each in written.items()} | {"took_s": took})
        return
    for name, each in written.items():
        counts = f"{format_count(each.documents, 'document')} in {format_count(each.sets, name.removesuffix('s'))}"
        console.results().print(Text(f"{counts}; {each.written:,} written"))
        for count, reason in (
            (each.changed, "written again meanwhile: run the command again"),
            (each.ambiguous, "left out, since several indexes hold their ids: remove each from all indexes but one"),
        ):
            if count:
                console.messages().print(Text(f"{format_count(count, 'document')} {reason}"))
