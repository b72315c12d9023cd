"""`ibidem evaluate`: precision and recall of duplicate detection on labelled documents."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli import SOME_REFUSED
from ibidem.cli.console import Json, Level, Preset, bar, messages, presets_for, print_json, results, sanitize
from ibidem.cli.idf import warn_once
from ibidem.grouped_search.api import format_count
from ibidem_core.settings import load
from ibidem_dedupe import evidence
from ibidem_dedupe.parameters import pair_policy
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.language import add_languages
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import DETECT, Choice
from ibidem_lab.evaluate import Evaluation, evaluate
from ibidem_lab.labels import Labels

MAX_NAMES = 10  # so many unknown ids are printed; with `--json` all of them


Docs = Annotated[str, typer.Argument(metavar="DOCS", help="A file or folder with documents.", show_default=False)]
LabelTable = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS", help="A table with a header: `id, cluster`, or `a, b` and more columns.", show_default=False
    ),
]
Positive = Annotated[str, typer.Option(metavar="EXPR", help="Which listed pairs are duplicates, such as `jac5>=0.5`.")]

MIN_LABELLED_SHARE = 0.5  # share of labelled documents below which precision says little


def run(
    docs: Docs,
    labels: LabelTable,
    level: Level = None,
    preset: Preset = None,
    positive: Positive = "",
    as_json: Json = False,
) -> None:
    """Sign documents in memory and compare the duplicates that are found with labels."""
    named, settings = {"dedupe_level": level, "dedupe_preset": preset}, load()
    # Without figures it is the rule that an index of these documents is settled by.
    policy = pair_policy(named, presets=presets_for(preset)) if any(named.values()) else None
    table = Labels.read(labels, positive)
    documents = add_languages(read((docs,), Choice(language=DETECT), settings.max_text))
    tables = Tables(settings.tables, settings.index)
    with bar("Signing") as advance:
        evaluation = evaluate(documents, table, tables, policy, progress=lambda count: advance(count, None))
    if as_json:
        print_json(asdict(evaluation))
    else:
        for part in report(evaluation):
            results().print(part)
    warn_of_labels(evaluation.labelled, evaluation.documents)
    warn_once(evaluation.foreign)
    if evaluation.unknown:
        raise typer.Exit(SOME_REFUSED)


def report(evaluation: Evaluation) -> Iterator[Text]:
    """Yield the figures, what each kind of evidence joins, the worst errors, and ids that only the labels have."""
    pairs, sets, unknown = evaluation.pairs, evaluation.sets, evaluation.unknown
    refusals = f", {evaluation.refused:,} refused" if evaluation.refused else ""
    documents = f"{format_count(evaluation.documents, 'document')}, {evaluation.labelled:,} with labels"
    yield Text(f"{documents}{refusals}, {evaluation.took_s:.1f} s")
    yield Text(
        f"pairs   {pairs.true:,} true, {pairs.found:,} found: precision {pairs.precision:.3f}, "
        f"recall {pairs.recall:.3f}, F1 {pairs.f1:.3f}"
    )
    yield Text(
        f"groups  adjusted Rand index {evaluation.ari:.3f}; {sets.agree:,} sets agree, "
        f"{sets.missed:,} missed, {sets.over:,} over"
    )
    if evaluation.evidence:
        yield Text("\nfound by, the strongest evidence of each pair")
    for name, count in evaluation.evidence.items():
        words = evidence.TABLE.by_name[name].words
        yield Text(f"  {words}: {format_count(count.found, 'pair')}, {count.right:,} right")
    if evaluation.mistakes:
        yield Text("\nthe worst errors: the most similar missed pairs, the least similar wrong pairs")
    for each in evaluation.mistakes:
        yield Text.assemble((f"  {each.kind:<6}  ", "bold"), sanitize(f"{each.a} and {each.b}"))
        yield Text(f"          {each.why}")
    if unknown:
        names = ", ".join(sanitize(repr(name)) for name in unknown[:MAX_NAMES])
        suffix = f" and {len(unknown) - MAX_NAMES:,} more" if len(unknown) > MAX_NAMES else ""
        yield Text(f"\n{format_count(len(unknown), 'id')} in the labels that no document has: {names}{suffix}")


def warn_of_labels(labelled: int, documents: int) -> None:
    """Warn if too few documents have labels for a reliable precision."""
    if labelled < MIN_LABELLED_SHARE * documents:
        what = f"Only {labelled:,} of {documents:,} documents have labels: found pairs of the others count as wrong"
        messages().print(Text(f"{what}, so precision is too low where labels are missing."))
