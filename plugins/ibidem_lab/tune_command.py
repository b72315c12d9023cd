"""`ibidem tune`: choose the thresholds of the decision from labelled documents."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli.console import Json, bar, engine_context, print_json, results
from ibidem.grouped_search.api import format_count
from ibidem_core.settings import load
from ibidem_dedupe.parameters import Preset
from ibidem_engines.ledger import check_name, save_preset
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.language import add_languages
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import DETECT, Choice
from ibidem_lab.evaluate import PairFigures, sign_collection
from ibidem_lab.evaluate_command import Docs, LabelTable, Positive, warn_of_labels
from ibidem_lab.labels import Labels
from ibidem_lab.tune import MANY_SETS, Tuning, tune

Learn = Annotated[
    bool,
    typer.Option("--learn", help="Also learn a weighted sum of many figures; it is chosen if it beats thresholds."),
]
Whole = Annotated[
    int, typer.Option("--of", metavar="N", min=0, help="Number of documents in the collection, if these are a sample.")
]
Save = Annotated[
    str,
    typer.Option("--save", metavar="NAME", help="Store the figures with the index as a preset, if they are better."),
]


def run(
    docs: Docs,
    labels: LabelTable,
    positive: Positive = "",
    learn: Learn = False,
    whole: Whole = 0,
    save: Save = "",
    as_json: Json = False,
) -> None:
    """Choose similarity and preset on your own labels, and say what to expect of them."""
    if save:
        check_name(save)
    settings, table = load(), Labels.read(labels, positive)
    documents = add_languages(read((docs,), Choice(language=DETECT), settings.max_text))
    tables = Tables(settings.tables, settings.index)
    with bar("Signing") as advance:
        collection = sign_collection(documents, tables, lambda count: advance(count, None))
    tuning = tune(collection, table, learn=learn, collection_size=whole)
    improves = tuning.choice != "default"
    if save and improves:
        figures = "a learned sum of figures" if tuning.choice == "learned" else str(tuning.chosen)
        description = f"tuned on {format_count(tuning.sets, 'set')} of duplicates: {figures}"
        with engine_context(settings) as engine:
            save_preset(engine, save, Preset(tuning.policy, description))
    warn_of_labels(tuning.labelled, tuning.documents)
    if as_json:
        print_json(tuning.as_json() | {"saved": (improves and save) or None})
        return
    for line in (*report(tuning), *outcome(tuning, save)):
        results().print(line)


def report(tuning: Tuning) -> Iterator[Text]:
    """Yield the labelled pairs, and the curve."""
    documents = f"{format_count(tuning.documents, 'document')}, {tuning.labelled:,} with labels"
    yield Text(f"{documents}, {format_count(tuning.pairs, 'pair')} of duplicates in {format_count(tuning.sets, 'set')}")
    suffix = f", other figures of preset {tuning.chosen.preset}" if tuning.chosen.preset else ""
    suffix += f", without {' and '.join(tuning.chosen.without)}" if tuning.chosen.without else ""
    yield Text(f"\nsimilarity   precision   recall      F1{suffix}", "title")
    for similarity, each in tuning.curve.items():
        mark = "  chosen" if similarity == tuning.chosen.similarity else ""
        yield Text(f"{similarity:>10}{each.precision:>12.3f}{each.recall:>9.3f}{each.f1:>8.3f}{mark}")
    yield Text("")


def outcome(tuning: Tuning, save: str) -> Iterator[Text]:
    """Yield the expected quality on held-out labels, and how to apply the choice."""
    yield Text("On held-out labels:")
    yield Text(f"  default          {describe(tuning.default)}")
    yield Text(f"  thresholds       {describe(tuning.expected)}  ({tuning.chosen})")
    if tuning.learned is not None:
        yield Text(f"  learned rule     {describe(tuning.learned.expected)}")
    if tuning.choice == "default":
        yield Text("The default is best here." + (" Nothing is saved." if save else ""), "level")
    elif save:
        yield Text(f"{recommend(tuning)}; saved as a preset of the index: --preset {save}", "level")
    else:
        needs = ", which it needs" if tuning.choice == "learned" or tuning.chosen.without else ""
        yield Text(f"{recommend(tuning)} (--save NAME keeps it with the index{needs})", "level")
    if tuning.sets < MANY_SETS:
        yield Text(f"With {MANY_SETS} sets of duplicates or more, the figures of presets are tried, too.", "account")


def recommend(tuning: Tuning) -> str:
    """Return which figures are better than the defaults, and by how much."""
    if tuning.choice == "learned" and tuning.learned is not None:
        known = max(tuning.default.f1, tuning.expected.f1)
        return f"The learned rule is better: F1 +{tuning.learned.expected.f1 - known:.3f} over the best of the others"
    return f"Better than the default: {tuning.chosen}, F1 +{tuning.expected.f1 - tuning.default.f1:.3f}"


def describe(figures: PairFigures) -> str:
    return f"precision {figures.precision:.3f}, recall {figures.recall:.3f}, F1 {figures.f1:.3f}"
