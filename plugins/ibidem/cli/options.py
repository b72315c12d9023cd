"""Options that several commands share, and the values that an option may take."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output, and nothing else.")]
Level = Annotated[
    str, typer.Option("--level", "-l", metavar="LEVEL", help="identical, near or partial: what counts as a duplicate.")
]
Id = Annotated[str, typer.Argument(metavar="ID", help="A document's id.")]
