"""`ibidem backfill`: sign the documents of an existing index."""

import os
import select
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.filesize import decimal
from rich.text import Text

from ibidem.cli import SOME_REFUSED, START
from ibidem.cli.console import Indented, Json, bar, format_difference, messages, option, sanitize, show
from ibidem.cli.groups import boilerplate_lines, report
from ibidem.cli.status import count_lines, refusals, show_run
from ibidem.comparison.word_diff import Piece
from ibidem.grouped_search.api import format_count
from ibidem.index.groups import MAX_DOCUMENTS, dry_run
from ibidem_core import logs
from ibidem_core.settings import Settings, load
from ibidem_dedupe.evidence import percent
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Beside as BesideKind
from ibidem_ingest.errors import UsageError
from ibidem_workers.backfill.replace import Replacement, replace_index
from ibidem_workers.backfill.run import backfill_in_place, check, follow

MAX_CHANGES = 20
# What a comparison with the signatures found.
COMPARED = {
    "unchanged": "as they were signed",
    "changed": "changed since they were signed",
    "unsigned": "never signed, or without words",
    "refused": "without a text that could be signed",
    "outdated": "signed with another schema or idf table",
    "due": "will be signed by: ibidem backfill",
}


def run(
    into: Annotated[str, typer.Option(metavar="NAME", help="Sign into a new index that replaces this one.")] = "",
    alias: Annotated[
        str, typer.Option(metavar="NAME", help="With --into: the alias that points to the new index afterwards.")
    ] = "",
    beside: Annotated[
        bool, option("--beside", "Leave the documents as they are; keep signatures in an index beside theirs.")
    ] = False,
    lookup: Annotated[bool, option("--lookup", "With --beside: an index that ES|QL's LOOKUP JOIN can read.")] = False,
    dry: Annotated[bool, option("--dry-run", "Sign no document; show what signing would find, and its cost.")] = False,
    checked: Annotated[
        bool, option("--check", "Write nothing; list documents that were changed since they were signed.")
    ] = False,
    following: Annotated[
        bool, option("--follow", "Keep signing documents that others add or change, until Ctrl-C.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Sign what IBIDEM_INDEX already holds, in its place, beside it or into a new index; goes on after a kill.

    Exits with 3 when documents were refused, or, with --check, were changed since they were signed.
    """
    modes = {"--into": into, "--dry-run": dry, "--check": checked, "--follow": following}
    if len(options := [name for name, value in modes.items() if value]) > 1:
        raise UsageError(f"{' and '.join(options)} do not go together", "give one of them")
    if alias and not into:
        raise UsageError("--alias needs --into", "name the new index with --into")
    if (lookup and not beside) or (beside and (into or dry or checked)):
        raise UsageError("--beside goes with --follow and --lookup, and --lookup needs it", "leave the others out")
    kind: BesideKind = "lookup" if lookup else "index" if beside else ""
    settings = load()
    logs.set_up(settings)
    if dry:
        with bar("Signing in memory", rated=True) as advance:
            answer = dry_run(settings, Policy(), advance)
        show(answer, describe_forecast(answer), as_json=as_json)
    elif checked:
        with bar("Comparing", rated=True) as advance:
            compared = check(settings, advance)
        show(compared, describe_comparison(compared), as_json=as_json)
        if compared["changed"]:
            raise typer.Exit(SOME_REFUSED)
    elif into:
        with bar("Copying", rated=True) as advance:
            result = replace_index(settings, into, alias, advance)
        for line in next_steps(result, settings, into):
            messages().print(Text(line))
        show_run(settings.changed(index=into), result[0].run, as_json=as_json, started=START)
    elif following:
        show_followed(settings, kind, as_json=as_json)
    else:
        with bar("Signing", rated=True) as advance:
            name = backfill_in_place(settings, advance, kind)
        show_run(settings, name, as_json=as_json, started=START)


def next_steps(result: Replacement, settings: Settings, into: str) -> Iterator[str]:
    """Print which index searches use now, and the remaining steps."""
    checkpoint, pruned = result
    if pruned:
        yield f"{format_count(pruned, 'document')} deleted meanwhile."
    if checkpoint.alias:
        yield f"The alias {checkpoint.alias!r} now points to {into!r}."
        yield f"{checkpoint.source!r} is unchanged; you can delete it."
    else:
        yield f"{settings.index!r} is not an alias, so none was moved: search the new index with IBIDEM_INDEX={into}."
        yield f"To copy what others write to {checkpoint.source!r} from now on, run the same command again."
    if checkpoint.alias and checkpoint.alias != settings.index:
        yield f"Searches reach it with IBIDEM_INDEX={checkpoint.alias}."


def describe_comparison(result: Mapping[str, Any]) -> Iterator[Indented]:
    read = result["read"], f"{'document' if result['read'] == 1 else 'documents'} read"
    yield from count_lines([read, *((result[name], meaning) for name, meaning in COMPARED.items() if result[name])])
    for entry in result["documents"][:MAX_CHANGES]:
        yield Indented(Text(sanitize(f"{entry['id']} in {entry['index']}")), 2)
    if result["changed"] > MAX_CHANGES:
        yield Indented(Text(f"… {result['changed'] - MAX_CHANGES:,} more: --json lists them"), 2)


def describe_forecast(answer: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the groups, the share that collapse mode would hide, the cost, and sample pairs."""
    looked_at = answer["documents"]
    if looked_at == MAX_DOCUMENTS < answer["of"]:
        yield Text(f"Of {answer['of']:,} documents, the first {looked_at:,} written were read.\n")
    yield from report(answer)
    yield Text(f"\nCollapse mode would hide {percent(answer['hidden'])} of all hits.")
    cost, place = answer["cost"], answer["recommended"]["place"]
    yield Text(f"\nSignatures would add about {decimal(cost['bytes'])} before compression.")
    took = timedelta(seconds=max(1, round(cost["signing_seconds"])))
    yield Text(f"Reading and signing takes about {took}; writing and settling come on top.")
    why = f"the index has {decimal(cost['index_bytes'])}, and rewritten documents take space twice"
    yield Text(f"Keep {decimal(cost['headroom_bytes'])} free: {why} until they are merged.")
    command = "ibidem backfill --beside" if place == "beside" else "ibidem backfill"
    yield Text(f"Recommended: {command}: {answer['recommended']['why']}.")
    if place != "beside":
        hint = "With --beside no document is rewritten, and the index stays as it is; a window takes a second request."
        yield Text(hint)
    for sample in answer["samples"]:
        pair = f"{sanitize(sample['duplicate'])} repeats {sanitize(sample['lead'])}"
        yield Text(f"\n{sample['level']}: {pair}", "title")
        pieces = [Piece(**piece) for piece in sample["difference"]]
        yield Indented(format_difference(pieces) if pieces else Text("no word differs"), 2)
    if answer["passages"]:
        yield from boilerplate_lines({"left_out": [], "found": answer["passages"]})
    yield from refusals({"refusals": answer["refusals"], "run": ""})


def show_followed(settings: Settings, beside: BesideKind, *, as_json: bool) -> None:
    """Sign new documents until Ctrl-C or SIGTERM, then print how many were signed."""
    with catch_end_signals() as stop:
        name = follow(settings, stop, notify=lambda line: messages().print(Text(line)), beside=beside)
    if name:
        show_run(settings, name, as_json=as_json, started=START)


@contextmanager
def catch_end_signals() -> Iterator[Callable[[float], bool]]:
    """Catch Ctrl-C and SIGTERM so that the current work is finished; returns a function that waits for one of them.

    By a pipe: a handler that took a lock, such as that of a `threading.Event`, would wait for ever where the very
    thread that it interrupts holds it.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    handlers = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield lambda seconds: bool(select.select([reading], [], [], seconds)[0])
    finally:
        signal.set_wakeup_fd(-1)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
