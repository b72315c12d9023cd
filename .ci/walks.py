"""Files of the product whose functions run, over all processes, on three ways through it: `python .ci/walks.py [URL]`.

A document into SQLite, a search on SQLite, and, where the address of an OpenSearch (`opensearch+http://…`) is given, a
document into it and a search by a wrapped client. Every process notes each file when a function of it is first called.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("ingest", "mappings", "plugins", "workers")
NOTE = """
import os, sys, threading
def _note(frame, event, arg, seen=set(), folder=os.environ["WALK_NOTES"]):
    if event == "call" and frame.f_code.co_flags & 1:  # of a function, and not of a class or a module
        name = frame.f_code.co_filename
        if name not in seen:
            seen.add(name)
            with open(f"{folder}/{os.getpid()}", "a") as file:
                file.write(name + "\\n")
sys.setprofile(_note)
threading.setprofile(_note)
"""
CLIENT = """
import sys
from urllib.parse import urlsplit
from opensearchpy import OpenSearch
import ibidem
url = urlsplit(sys.argv[1].partition("+")[2])
client = ibidem.wrap(OpenSearch(hosts=[{"host": url.hostname, "port": url.port}]))
print(client.search(index="walk", body={"query": {"match": {"text": "wheat"}}}, dedupe="collapse")["dedupe"])
"""


def walk(folder: Path, engine: str, command: list[str]) -> tuple[int, int]:
    """Run a command; returns how many files have functions that ran, and how many modules were imported."""
    notes = Path(tempfile.mkdtemp(dir=folder))
    (folder / "site").mkdir(exist_ok=True)
    (folder / "site" / "sitecustomize.py").write_text(NOTE, encoding="utf-8")
    settings = {name: value for name, value in os.environ.items() if not name.startswith("IBIDEM_")}
    settings |= {"PYTHONPATH": str(folder / "site"), "WALK_NOTES": str(notes), "PYTHONPROFILEIMPORTTIME": "1"}
    settings |= {"IBIDEM_ENGINE": engine, "IBIDEM_INDEX": "walk"}
    done = subprocess.run(command, cwd=folder, env=settings, check=True, capture_output=True, text=True)  # noqa: S603
    names = {name for note in notes.iterdir() for name in note.read_text(encoding="utf-8").splitlines()}
    files = {
        name for name in names if Path(name).is_relative_to(ROOT) and Path(name).relative_to(ROOT).parts[0] in FOLDERS
    }
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    return len(files), sum(name.partition(".")[0].startswith("ibidem") for name in imported)


def main(engine: str = "") -> None:
    """Print the figures of each way."""
    ibidem = str(Path(sys.executable).with_name("ibidem"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stories = [{"id": f"d{n}", "text": f"The export duty on wheat was raised on day {n}."} for n in range(20)]
        lines = "".join(json.dumps(story) + "\n" for story in stories)
        (folder / "docs.jsonl").write_text(lines, encoding="utf-8")
        file = f"sqlite:///{folder}/index.sqlite"
        ways = [("ingest into SQLite", file, [ibidem, "ingest", "docs.jsonl"])]
        ways += [("search on SQLite", file, [ibidem, "search", "wheat"])]
        if engine:
            ways += [("ingest into OpenSearch", engine, [ibidem, "ingest", "docs.jsonl"])]
            ways += [("search by a wrapped client", engine, [sys.executable, "-c", CLIENT, engine])]
        for way, address, command in ways:
            files, modules = walk(folder, address, command)
            sys.stdout.write(f"{way}: {files} files, {modules} modules of the product imported\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
