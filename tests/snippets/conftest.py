"""The state in which a page begins: files of documents, and existing indexes on the servers."""

import csv
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers.indices import ask

LEASE = (
    "The tenant shall pay the rent on the first day of each month, in advance and without demand. The landlord shall "
    "keep the roof, the outer walls and the drains of the house in good repair. Neither party may assign this lease "
    "without the written consent of the other. The limitation of liability and the export duty on wheat or grain are "
    "those of the law of England and Wales, and the antiquities vulgares of the parish are not let with the house."
)
# Names that pages use for documents of the reader's own.
IDS = ("ID", "A", "B", "DOCUMENT", "OTHER", "K041028.000", "K042319.000")

MINE = f"articles-of-{os.getpid()}"  # the index of others on a server; each process has its own


def documents() -> list[dict[str, str]]:
    """A document for each name, some the same, with the year that pages filter on."""
    return [
        {
            "id": name,
            "text": LEASE.replace("England", "England " * (at // 2)),
            "title": f"Lease {name}",
            "date": "1987-04-01",
            "source": "Python packages",
        }
        for at, name in enumerate(IDS)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that pages name."""
    for name in ("cases", "stories"):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(map(json.dumps, documents())))
    (tmp_path / "docs.jsonl").write_text("\n".join(map(json.dumps, documents())), encoding="utf-8")
    for name in ("pleadings", "contracts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "plea.txt").write_text(f"We plead that wheat is no grain. {LEASE}", encoding="utf-8")
    with (tmp_path / "labels.tsv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([["a", "b", "same"], ["ID", "A", "yes"], ["A", "OTHER", "no"]])
    return tmp_path


@pytest.fixture
def articles(opensearch: str) -> Iterator[str]:
    """The address of a server with an index that another program filled."""
    remove(opensearch, MINE)
    lines = []
    for document in documents():
        source = {"headline": document["title"], "body": {"content": document["text"]}, "published": document["date"]}
        lines += [{"index": {"_id": document["id"]}}, source]
    ask(opensearch, "PUT", f"/{MINE}-1", {"aliases": {MINE: {}}})
    ask(opensearch, "POST", f"/{MINE}/_bulk?refresh=true", "".join(f"{json.dumps(line)}\n" for line in lines))
    yield opensearch
    remove(opensearch, MINE)


def remove(address: str, names: str) -> None:
    """Remove the indexes whose names begin so."""
    for each in ask(address, "GET", f"/_cat/indices/{names}*?format=json&expand_wildcards=all"):
        ask(address, "DELETE", f"/{each['index']}?ignore_unavailable=true")
