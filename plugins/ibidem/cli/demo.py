"""`ibidem demo`: the licence texts of this machine, searched with their duplicates indented."""

import shutil
import sys
from pathlib import Path

from rich.text import Text

from ibidem.cli.console import Json, bar, messages, print_json, results
from ibidem.cli.search import show
from ibidem.cli.status import show_summary, update_bar
from ibidem.demo import QUERY, Demonstration, demonstrate, next_commands
from ibidem_core.settings import load


def run(as_json: Json = False) -> None:
    """Take the licence texts installed on this machine, index them, and show a search with the duplicates indented."""
    messages().print("Ingesting the licence texts installed on this machine …")
    with bar("Indexing") as advance:
        demonstration = demonstrate(load(), report=lambda progress: update_bar(progress, advance))
    if as_json:
        print_json(demonstration.response)
    else:
        present(demonstration)


def present(demonstration: Demonstration) -> None:
    """Print the summary of the ingest, the search, and commands to try next."""
    console = results()
    show_summary(demonstration.run, console)
    console.print(Text.assemble("\n$ ", (f"ibidem search '{QUERY}' --max-per-group 3\n", "place")))
    show(demonstration.response, console)
    console.print("\nTry next, in this folder:")
    for command in next_commands(demonstration, program()):
        console.print(Text(f"  {command}"), soft_wrap=True)


def program() -> str:
    """Return the command that starts this program from the current folder."""
    if shutil.which("ibidem"):
        return "ibidem"
    script = Path(sys.argv[0])
    folder = Path.cwd()
    return str(script.relative_to(folder)) if script.is_relative_to(folder) else str(script)
