"""`ibidem groups`: all groups of the index."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any
from unicodedata import normalize

import orjson
import typer
from rich.console import RenderableType
from rich.text import Text

from ibidem.cli import console
from ibidem.grouped_search.api import format_count, index_policy
from ibidem.index.documents import titles
from ibidem.index.groups import Member, index_groups, shared_passages, stored_members, stored_report
from ibidem_core.settings import load
from ibidem_dedupe import evidence
from ibidem_dedupe.leader_clustering import MAX_LEADS
from ibidem_dedupe.pairs import MAX_TEXTS_PER_KEY
from ibidem_dedupe.parameters import pair_policy
from ibidem_engines.connect import check_distinct
from ibidem_engines.ledger import SIGN_AGAIN
from ibidem_ingest.distribution import need_hook
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.text.passages import SharedPassage

COLUMNS = 10
NOUNS = ("document", "duplicate", "group")  # what a report counts first


def run(
    level: console.Level = None,
    similarity: console.Similarity = None,
    preset: console.Preset = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every group's documents to a .csv or .jsonl file.")
    ] = None,
    stored: Annotated[bool, console.option("--stored", "Read the stored groups instead of computing groups.")] = False,
    threads: Annotated[
        bool,
        console.option("--threads", "Find the threads of mails: which mail answers which, and which contain others."),
    ] = False,
    versions: Annotated[
        bool, console.option("--versions", "Find the versions of each work: their order, and the current one.")
    ] = False,
    boilerplate: Annotated[
        bool, console.option("--boilerplate", "List passages that unlike documents of one source share.")
    ] = False,
    packed: Annotated[
        bool, console.option("--packed", "With --export FILE.parquet: packed values, for Spark.")
    ] = False,
    as_json: console.Json = False,
) -> None:
    """Show the groups of the whole index: sizes, largest groups, kinds of duplicates."""
    parameters = {"dedupe_level": level, "dedupe_similarity": similarity, "dedupe_preset": preset}
    has_figures = any(value is not None for value in parameters.values())
    reports = {"--threads": threads, "--versions": versions, "--boilerplate": boilerplate, "--packed": packed}
    check_options(reports, stored=stored, has_figures=has_figures)
    if threads or versions:
        need_hook("report_sets", "ibidem_mail")("threads" if threads else "versions", export, as_json=as_json)
        return
    settings = load()
    if boilerplate:
        if export is not None:
            raise UsageError("--export writes groups, and --boilerplate lists passages", "use --boilerplate --json")
        with console.engine_context(settings) as engine:
            found = shared_passages(engine, Tables(settings.tables, settings.index))
        console.show(found, boilerplate_lines(found), as_json=as_json)
        return
    if packed:
        if export is None or export.suffix != ".parquet":
            raise UsageError("--packed writes a Parquet file", "add --export FILE.parquet")
        with console.engine_context(settings) as engine, console.bar("Reading") as advance:
            need_hook("export_packed", "ibidem_spark")(engine, export, console.add_up(advance))
        console.show({"file": str(export)}, (), as_json=as_json)
        if not as_json:
            console.messages().print(Text(f"Written to {export}."))
        return
    presets = console.presets_for(preset)
    pair_policy(parameters, presets=presets)
    write = writer(export)
    with console.engine_context(settings) as engine:
        check_distinct(engine, settings.distinct)
        policy = index_policy(engine, parameters, presets)
        if stored:
            answer, members = stored_report(engine), stored_members(engine)
        else:
            with console.bar("Reading") as advance:
                groups = index_groups(engine, policy, progress=lambda count: advance(count, None))
            answer, members = groups.as_json(partial(titles, engine)), groups.members()
        write(members, Member)
    console.show(answer, report(answer), as_json=as_json)


def check_options(reports: Mapping[str, bool], *, stored: bool, has_figures: bool) -> None:
    asked = [option for option, is_asked in reports.items() if is_asked]
    what, figures = "{} cannot be combined with {}", "--level, --similarity"
    if len(asked) > 1:
        raise UsageError(what.format(*asked), "ask for one of them")
    if asked and (stored or has_figures):
        raise UsageError(what.format(asked[0], f"{figures}, --preset or --stored"), "leave them out")
    if stored and has_figures:
        remedy = "groups are stored at level near: leave them out"
        raise UsageError(what.format("--stored", f"{figures} or --preset"), remedy)


def report(figures: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the counts, the kinds of duplicates, the sizes and the largest groups."""
    unsigned = f"; {figures['unsigned']:,} without words or signatures" if figures["unsigned"] else ""
    documents, duplicates, groups = (format_count(figures[f"{noun}s"], noun) for noun in NOUNS)
    yield Text(f"{documents}: {duplicates}, {groups} (level {figures['level']}){unsigned}")
    if figures["capped"]:
        counts = ", ".join(f"{count:,} {name}" for name, count in figures["capped"].items())
        yield Text(f"Values shared by over {MAX_TEXTS_PER_KEY} long texts were skipped as forms: {counts}", "account")
    if figures["crowded"]:
        many = f"{format_count(figures['crowded'], 'document')} shared a value with over {MAX_LEADS:,} leads"
        yield Text(f"{many} and were not compared with all of them", "account")
    kinds = [(Text(evidence.TABLE.by_name[kind].words), count) for kind, count in figures["kinds"].items()]
    sizes = [(Text(f"of {size}"), count) for size, count in figures["sizes"].items()]
    leads = [(f"{each['title']} · {each['lead']}".removeprefix(" · "), each["size"]) for each in figures["largest"]]
    largest = [(console.one_line(Text(console.sanitize(name))), size) for name, size in leads]
    headings = "Evidence that joined duplicates to their lead", "Groups by size", "Largest groups"
    for title, rows in zip(headings, (kinds, sizes, largest), strict=True):
        if rows:
            yield Text(f"\n{title}", "title")
        for text, count in rows:
            yield console.Indented(text, COLUMNS, f"{count:>8,}")


