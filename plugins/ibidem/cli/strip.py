"""`ibidem strip`: remove from an index what ibidem added."""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli import SOME_REFUSED
from ibidem.cli.console import Json, bar, option, show
from ibidem.cli.status import refusals
from ibidem.grouped_search.api import format_count
from ibidem_core import logs
from ibidem_core.settings import load
from ibidem_workers.backfill.strip import StripResult, strip


def run(
    into: Annotated[str, option("--into", "Copy into a new index without ibidem's fields.", "NAME")] = "",
    dry: Annotated[bool, option("--dry-run", "Write nothing; count what would be removed.")] = False,
    records: Annotated[
        bool, option("--records", "Remove the records of the index too: runs, failed documents, deletions, overrides.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Remove what ibidem added to the documents of IBIDEM_INDEX, and nothing else; the same command may be repeated.

    Exits with 3 when documents stayed signed.
    """
    settings = load()
    logs.set_up(settings)
    with bar("Reading" if dry else "Removing", rated=True) as advance:
        result = strip(settings, advance, into=into, dry=dry, records=records)
    answer = asdict(result)
    refused = refusals({"refusals": answer["refusals"], "run": ""})
    show(answer, chain(map(Text, report(result, settings.index, into, dry=dry)), refused), as_json=as_json)
    if result.refused or result.left:
        raise typer.Exit(SOME_REFUSED)


def report(result: StripResult, index: str, into: str = "", *, dry: bool = False) -> Iterator[str]:
    yield f"{format_count(result.read, 'document')} read"
    verb = "would lose" if dry else "lost"
    pronoun = "its" if result.stripped == 1 else "their"
    yield f"{format_count(result.stripped, 'document')} {verb} {pronoun} signatures: {result.bytes:,} bytes"
    if result.left:
        left = f"{format_count(result.left, 'document')} in {index!r} {'was' if result.left == 1 else 'were'}"
        remedy = "stop what signs them (ibidem worker, ibidem backfill --follow), and repeat this command."
        yield f"{left} signed meanwhile: {remedy}"
    elif result.fields and result.stripped:
        yield "The mapping keeps the fields of `ibidem`, empty; a new index is without them: ibidem strip --into NAME"
    if into and not dry:
        yield f"The new index is {into!r}" + (f", under the alias {result.alias!r}." if result.alias else ".")
        yield "The first index is unchanged; you can delete it."
