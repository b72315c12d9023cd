"""Documents taken down, with all their copies; manual decisions reach the stored groups; former indexes are named."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem.index.deletion import delete, find_copies, find_leftovers, still_held
from ibidem.index.documents import add_override, fetch_hits, remove_override, report_overrides
from ibidem_core.settings import Settings
from ibidem_dedupe.overrides import Override, Verdict
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import records
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from ibidem_ingest.signatures.packed import pack, unpack
from ibidem_ingest.signatures.sign import sign
from ibidem_workers.backfill.batch import Checkpoint
from ibidem_workers.backfill.replace import Replacement, replace_index
from ibidem_workers.dead_letters import DeadLetter, add_dead_letters, letters
from ibidem_workers.groups.follower import SettlingLease, regroup, settle_all
from servers.indices import ask
from support.command_line import Run
from support.signed_records import make_record
from support.some import some


@pytest.fixture
def library(run: Run) -> Iterator[Engine]:
    """The index of the documents of the command line's tests, in the current folder."""
    engine = open_engine("sqlite:///.ibidem/index.sqlite", "ibidem")
    yield engine
    engine.close()


def test_the_copies_of_what_is_not_there_cannot_be_known(library: Engine) -> None:
    with pytest.raises(UsageError, match="'nosuch'"):
        find_copies(library, ["lease", "nosuch"])


@pytest.mark.slow
def test_a_text_that_was_made_for_the_content_hash_of_another_does_not_take_it_along(
    library: Engine, tmp_path: Path
) -> None:
    """The hash is set by hand, since none is known for the content hash of a later schema."""
    (lease,) = fetch_hits(library, ["lease"])
    (hash_,) = lookup_keys(some(unpack(lease.packed or b"")))["content"]
    forged = Document("forged", "a text of other words altogether", version=1)
    (record,) = records([forged], Tables(tmp_path))
    (signatures,) = sign([forged], Tables(tmp_path))
    stored = record.signatures._replace(content=hash_)
    packed = pack(forged, replace(signatures, content=hash_))
    library.write([replace(record, signatures=stored, packed=packed)])
    library.refresh()
    names = find_copies(library, ["forged"], same_words=True)
    assert names.ids == ["forged"]
    assert {"copy", "lease"} <= set(names.others)
    names = find_copies(library, ["lease"], same_words=True)
    assert sorted(names.ids) == ["copy", "lease"]
    assert "forged" in names.others


def test_failed_documents_of_the_same_id_or_the_same_text_are_left_and_can_be_removed(library: Engine) -> None:
    text = "Dear Sir,\nthe rent of last month has not arrived."
    texts = {"letter": "another version", "by text": text, "unrelated": "another text"}
    add_dead_letters(
        library, (DeadLetter("r", Refusal("", id_, "", ""), 1, 1.0, {"text": each}) for id_, each in texts.items())
    )
    left = find_leftovers(library, ["letter"])
    assert left.as_json() == {"dead": ["by text", "letter"]}
    left.remove(library)
    assert [each.refusal.id for each in letters(library)][-1:] == ["unrelated"]


GRAIN = "grain prices rose in chicago after the frost of early may had hurt the winter wheat of the plains"
STRIKE = "dock workers in the port of rotterdam went on strike on monday over pay and the length of the night shift"
PAIRS: list[tuple[tuple[str, str], Verdict]] = [(("a", "b"), "not"), (("a", "x"), "same"), (("b", "y"), "same")]


@pytest.fixture
def settled(engine: Engine) -> Engine:
    """Two stories, each told twice, whose groups are stored."""
    engine.write([make_record(id_, GRAIN) for id_ in "ab"] + [make_record(id_, STRIKE) for id_ in "xy"])
    settle_all(engine)
    return engine


def stored(engine: Engine) -> list[list[str]]:
    """The ids of each stored group."""
    store = engine.groups()
    groups: dict[str, list[str]] = {}
    for each in store.read([("news", id_) for id_ in "abxy"]):
        groups.setdefault(each.group, []).append(each.name.id)
    return sorted(sorted(ids) for ids in groups.values())


@pytest.mark.parametrize(("pair", "verdict"), PAIRS)
def test_stored_groups_follow_a_decision_at_once_as_if_all_were_settled_again(
    settled: Engine, pair: tuple[str, str], verdict: Verdict
) -> None:
    assert stored(settled) == [["a", "b"], ["x", "y"]]
    add_override(settled, pair, verdict, author="Ada")
    at_once = stored(settled)
    if (pair, verdict) == (("a", "b"), "not"):
        assert at_once == [["a"], ["b"], ["x", "y"]]
    regroup(settled)
    assert stored(settled) == at_once
    remove_override(settled, *pair)
    assert stored(settled) == [["a", "b"], ["x", "y"]]


def test_a_decision_that_groups_do_not_follow_yet_says_so(settled: Engine) -> None:
    other = SettlingLease(settled)
    assert other.take()
    word = Override(("news", "a"), ("news", "b"), "not")
    settled.put_records("overrides", {word.key: word.as_record()})
    assert "ibidem regroup" in report_overrides(settled, [word])["remedy"]
    other.give_back()
    settle_all(settled)
    assert report_overrides(settled, []) == {"overrides": []}


@pytest.mark.slow
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
