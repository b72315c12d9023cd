"""Options that several commands share; the help of the dedupe options comes from the table of parameters."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ibidem.dedupe.parameters import PARAMETERS, PRESETS
from ibidem.dedupe.parameters import Preset as NamedFigures
from ibidem.dedupe.stored_presets import NO_PRESET, known_presets
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_workers.settings import Settings, load

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, and nothing else.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="A document's id.", show_default=False)]
Docs = Annotated[str, typer.Argument(metavar="DOCS", help="A file or folder with documents.", show_default=False)]
LabelTable = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS", help="A table with a header: `id, cluster`, or `a, b` and more columns.", show_default=False
    ),
]
Positive = Annotated[str, typer.Option(metavar="EXPR", help="Which listed pairs are duplicates, such as `jac5>=0.5`.")]
Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="FIELD=VALUE", help="Only these documents: source, language, id or meta.NAME."),
]


def parameter(name: str, flag: str, metavar: str, default: str = "") -> Any:
    """Return the option for a parameter of the dedupe layer, with the table's help.

    Args:
        name: The parameter's name, such as `dedupe_level`.
        flag: The option, such as `--level`.
        metavar: The placeholder of its value.
        default: What the command takes where the option is not given; empty: what the table says.
    """
    about = PARAMETERS[name]
    return typer.Option(
        flag,
        metavar=metavar,
        help=f"{about.about}: {about.values} (default: {default or about.default})",
        show_default=False,
    )


Level = Annotated[str | None, parameter("dedupe_level", "--level", "LEVEL")]
Similarity = Annotated[str | None, parameter("dedupe_similarity", "--similarity", "PERCENT")]
Preset = Annotated[str | None, parameter("dedupe_preset", "--preset", "NAME")]
WindowDays = Annotated[str | None, parameter("dedupe_window_days", "--window-days", "DAYS")]


def figures(
    level: str | None, similarity: str | None, preset: str | None, window_days: str | None
) -> dict[str, str | None]:
    """Return the options that say when two documents are duplicates, by the names of their parameters."""
    return {
        "dedupe_level": level,
        "dedupe_similarity": similarity,
        "dedupe_preset": preset,
        "dedupe_window_days": window_days,
    }


def presets_for(name: str | None) -> Mapping[str, NamedFigures]:
    """Return the presets that a command may name: those of the index too, where the name is not built in."""
    if not name or name in PRESETS or name == NO_PRESET:
        return PRESETS
    with engine_context() as engine:
        return known_presets(engine)


@contextmanager
def engine_context(settings: Settings | None = None) -> Iterator[Engine]:
    """Open the engine that the settings name, and close it in the end.

    Args:
        settings: The settings; read from the environment and files when None.
    """
    settings = settings or load()
    engine = open_engine(settings.address, settings.index)
    try:
        yield engine
    finally:
        engine.close()
