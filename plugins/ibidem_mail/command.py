"""`ibidem groups --threads` and `--versions`, which count and export, and `ibidem regroup` with these, which stores.

Mails are read whole, since what they quote is looked at; of each only hashes of its words are kept.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from ibidem.cli import START, console
from ibidem.cli.groups import COLUMNS, writer
from ibidem.comparison.word_diff import word_diff
from ibidem.grouped_search.api import format_count
from ibidem.index.documents import TEXTS_AT_ONCE, stored_documents
from ibidem_core.settings import load
from ibidem_engines.engine import Engine
from ibidem_engines.requests import in_slices
from ibidem_mail.forest import Alteration, Forest, ThreadedMail
from ibidem_mail.memberships import write_threads, write_works
from ibidem_mail.parents import Parents, thread_mails
from ibidem_mail.works import Version, Works, versioned_documents, versions
from ibidem_workers.groups.follower import settle_all

MAX_LISTED = 10
MAX_ALTERED = 20


def thread_figures(
    rows: Sequence[ThreadedMail], altered: Sequence[tuple[str, str, Sequence[Alteration]]]
) -> dict[str, Any]:
    """Return the figures of mails in threads, and of answers that alter what they quote: quoted id, own id, places."""
    inclusive = sum(row.inclusive for row in rows)
    sizes, by, largest = count_sets((row.thread for row in rows), (row.by for row in rows))
    return {
        "mails": len(rows),
        "threads": sum(sizes.values()),
        "inclusive": inclusive,
        "contained": len(rows) - inclusive,
        "roots": sum(row.parent is None for row in rows),
        "by": by,
        "altered": [
            {"id": answer, "quotes": mail, "words": [list(change.words) for change in changes]}
            for mail, answer, changes in altered
        ],
        "sizes": sizes,
        "largest": [{"thread": thread, "size": size} for thread, size in largest],
    }


def version_figures(rows: Sequence[Version]) -> dict[str, Any]:
    """Return the figures of documents in works; mails are left out."""
    current = {row.work: row.id for row in rows if row.current}
    sizes, by, largest = count_sets((row.work for row in rows), (row.by for row in rows))
    return {
        "documents": len(rows),
        "works": sum(sizes.values()),
        "current": len(current),
        "replaced": sum(not row.current for row in rows),
        "by": by,
        "sizes": sizes,
        "largest": [{"work": work, "current": current[work], "size": size} for work, size in largest],
    }


def count_sets(
    sets: Iterable[str], reasons: Iterable[str | None]
) -> tuple[dict[str, int], dict[str, int], list[tuple[str, int]]]:
    """Return the number of sets by size, of members by what says that they are of theirs, and the largest sets."""
    sizes = Counter(sets)
    largest = sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:MAX_LISTED]
    return (
        {str(size): count for size, count in sorted(Counter(sizes.values()).items())},
        dict(sorted(Counter(filter(None, reasons)).items())),
        [each for each in largest if each[1] > 1],
    )


@dataclass(frozen=True, slots=True)
class ChangedVersion(Version):
    changed: str  # the first places at which it differs from its predecessor: `[removed → added]`, words of both around


def changed_versions(engine: Engine, rows: Sequence[Version]) -> Iterator[ChangedVersion]:
    """Yield each version with its differences from its predecessor; the first version has none.

    An id that several indexes behind an alias hold names none of them, and so no difference.
    """
    for some in in_slices(rows, TEXTS_AT_ONCE):
        ids = {row.id for row in some if row.replaces} | {row.replaces for row in some if row.replaces}
        stored = engine.fetch([(engine.index, each) for each in sorted(ids)]) if ids else ()
        times = Counter(each.document.id for each in stored)
        texts = {each.document.id: each.document.text for each in stored if times[each.document.id] == 1}
        for row in some:
            lead, text = texts.get(row.replaces or ""), texts.get(row.id)
            made = word_diff(lead, text) if lead is not None and text is not None else ()
            yield ChangedVersion(**asdict(row), changed=console.format_difference(made).plain)


def report_sets(kind: str, export: Path | None, *, as_json: bool) -> None:
    """Find threads or versions; export and print them."""
    write = writer(export)
    with console.engine_context() as engine:
        with console.bar("Reading") as advance:
            documents = stored_documents(engine, lambda count: advance(count, None))
            if kind == "threads":
                forest = Forest.grow(Parents.find(thread_mails(documents)))
                mails = list(forest.rows())
                report, save = thread_figures(mails, list(forest.altered())), partial(write, mails, ThreadedMail)
            else:
                rows = list(versions(Works.find(versioned_documents(documents))))
                report, save = version_figures(rows), partial(write, changed_versions(engine, rows), ChangedVersion)
        save()
    console.show(report, report_lines(report), as_json=as_json)


def report_lines(figures: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the counts, the reasons, the altered quotations and the largest threads or works."""
    if "threads" in figures:
        yield Text(
            f"{format_count(figures['mails'], 'mail')} in {format_count(figures['threads'], 'thread')}; "
            f"{figures['inclusive']:,} inclusive, {figures['contained']:,} contained in others"
        )
        name, evidence, largest = "thread", "for the mail that is answered", "Largest threads"
    else:
        yield Text(
            f"{format_count(figures['documents'], 'document')} of {format_count(figures['works'], 'work')}; "
            f"{figures['current']:,} current, {figures['replaced']:,} replaced or copies"
        )
        name, evidence, largest = (
            "current",
            "that a document is a version",
            "Works with the most versions, by the current one",
        )
    if figures["by"]:
        yield Text(f"\nEvidence {evidence}", "title")
    for reason, count in figures["by"].items():
        yield console.Indented(Text(reason), COLUMNS, f"{count:>8,}")
    if altered := figures.get("altered", ()):
        yield Text(f"\nAltered quotations: {len(altered):,}", "title")
    for each in altered[:MAX_ALTERED]:
        yield console.one_line(Text(console.sanitize(f"{each['id']} quotes {each['quotes']} otherwise"), "account"))
    if figures["largest"]:
        yield Text(f"\n{largest}", "title")
    for each in figures["largest"]:
        yield console.Indented(console.one_line(Text(console.sanitize(each[name]))), COLUMNS, f"{each['size']:>8,}")


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
