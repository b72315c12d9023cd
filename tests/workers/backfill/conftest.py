"""Fixtures of a backfill's tests: an existing index with other field names, two shards, routing and an alias."""

import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from servers.indices import ask, names, remove_indices
from servers.kinds import CLUSTERS
from support.empty_index import WORDS

ALIAS = f"evening-paper-of-{os.getpid()}"  # a name of this process's own: several may run tests on one server

FIRST, SECOND = f"{ALIAS}-1", f"{ALIAS}-2"
MAPPING = {
    "dynamic": "strict",
    "properties": {
        "headline": {"type": "text"},
        "body": {"properties": {"content": {"type": "text"}, "pages": {"type": "integer"}}},
        "published": {"type": "date", "format": "yyyy/MM/dd||epoch_millis"},
        "comments": {"type": "nested", "properties": {"by": {"type": "keyword"}, "said": {"type": "text"}}},
        "price": {"type": "double"},
        "views": {"type": "long"},
    },
}
FIELDS = "title=headline,text=body.content,date=published,meta="

Source = dict[str, Any]
T = TypeVar("T", bound="Theirs")


@dataclass(frozen=True)
class Theirs:
    """An index of others in a cluster, as they see it."""

    address: str
    tables: Path = Path()

    @cached_property
    def settings(self) -> Settings:
        """Those by which it is signed."""
        return Settings(engine=self.address, index=ALIAS, fields=FIELDS, tables=self.tables, concurrency=1, patience=1)

    @cached_property
    def engine(self) -> Engine:
        """The index, as ibidem sees it."""
        return open_engine(self.settings.address, ALIAS)

    def make(self, documents: dict[str, Source] | None = None, mapping: Source | None = None, shards: int = 2) -> None:
        """Make the index behind its alias, with documents."""
        body = {"settings": {"number_of_shards": shards}, "mappings": mapping or MAPPING, "aliases": {ALIAS: {}}}
        ask(self.address, "PUT", f"/{FIRST}", body)
        if documents:
            self.write(documents)

    def remove(self) -> None:
        """Remove every index of these tests."""
        for name in (FIRST, SECOND):
            remove_indices(self.address, name)
        ask(self.address, "DELETE", f"/.ibidem-{FIRST}-signatures?ignore_unavailable=true")
        ledgers = names(ALIAS).removeprefix(f"{ALIAS},")  # a name that is an alias cannot be deleted
        ask(self.address, "DELETE", f"/{ledgers}?ignore_unavailable=true")

    def write(self, documents: dict[str, Source], index: str = ALIAS, verb: str = "index", **head: object) -> None:
        """Write documents as any other program does; each third one has a routing of its own."""
        lines = []
        for name, source in documents.items():
            first = {"_id": name, **routing(name), **head}
            lines += [json.dumps({verb: first}), json.dumps({"doc": source} if verb == "update" else source)]
        response = ask(self.address, "POST", f"/{index}/_bulk", "\n".join(lines) + "\n")
        assert not response["errors"], response

    def delete(self, name: str, index: str = ALIAS) -> None:
        line = json.dumps({"delete": {"_id": name, **routing(name)}})
        ask(self.address, "POST", f"/{index}/_bulk", line + "\n")

    def all(self, index: str = ALIAS) -> dict[str, dict[str, Any]]:
        """Read every document as it is stored."""
        ask(self.address, "POST", f"/{index}/_refresh")
        body = {"size": 10_000, "version": True}
        hits = ask(self.address, "POST", f"/{index}/_search", body)["hits"]["hits"]
        return {hit["_id"]: hit for hit in hits}

    def sources(self, index: str = ALIAS) -> dict[str, Source]:
        """Read every document without what ibidem added."""
        return {
            name: {field: value for field, value in hit["_source"].items() if field != "ibidem"}
            for name, hit in self.all(index).items()
        }

    def written(self, index: str = ALIAS) -> dict[str, str]:
        """Read every document as it reads, without what ibidem added."""
        return {name: json.dumps(source) for name, source in self.sources(index).items()}

    def signed(self, index: str = ALIAS) -> dict[str, str]:
        """Read what was signed: the content hash of each signed document."""
        return {
            name: hit["_source"]["ibidem"]["content"]
            for name, hit in self.all(index).items()
            if "ibidem" in hit["_source"]
        }


def routing(name: str) -> dict[str, str]:
    """Give each third document a routing of its own."""
    number = int(name.removeprefix("t"))
    return {"routing": f"r{number % 5}"} if number % 3 == 0 else {}


def story(number: int, turn: int = 0) -> Source:
    """A document of others; every tenth repeats the text of the one before."""
    lot = random.Random(1000 * turn + number - (number % 10 == 9))  # noqa: S311 - texts
    text = " ".join(lot.choices(WORDS, k=60)) + f" {number - (number % 10 == 9)} {turn}"
    return {
        "headline": f"Story {number}",
        "body": {"content": text, "pages": number % 7},
        "published": f"1987/03/{number % 28 + 1:02}",
        "comments": [{"by": "ann", "said": "so"}] * (number % 3),
        "price": number / 4,
        "views": turn,
    }


def stories(count: int, turn: int = 0) -> dict[str, Source]:
    return {f"t{number}": story(number, turn) for number in range(count)}


@pytest.fixture(params=CLUSTERS[:1])
def settings(request: pytest.FixtureRequest, tables_folder: Path) -> Iterator[Settings]:
    """Settings of an index that ibidem makes in OpenSearch."""
    engine: str = request.getfixturevalue(request.param)
    index = f"own-{uuid4().hex}"
    yield Settings(engine=engine, index=index, tables=tables_folder, concurrency=2, patience=1)
    remove_indices(engine, index)


@contextmanager
def opened(theirs: T) -> Iterator[T]:
    """Leave nothing of these tests in a server, before and after."""
    theirs.remove()
    yield theirs
    if "engine" in vars(theirs):
        theirs.engine.close()
    theirs.remove()


@pytest.fixture(params=CLUSTERS)
def theirs(request: pytest.FixtureRequest, tables_folder: Path) -> Iterator[Theirs]:
    """A server without indexes of these tests."""
    with opened(Theirs(request.getfixturevalue(request.param), tables_folder)) as theirs:
        yield theirs
