"""Documents taken down with all their copies; manual decisions reach groups; an index is one by each of its names."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from os import getpid
from pathlib import Path

import pytest

from ibidem.grouped_search.api import search_index
from ibidem.index.deletion import clear_tombstones, delete, find_copies, find_leftovers, still_held
from ibidem.index.documents import add_override, fetch_hits, inspect, remove_override, report_overrides
from ibidem_core.settings import Settings
from ibidem_dedupe.overrides import Override, Verdict
from ibidem_dedupe.parameters import PRESETS, parse_request
from ibidem_engines.cluster.records import template
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record, WriteStatus
from ibidem_engines.ledger import GroupCheckpoint, load_overrides, save_preset
from ibidem_engines.query import parse_query
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import sign
from ibidem_workers.backfill.batch import Checkpoint
from ibidem_workers.backfill.replace import replace_index
from ibidem_workers.batches import records
from ibidem_workers.groups.follower import SettlingLease, regroup, settle_all
from ibidem_workers.tasks import DeadLetter, add_dead_letters, letters
from servers.indices import ask, remove_indices
from servers.kinds import CLUSTERS, ENGINES
from support.command_line import Run
from support.general_tables import general_tables
from support.signed_records import make_record


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
    (hash_,) = lookup_keys([lease.packed])[0]["content"]
    forged = Document("forged", "a text of other words altogether", version=1)
    (record,) = records([forged], Tables(tmp_path))
    (signatures,) = sign([forged], Tables(tmp_path))
    packed = pack(forged, replace(signatures, content=hash_))
    library.write([replace(record, packed=packed)])
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
        engine.put_records("runs", {f"backfill/{each.into}": asdict(each) for each in copies})
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
    replace_index(settings, f"{alias}-2")
    with closing(open_engine(settings.address, alias)) as engine:
        delete(engine, ["a"], tombstone_days=1)
        assert dict(still_held(engine, settings, ["a"])) == {f"{alias}-1": ["a"]}
    for name in ask(opensearch, "GET", f"/{alias}-*,.ibidem-{alias}-*?expand_wildcards=all"):
        ask(opensearch, "DELETE", f"/{name}")


TEXT = "grain prices rose in chicago after the frost of early may had hurt the winter wheat of the plains"
NUMBERS = count(1)


class Place:
    """An index with an alias (in SQLite the index alone), reached by several names."""

    def __init__(self, address: str, alias: str, first: str) -> None:
        self.address, self.alias, self.first = address, alias, first
        self.engines: list[Engine] = []

    def by(self, name: str) -> Engine:
        engine = open_engine(self.address, name)
        self.engines.append(engine)
        return engine

    @property
    def is_server(self) -> bool:
        return not self.address.startswith("sqlite")


def signed(id_: str, version: int = 1) -> Record:
    """A document with the signatures that a backfill gives it."""
    (record,) = records([Document(id_, TEXT, version=version)], general_tables())
    return record


def fill(engine: Engine, *ids: str) -> None:
    engine.create()
    engine.write([signed(id_) for id_ in ids])
    engine.refresh()


@pytest.fixture
def place(request: pytest.FixtureRequest, kind: str, tmp_path) -> Iterator[Place]:
    address = f"sqlite:///{tmp_path}/index.sqlite" if kind == "sqlite" else request.getfixturevalue(kind)
    alias = f"same-{getpid()}-{next(NUMBERS)}"
    place = Place(address, alias if kind != "sqlite" else f"{alias}-1", f"{alias}-1")
    fill(place.by(place.first), "a", "b", "c")
    if place.is_server:
        ask(address, "PUT", f"/{place.first}/_alias/{alias}")
    yield place
    for engine in place.engines:
        engine.close()
    if place.is_server:
        for name in (f"{alias}-1", f"{alias}-2", f"{alias}-3"):
            remove_indices(address, name)
        ask(address, "DELETE", f"/.ibidem-{alias},.ibidem-{alias}-work?ignore_unavailable=true")


def groups_of(engine: Engine, **dedupe: str) -> list[list[str]]:
    """The ids of each group of a search."""
    request = parse_request({"dedupe": "indent", **dedupe})
    hits = search_index(engine, parse_query("grain"), request)["hits"]["hits"]
    groups: dict[str, list[str]] = {}
    for hit in hits:
        groups.setdefault(hit["_dedupe"]["group"], []).append(hit["_id"])
    return sorted(sorted(ids) for ids in groups.values())


@pytest.mark.parametrize("kind", ENGINES)
class TestOneName:
    @pytest.mark.slow
    def test_a_decision_made_by_one_name_is_followed_by_the_other(self, place: Place) -> None:
        for said, read in ((place.alias, place.first), (place.first, place.alias)):
            word = add_override(place.by(said), ("a", "b"), "not", author="Ada")
            assert word.a == (place.first, "a")
            assert load_overrides(place.by(read)) == [word]
            for name in (said, read):
                assert groups_of(place.by(name)) == [["a", "c"], ["b"]]
                assert [each.id for each in inspect(place.by(name), "a").duplicates] == ["c"]
            assert remove_override(place.by(read), "b", "a") == [word]
            assert load_overrides(place.by(said)) == []

    @pytest.mark.slow
    def test_presets_and_tombstones_are_found_from_both_names(self, place: Place) -> None:
        by_alias, by_own = place.by(place.alias), place.by(place.first)
        save_preset(by_alias, "strict", PRESETS["news"])
        assert [*dict(by_own.get_records("presets"))] == [*dict(by_alias.get_records("presets"))] == ["strict"]
        delete(by_alias, ["c"], 7)
        assert by_own.write([signed("c", 6)])[0].status is WriteStatus.STALE
        assert clear_tombstones(by_own, datetime.now(UTC) + timedelta(days=1)) == 1
        assert by_alias.write([signed("c", 6)])[0].status is WriteStatus.INDEXED

    @pytest.mark.slow
    def test_groups_settled_by_one_name_are_settled_for_the_other(self, place: Place) -> None:
        delete(place.by(place.alias), ["c"])
        add_override(place.by(place.alias), ("a", "b"), "not", author="Ada")
        settle_all(place.by(place.alias))
        assert (
            GroupCheckpoint.read(place.by(place.first))
            == GroupCheckpoint.read(place.by(place.alias))
            != GroupCheckpoint()
        )
        assert groups_of(place.by(place.first), dedupe_by="stored") == [["a"], ["b"]]
        assert groups_of(place.by(place.alias), dedupe_by="stored") == [["a"], ["b"]]


@pytest.mark.parametrize("kind", CLUSTERS)
def test_records_move_with_the_index_and_name_the_new_one(place: Place) -> None:
    before = place.by(place.alias)
    add_override(before, ("a", "b"), "not", author="Ada")
    save_preset(before, "strict", PRESETS["news"])
    delete(before, ["c"], 7)
    new = f"{place.first[:-1]}2"
    settings = Settings(engine=place.address, index=place.alias, tables=general_tables().folder)
    replace_index(settings, new)
    for name in {new, place.alias}:
        engine = place.by(name)
        (word,) = load_overrides(engine)
        assert (word.a, word.b) == ((new, "a"), (new, "b"))
        assert groups_of(engine) == [["a"], ["b"]]
        assert [*dict(engine.get_records("presets"))] == ["strict"]
        assert engine.write([signed("c", 6)])[0].status is WriteStatus.STALE
    assert [word.a for word in load_overrides(place.by(place.first))] == [(place.first, "a")]


@pytest.mark.parametrize("kind", CLUSTERS)
class TestAlias:
    def test_a_decision_that_an_earlier_version_kept_by_the_alias_is_followed_until_another_is_made(
        self, place: Place
    ) -> None:
        pair = {"a": [place.alias, "a"], "b": [place.alias, "b"]}
        entry = {**pair, "verdict": "not", "author": "Ada"}
        body = json.dumps({"ledger": "overrides", "key": "old", "entry": entry})
        index = f".ibidem-{place.alias}"
        ask(place.address, "PUT", f"/{index}", json.dumps(template()))
        ask(place.address, "PUT", f"/{index}/_doc/overrides%2Fold?refresh=true", body)
        for name in (place.alias, place.first):
            assert [each.id for each in inspect(place.by(name), "a").duplicates] == ["c"]
        add_override(place.by(place.first), ("a", "b"), "same", author="Bob")
        for name in (place.alias, place.first):
            assert [(each.a, each.verdict) for each in load_overrides(place.by(name))] == [((place.first, "a"), "same")]

    def test_an_alias_of_several_indexes_and_each_of_them_share_decisions_and_presets(self, place: Place) -> None:
        third = f"{place.alias}-3"
        fill(place.by(third), "d", "e")
        ask(place.address, "PUT", f"/{third}/_alias/{place.alias}")
        by_alias = place.by(place.alias)
        add_override(by_alias, ("d", "e"), "not", author="Ada")
        add_override(by_alias, ("a", "d"), "not", author="Ada")
        add_override(place.by(place.first), ("a", "b"), "not", author="Ada")
        save_preset(by_alias, "strict", PRESETS["news"])
        save_preset(place.by(third), "own", PRESETS["law"])
        assert {("d", "e"), ("a", "d"), ("a", "b")} == {(each.a[1], each.b[1]) for each in load_overrides(by_alias)}
        assert [each.id for each in inspect(place.by(third), "d").duplicates] == []
        assert "b" not in {each.id for each in inspect(by_alias, "a").duplicates}
        for engine in (by_alias, place.by(third)):
            assert [*dict(engine.get_records("presets"))] == ["own", "strict"]
        add_override(place.by(third), ("d", "e"), "same", author="Bob")
        assert {each.verdict for each in load_overrides(by_alias) if {each.a[1], each.b[1]} == {"d", "e"}} == {"same"}

    def test_a_decision_on_an_id_of_two_indexes_is_refused_by_name(self, place: Place) -> None:
        third = f"{place.alias}-3"
        fill(place.by(third), "a")
        ask(place.address, "PUT", f"/{third}/_alias/{place.alias}")
        with pytest.raises(UsageError, match=f"'a' is in several indexes: {place.first}, {third}"):
            add_override(place.by(place.alias), ("a", "b"), "not", author="Ada")
        with pytest.raises(UsageError, match="no signed document 'nowhere'"):
            add_override(place.by(place.alias), ("b", "nowhere"), "not", author="Ada")
