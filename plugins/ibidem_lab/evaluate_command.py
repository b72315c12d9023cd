"""`ibidem evaluate`: precision and recall of duplicate detection on labelled documents."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ibidem.cli.app import SOME_REFUSED
from ibidem.cli.console import (
    Json,
    Level,
    Preset,
    bar,
    figures,
    messages,
    presets_for,
    print_json,
    results,
    sanitize,
)
from ibidem.cli.idf import warn_once
from ibidem.grouped_search.explanations import format_count
from ibidem_core.settings import load
from ibidem_dedupe import evidence
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import pair_policy
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.language import add_languages
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import DETECT, Choice
from ibidem_lab.evaluate import Evaluation, Labels, evaluate

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


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """The arguments of `ibidem evaluate`."""

    docs: tuple[str, ...]  # files with documents
    labels: Labels  # labelled pairs of the documents
    policy: Policy | None  # the figures of the decision; None: those that an index of these documents is settled by


def run(
    docs: Docs,
    labels: LabelTable,
    level: Level = None,
    preset: Preset = None,
    positive: Positive = "",
    as_json: Json = False,
) -> None:
    """Sign documents in memory and compare the duplicates that are found with labels."""
    named = figures(level, None, preset)
    request = EvaluationRequest(
        (docs,),
        Labels(labels, positive),
        pair_policy(named, presets=presets_for(preset)) if any(named.values()) else None,
    )
    evaluation = evaluate_with_bar(request)
    if as_json:
        print_json(evaluation.as_json())
    else:
        show(evaluation, results())
    warn_of_labels(evaluation.labelled, evaluation.documents)
    warn_once(evaluation.foreign)
    if evaluation.unknown:
        raise typer.Exit(SOME_REFUSED)


def evaluate_with_bar(request: EvaluationRequest) -> Evaluation:
    settings = load()
    documents = add_languages(read(request.docs, Choice(language=DETECT), settings.max_text))
    with bar("Signing") as advance:
        return evaluate(
            documents,
            request.labels,
            Tables(settings.tables, settings.index),
            request.policy,
            progress=lambda count: advance(count, None),
        )


def show(evaluation: Evaluation, console: Console) -> None:
    """Print the figures."""
    figures: dict[str, Any] = evaluation.as_json()
    pairs, sets = figures["pairs"], figures["sets"]
    refusals = f", {evaluation.refused:,} refused" if evaluation.refused else ""
    documents = f"{format_count(evaluation.documents, 'document')}, {evaluation.labelled:,} with labels"
    console.print(Text(f"{documents}{refusals}, {evaluation.took_s:.1f} s"))
    console.print(
        Text(
            f"pairs   {pairs['true']:,} true, {pairs['found']:,} found: precision {pairs['precision']:.3f}, "
            f"recall {pairs['recall']:.3f}, F1 {pairs['f1']:.3f}"
        )
    )
    console.print(
        Text(
            f"groups  adjusted Rand index {evaluation.ari:.3f}; {sets['agree']:,} sets agree, "
            f"{sets['missed']:,} missed, {sets['over']:,} over"
        )
    )
    for part in (*list_evidence(evaluation), *mistakes(evaluation), *unknown_ids(evaluation)):
        console.print(part)


def list_evidence(evaluation: Evaluation) -> Iterator[Text]:
    """Return the number of pairs that each kind of evidence joins, and how many are correct."""
    if evaluation.evidence:
        yield Text("\nfound by, the strongest evidence of each pair")
    for name, each in evaluation.evidence.items():
        yield Text(f"  {evidence.TABLE.by_name[name].words}: {format_count(each.found, 'pair')}, {each.right:,} right")


def mistakes(evaluation: Evaluation) -> Iterator[Text]:
    """Return the worst errors, each with its reason."""
    if evaluation.mistakes:
        yield Text("\nthe worst errors: the most similar missed pairs, the least similar wrong pairs")
    for each in evaluation.mistakes:
        yield Text.assemble((f"  {each.kind:<6}  ", "bold"), sanitize(f"{each.a} and {each.b}"))
        yield Text(f"          {each.why}")


def unknown_ids(evaluation: Evaluation) -> Iterator[Text]:
    """Return the documents that occur only in the labels."""
    if evaluation.unknown:
        names = ", ".join(sanitize(repr(name)) for name in evaluation.unknown[:MAX_NAMES])
        suffix = f" and {len(evaluation.unknown) - MAX_NAMES:,} more" if len(evaluation.unknown) > MAX_NAMES else ""
        yield Text(
            f"\n{format_count(len(evaluation.unknown), 'id')} in the labels that no document has: {names}{suffix}"
        )


def warn_of_labels(labelled: int, documents: int) -> None:
    """Warn if too few documents have labels for a reliable precision."""
    if labelled < MIN_LABELLED_SHARE * documents:
        messages().print(
            Text(
                f"Only {labelled:,} of {documents:,} documents have labels: found pairs of the others count as wrong, "
                "so precision is too low where labels are missing."
            )
        )
