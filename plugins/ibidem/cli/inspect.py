"""`ibidem inspect`: one document's duplicates in the whole index."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Protocol

import typer
from rich.console import RenderableType
from rich.text import Text

from ibidem.cli.compare import read_file
from ibidem.cli.console import Indented, Json, Level, Preset, engine_context, presets_for, sanitize, show
from ibidem.grouped_search.api import format_count, index_policy, reason
from ibidem.index.documents import Inspection, inspect, inspect_outside
from ibidem.index.groups import read_group
from ibidem_core.settings import load
from ibidem_dedupe.parameters import pair_policy
from ibidem_engines.connect import check_distinct
from ibidem_engines.engine import Engine
from ibidem_ingest.distribution import hook
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.readers.formats import DETECT, Choice

COLUMNS = 20
MAX_DUPLICATES = 50  # duplicates that are printed; `--json` has all

# The signatures that are shown, and what their counts count.
SIGNATURES = {
    "length": "words",
    "shingles": "distinct five-word runs",
    "terms": "rare terms kept, 60 at most",
    "numbers": "distinct words with a digit",
    "unknown": "share of unknown words; a misread text has 0.1 or more",
    **dict.fromkeys(("content", "fingerprint", "profile", "mih", "idf"), ""),
}

# Explanation where a document has fewer or more duplicates than its group has other members.
DIFFERENT_COUNTS = (
    "The two numbers differ because they count different pairs: duplicates of this document, in any group; and members "
    "of its group, each a duplicate of the lead."
)


class MembershipReport(Protocol):
    """Reads and describes the stored thread and work of a document: the hook `membership_report` of a side package."""

    def read(self, engine: Engine, name: str) -> dict[str, Any]:
        """Return what `--json` prints."""

    def describe(self, membership: Mapping[str, Any]) -> list[str]:
        """Return it in sentences."""


def run(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A document's id.", show_default=False)] = "",
    file: Annotated[
        str, typer.Option(metavar="FILE", help="A file with one document, in place of the id; nothing is stored.")
    ] = "",
    level: Level = None,
    preset: Preset = None,
    as_json: Json = False,
) -> None:
    """Show one document's duplicates in the whole index, each with the reason; also those of a file outside it."""
    if bool(id_) == bool(file):
        raise UsageError("inspect takes an id or --file", "give one of the two: ibidem inspect ID, or --file scan.pdf")
    parameters, presets = {"dedupe_level": level, "dedupe_preset": preset}, presets_for(preset)
    policy = pair_policy(parameters, "partial" if file else "near", presets)
    settings = load()
    document = read_file(file, settings, Choice(language=DETECT)) if file else None
    sets: MembershipReport | None = None if file else hook("membership_report")
    group = membership = {}
    with engine_context(settings) as engine:
        check_distinct(engine, settings.distinct)
        if document:
            tables = Tables(settings.tables, settings.index)
            inspection = inspect_outside(engine, document, tables, policy, settings.distinct)
        else:
            inspection = inspect(engine, id_, index_policy(engine, parameters, presets))
            group, membership = read_group(engine, id_), sets.read(engine, id_) if sets else {}
    answer = inspection.as_json() | {"group": group} | membership
    notes = [] if file else [describe_group(id_, group)]
    if group and group["documents"] != len(inspection.duplicates) + 1:
        notes.append(DIFFERENT_COUNTS)
    notes += map(sanitize, sets.describe(membership) if sets else ())
    show(answer, [*report(inspection), *(Text(note, "account") for note in notes)], as_json=as_json)


def describe_group(name: str, group: Mapping[str, Any]) -> str:
    if not group:
        return "It has no stored group."
    size = format_count(group["documents"], "document")
    if group["lead"] == name:
        return f"It leads its stored group of {size}."
    return f"Its stored group of {size} is led by {sanitize(group['lead'])}; joined by: {group['signature']}."


def report(inspection: Inspection) -> Iterator[RenderableType]:
    """Yield the document, its signatures and the first duplicates."""
    yield Text(sanitize(inspection.title or inspection.id), "title")
    if inspection.title:
        yield Text(sanitize(inspection.id), "about")
    yield Text()
    for name, meaning in SIGNATURES.items():
        if (value := inspection.signatures.get(name)) is not None:
            yield Indented(Text(f"{value}  {meaning}" if isinstance(value, int | float) else str(value)), COLUMNS, name)
    yield Text()
    for duplicate in inspection.duplicates[:MAX_DUPLICATES]:
        yield Indented(Text(sanitize(duplicate.title or duplicate.id)), 2, "└")
        if duplicate.title:
            yield Indented(Text(sanitize(duplicate.id), "about"), 2)
        why = reason(duplicate.evidence.why, sanitize(inspection.title or inspection.id))
        yield Indented(Text.assemble((duplicate.evidence.level, "level"), f": {why}"), 2)
    if remainder := len(inspection.duplicates[MAX_DUPLICATES:]):
        yield Text(f"+ {format_count(remainder, 'more duplicate')}; --json shows them", "account")
    yield Text()
    yield Text(format_count(len(inspection.duplicates), "duplicate"), "account")
    if cut := ", ".join(inspection.capped):
        what = f"Too many documents share its {cut}: it looks like a form, and duplicates may be missing."
        yield Text(what, "account")
