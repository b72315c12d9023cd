"""`ibidem demo`: the licence texts of this machine go into an index of their own, searched with duplicates indented."""

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.metadata import Distribution, distributions
from itertools import chain, islice
from pathlib import Path
from typing import Any

from rich.text import Text

from ibidem.cli.console import bar, engine_context, messages, results
from ibidem.cli.search import show
from ibidem.cli.status import describe, update_bar
from ibidem.grouped_search.api import Response, read_groups, search_index
from ibidem_core.settings import Settings, load
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_workers.ingest import Progress, ingest_documents, summary

LICENCE_NAME = re.compile(r"(licen[cs]e|copying|notice)[^/]*", re.IGNORECASE)
DEBIAN = Path("/usr/share/doc")
MAX_BYTES = 1_000_000
FOLDER = Path(".ibidem/demo")
QUERY = '"limitation of liability"'
SIZE = 5
MAX_PER_GROUP = 3
MAX_DOCUMENTS = 2_000


def licences(debian: Path = DEBIAN) -> Iterator[Document]:
    """Yield the licence files of the packages that this Python can import, then the copyright files of Debian packages.

    A file that several packages share is read once.
    """
    packages = sorted(distributions(), key=lambda distribution: (distribution.name or "").lower())
    of_python = (
        (path, f"python/{package.name}/{name}", f"{package.name} {package.version}: {name}", "Python packages")
        for package in packages
        for name, path in licence_files(package)
    )
    of_debian = (
        (path.resolve(), f"debian/{path.parent.name}", f"{path.parent.name}: copyright", "Debian")
        for path in sorted(debian.glob("*/copyright"))
    )
    paths: set[Path] = set()
    for path, id_, title, source in chain(of_python, of_debian):
        if path not in paths and (text := read_text_file(path)) is not None:
            paths.add(path)
            yield Document(id_, text, title=title, source=source, url=path.as_uri())


def licence_files(package: Distribution) -> list[tuple[str, Path]]:
    """Return the licence files next to a package's metadata, by their names there, in order."""
    metadata_files = (file for file in package.files or () if file.parts[0].endswith(".dist-info"))
    return sorted(
        ("/".join(part for part in file.parts[1:] if part != "licenses"), Path(str(file.locate())).resolve())
        for file in metadata_files
        if LICENCE_NAME.fullmatch(file.name)
    )


def read_text_file(path: Path) -> str | None:
    """Read a text file; None if it cannot be read, is empty or is too large for a demonstration."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size <= MAX_BYTES else ""
    except OSError:
        return None
    text = text.replace("\0", "")
    return text if text.strip() else None


def demonstrate(
    settings: Settings, texts: Iterable[Document] | None = None, report: Callable[[Progress], None] = lambda _: None
) -> tuple[Settings, Mapping[str, Any], Response]:
    """Ingest licence texts into a new index, and search it; the index of an earlier demonstration is removed.

    Returns the settings of its index, how the ingest went, as `ibidem ingest --json` prints it, and the response.
    """
    # In a folder of its own and without a broker, no other index is touched.
    settings = settings.changed(engine=f"sqlite:///{FOLDER / 'index.sqlite'}", broker="", fields="")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    run = ingest_documents(islice(licences(), MAX_DOCUMENTS) if texts is None else texts, settings, report=report)
    request = parse_request({"dedupe": "indent", "dedupe_max_per_group": MAX_PER_GROUP, "dedupe_explain": True})
    with engine_context(settings) as engine:
        return settings, summary(engine, run), search_index(engine, parse_query(QUERY), request, 1, SIZE)


def next_commands(settings: Settings, response: Response, program: str) -> list[str]:
    """Return three commands to try on the demonstration's index, ready to be typed."""
    pairs = [entry for group in read_groups(response["hits"]["hits"]) for entry in group.duplicates]
    pair = min(pairs, key=lambda entry: entry.level != "near", default=None)  # preferably with different words
    commands = [
        ["search", "apache license", "--dedupe", "collapse"],
        ["compare", pair.lead["_id"], pair.id] if pair else ["search", "copyright", "--dedupe", "off"],
        ["groups"],
    ]
    start = f"IBIDEM_ENGINE={shlex.quote(settings.engine)} {program}"
    return [f"{start} {shlex.join(command)}" for command in commands]


def run() -> None:
    """Take the licence texts installed on this machine, index them, and show a search with the duplicates indented."""
    messages().print("Ingesting the licence texts installed on this machine …")
    with bar("Indexing") as advance:
        settings, ingested, response = demonstrate(load(), report=partial(update_bar, advance))
    console = results()
    for line in describe(ingested):
        console.print(line)
    console.print(Text.assemble("\n$ ", (f"ibidem search '{QUERY}' --max-per-group 3\n", "place")))
    show(response, console)
    console.print("\nTry next, in this folder:")
    for command in next_commands(settings, response, program()):
        console.print(Text(f"  {command}"), soft_wrap=True)


def program() -> str:
    """Return the command that starts this program from the current folder."""
    if shutil.which("ibidem"):
        return "ibidem"
    script = Path(sys.argv[0])
    folder = Path.cwd()
    return str(script.relative_to(folder)) if script.is_relative_to(folder) else str(script)
