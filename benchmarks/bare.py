"""Loads that find no duplicates, each a process that imports nothing of ibidem: what `waits.py` compares commands with.

python benchmarks/bare.py fts STORIES TABLE
python benchmarks/bare.py bulk STORIES URL INDEX
"""

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

ROWS = 500  # documents of a transaction, and of a request

PATIENCE = 120  # seconds that a client waits for an answer


def stories(path: str) -> Iterator[dict[str, Any]]:
    """Read the lines of a file of JSON Lines."""
    with Path(path).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def fts(path: str, table: str) -> None:
    load_fts(((each.get("title", ""), each["text"]) for each in stories(path)), table)


def load_fts(rows: Iterator[tuple[str, str]], table: str | Path) -> None:
    with closing(sqlite3.connect(table, isolation_level=None)) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create virtual table texts using fts5(title, text, tokenize = 'unicode61')")
        while batch := list(islice(rows, ROWS)):
            connection.execute("begin")
            connection.executemany("insert into texts(title, text) values (?, ?)", batch)
            connection.execute("commit")


def bulk(path: str, url: str, index: str) -> None:
    """Load stories with the client's own helper."""
    kind, _, address = url.partition("+")
    actions = (
        {"_index": index, "_id": each["id"], "title": each.get("title"), "text": each["text"]}
        | {name: each[name] for name in ("date", "source", "meta") if name in each}
        for each in stories(path)
    )
    if kind == "opensearch":
        from opensearchpy import OpenSearch as Client  # noqa: PLC0415 - as above
        from opensearchpy import helpers  # noqa: PLC0415 - of the two clients only the one that is measured

        options = {"timeout": PATIENCE}
    else:
        from elasticsearch import Elasticsearch as Client  # noqa: PLC0415 - as above
        from elasticsearch import helpers  # noqa: PLC0415 - as above

        options = {"request_timeout": PATIENCE}
    with Client(address, **options) as client:
        helpers.bulk(client, actions, chunk_size=ROWS)


if __name__ == "__main__":
    {"fts": fts, "bulk": bulk}[sys.argv[1]](*sys.argv[2:])
