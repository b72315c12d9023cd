"""Options that `ibidem evaluate` and `ibidem tune` have in common, and what they say of too few labels."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ibidem.cli.console import messages

Docs = Annotated[str, typer.Argument(metavar="DOCS", help="A file or folder with documents.", show_default=False)]
LabelTable = Annotated[
    Path,
    typer.Argument(
        metavar="LABELS", help="A table with a header: `id, cluster`, or `a, b` and more columns.", show_default=False
    ),
]
Positive = Annotated[str, typer.Option(metavar="EXPR", help="Which listed pairs are duplicates, such as `jac5>=0.5`.")]
Unjudged = Annotated[Path | None, typer.Option(metavar="FILE", help="Pairs without a label; these are not counted.")]
Filters = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="FIELD=VALUE", help="Only these documents: source, language, id or meta.NAME."),
]

MIN_LABELLED_SHARE = 0.5  # share of labelled documents below which precision says little


def warn_of_labels(labelled: int, documents: int) -> None:
    """Warn if too few documents have labels for a reliable precision."""
    if labelled < MIN_LABELLED_SHARE * documents:
        messages().print(
            Text(
                f"Only {labelled:,} of {documents:,} documents have labels: found pairs of the others count as wrong, "
                "so precision is too low where labels are missing."
            )
        )
