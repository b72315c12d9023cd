"""The demonstration: the licence texts of this machine, through the queue, into an index of its own, and a search."""

import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ibidem.dedupe.request import parse_request
from ibidem.grouped_search import search
from ibidem.licences import licences
from ibidem_engines.opening import open_engine
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_workers.ingest import ingest_documents
from ibidem_workers.runs import Progress, summary
from ibidem_workers.settings import Settings

FOLDER = Path(".ibidem/demo")
QUERY = '"limitation of liability"'
SIZE = 5
SHOWN = 3
MOST = 2_000

Response = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Demonstration:
    """What the demonstration shows.

    Args:
        settings: Those of its own index.
        run: How the ingest went, as `ibidem ingest --json` prints it.
        response: The search's response.
    """

    settings: Settings
    run: Mapping[str, Any]
    response: Response


def own(settings: Settings, folder: Path = FOLDER) -> Settings:
    """Return settings whose engine and queue lie in a folder of their own, so that no other index is touched."""
    engine, broker = f"sqlite:///{folder / 'index.sqlite'}", f"filesystem:///{folder / 'queue'}"
    return settings.changed(engine=engine, broker=broker, fields="")


def demonstrate(
    settings: Settings,
    texts: Iterable[Document] | None = None,
    seen: Callable[[Progress], None] = lambda _: None,
    folder: Path = FOLDER,
) -> Demonstration:
    """Ingest licence texts into a fresh index, and search it.

    Args:
        settings: The user's settings; engine and queue are replaced.
        texts: What to ingest; by default the licence texts of this machine, at most as many as a slow one signs in
            some seconds.
        seen: Called with the progress.
        folder: Where index and queue are made; what an earlier demonstration left there is removed.
    """
    settings = own(settings, folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    run = ingest_documents(islice(licences(), MOST) if texts is None else texts, settings, seen=seen)
    engine = open_engine(settings.address, settings.index)
    try:
        request = parse_request({"dedupe": "indent", "dedupe_max_per_group": SHOWN, "dedupe_explain": True})
        response = search(engine, parse_query(QUERY), request, 1, SIZE)
        return Demonstration(settings, summary(engine, run), response)
    finally:
        engine.close()


def next_commands(shown: Demonstration, program: str) -> list[str]:
    """Return three commands to try on the demonstration's index, as they can be typed.

    Args:
        shown: What was shown.
        program: How `ibidem` is called here.
    """
    pair = example(shown.response["hits"]["hits"])
    commands = [
        ["search", "apache license", "--dedupe", "collapse"],
        ["compare", *pair] if pair else ["search", "copyright", "--dedupe", "off"],
        ["groups"],
    ]
    start = f"IBIDEM_ENGINE={shlex.quote(shown.settings.engine)} {program}"
    return [f"{start} {shlex.join(command)}" for command in commands]


def example(hits: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return the ids of a lead and a duplicate of it, one whose words differ where there is one."""
    pairs: list[tuple[str, str, str]] = []
    lead = ""
    for hit in hits:
        if hit["_dedupe"]["indent"]:
            pairs.append((hit["_dedupe"]["level"], lead, hit["_id"]))
        else:
            lead = hit["_id"]
    return next((pair[1:] for pair in sorted(pairs, key=lambda pair: pair[0] != "near")), None)
