"""A former index, which a backfill replaced, is named where it still holds a document that was deleted."""

import json
import os
from contextlib import closing
from pathlib import Path

import pytest

from ibidem.index.deletion import delete, still_held
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_engines.signing import records
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_workers.backfill.checkpoint import Checkpoint
from ibidem_workers.backfill.replace import Replacement, replace_index
from servers.indices import ask


def test_an_index_that_was_copied_is_named_with_the_documents_that_it_still_holds(tmp_path: Path) -> None:
    settings = Settings(engine=f"sqlite:///{tmp_path}/index.sqlite", index="second")
    with (
        closing(open_engine(settings.address, "first")) as former,
        closing(open_engine(settings.address, "second")) as engine,
    ):
        former.create()
        former.write(list(records([Document("a", "We the People", version=1)], Tables(tmp_path))))
        engine.create()
        assert dict(still_held(engine, settings, ["a"])) == {}
        copies = [Checkpoint("r", 0.0, "first", "second"), Checkpoint("r", 0.0, "gone", "third")]
        engine.put_records("runs", {each.key: each.as_json() for each in copies})
        assert dict(still_held(engine, settings, ["a", "c"])) == {"first": ["a"]}
        former.delete(["a"], 2)
        assert dict(still_held(engine, settings, ["a"])) == {}


@pytest.mark.server("opensearch")
def test_through_an_alias_the_index_that_was_behind_it_before_is_named(opensearch: str, tables_folder: Path) -> None:
    alias = f"former-of-{os.getpid()}"
    mapping = {"properties": {"body": {"type": "text"}}}
    ask(opensearch, "PUT", f"/{alias}-1", json.dumps({"mappings": mapping, "aliases": {alias: {}}}))
    for name in ("a", "b"):
        ask(opensearch, "PUT", f"/{alias}-1/_doc/{name}?refresh=true", json.dumps({"body": "We the People"}))
    settings = Settings(engine=opensearch, index=alias, fields="text=body,meta=", tables=tables_folder, concurrency=1)
    replace_index(Replacement(f"{alias}-2"), settings)
    with closing(open_engine(settings.address, alias)) as engine:
        delete(engine, ["a"], tombstone_days=1)
        assert dict(still_held(engine, settings, ["a"])) == {f"{alias}-1": ["a"]}
    for name in ask(opensearch, "GET", f"/{alias}-*,.ibidem-{alias}-*?expand_wildcards=all"):
        ask(opensearch, "DELETE", f"/{name}")