def boilerplate_lines(figures: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield the passages that unlike documents share, and what is done about them."""
    for title, name in (("Left out of signatures", "left_out"), (f"Found now. To leave it out, {SIGN_AGAIN}", "found")):
        if figures[name]:
            yield Text(title, "title")
        for each in figures[name]:
            yield console.Indented(console.one_line(Text(console.sanitize(str(SharedPassage(**each))))), 2)
    if not any(figures.values()):
        yield Text("No passage that unlike documents of one source share.")


def writer(path: Path | None) -> Callable[[Iterable[Any], type[Any]], None]:
    """Return the writer of rows, which are dataclasses, to a file of a known kind; without a file it writes nothing."""
    if path and path.suffix not in (".csv", ".jsonl"):
        raise UsageError(f"--export {path}: the file name has no known suffix", "end it in .csv or .jsonl")
    return partial(write_rows, path)


def write_rows(path: Path | None, rows: Iterable[Any], kind: type[Any]) -> None:
    """Write rows as CSV or as JSON lines; in CSV several ids in a cell are separated by spaces."""
    if path is None:
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            table = csv.writer(file)
            table.writerow(field.name for field in fields(kind))
            table.writerows([_cell(value) for value in astuple(row)] for row in rows)
        else:
            file.writelines(f"{orjson.dumps(asdict(row)).decode()}\n" for row in rows)
    console.messages().print(Text(f"Written to {path}."))


# First characters of a cell that a spreadsheet runs, also in their wide forms, and invisible ones that it skips.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_SKIPPED = " \N{ZERO WIDTH NO-BREAK SPACE}\N{ZERO WIDTH SPACE}"


def _cell(value: object) -> object:
    """Return a value for a cell; a string that a spreadsheet would run as a formula begins with an apostrophe.

    >>> _cell("=1+1"), _cell(["-a", "b"]), _cell("rent"), _cell(-1.5)
    ("'=1+1", "'-a b", 'rent', -1.5)
    """
    if isinstance(value, list):
        value = " ".join(map(str, value))
    if isinstance(value, str) and normalize("NFKC", value).lstrip(_SKIPPED).startswith(_FORMULA):
        return f"'{value}"
    return value
