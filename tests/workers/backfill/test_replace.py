"""A new index replaces an existing one; no write in between is lost."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.cluster.reindex_target import ClusterReindexTarget
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.sqlite.file import SqliteFile
from ibidem_engines.stored_groups import Ledger
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_workers.backfill import replace
from ibidem_workers.backfill.checkpoint import KEYS
from ibidem_workers.backfill.replace import Replacement, ReplaceResult, replace_index
from ibidem_workers.backfill.run import backfill_in_place
from ibidem_workers.ingest import Interruption, ingest_documents
from ibidem_workers.runs import summary
from servers.indices import ask
from workers.backfill.conftest import ALIAS, FIRST, KINDS, MAPPING, SECOND, Theirs, routing, stories, story
from workers.backfill.test_run import writing

OTHER = Table.build("en", 9_000, {"people": 10.0, "union": 9.0}, "another")


def into_second(settings: Settings, alias: str = "") -> ReplaceResult:
    return replace_index(Replacement(SECOND, alias), settings)


class TestTheirIndex:
    def test_the_alias_moves_to_a_copy_that_has_all_as_it_was_and_signatures(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(40))
        foreign_index.write({"t100": {"headline": "no text", "price": 1.5}})
        foreign_index.write({"t7": story(7, 1)})
        before = foreign_index.all()
        result = into_second(foreign_settings)
        assert (result.source, result.alias, result.pruned) == (FIRST, ALIAS, 0)
        after = foreign_index.all()
        assert {hit["_index"] for hit in after.values()} == {SECOND}
        fields = ("_id", "_version", "_routing")
        assert {name: [hit.get(each) for each in fields] for name, hit in after.items()} == {
            name: [hit.get(each) for each in fields] for name, hit in before.items()
        }
        assert {name: json.dumps(source) for name, source in foreign_index.sources().items()} == {
            name: json.dumps(hit["_source"]) for name, hit in before.items()
        }
        assert foreign_index.signed().keys() == before.keys() - {"t100"}
        assert not foreign_index.signed(FIRST)
        engine = open_engine(foreign_settings.address, SECOND)
        assert summary(engine, result.run)["refused"] == 1
        engine.close()

    def test_every_byte_of_a_document_stays_as_it_is(self, foreign_index: Theirs, foreign_settings: Settings) -> None:
        foreign_index.make({"dynamic": False, "properties": {}})
        numbers = '"price" : 1.50, "exact": 12345678901234567890.123456789, "n": [1E2]'
        raw = f'{{ {numbers},  "body": {{"content": "\\u0070eople"}} }}'
        ask(foreign_index.address, "PUT", f"/{ALIAS}/_doc/t1?refresh=true", raw)
        replace_index(Replacement(SECOND), foreign_settings.changed(fields="text=body.content,meta="))
        host = foreign_index.address.partition("://")[2]
        with closing(HTTPConnection(host)) as connection:
            connection.request("GET", f"/{SECOND}/_source/t1")
            body = connection.getresponse().read().decode()
        assert body.startswith(raw[:-1] + ',"ibidem":{')

    def test_mapping_and_settings_are_those_of_the_first_index(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make(shards=3)
        index_settings = {"index": {"refresh_interval": "7s", "number_of_replicas": 0, "max_result_window": 20_000}}
        ask(foreign_index.address, "PUT", f"/{FIRST}/_settings", json.dumps(index_settings))
        foreign_index.write(stories(3))
        into_second(foreign_settings)
        definition = ask(foreign_index.address, "GET", f"/{SECOND}")[SECOND]
        for name in ("refresh_interval", "number_of_shards", "max_result_window"):
            assert (
                definition["settings"]["index"][name]
                == {"refresh_interval": "7s", "number_of_shards": "3", "max_result_window": "20000"}[name]
            )
        fields = {name: field for name, field in definition["mappings"]["properties"].items() if name != "ibidem"}
        first = ask(foreign_index.address, "GET", f"/{FIRST}")[FIRST]["mappings"]
        assert fields == first["properties"]
        assert definition["mappings"]["dynamic"] == "strict"

    def test_what_is_written_and_deleted_meanwhile_is_there_afterwards(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(600))
        last = stories(600)
        with writing(foreign_index, last) as turns:
            into_second(foreign_settings)
            swapped = len(turns)
            while len(turns) < swapped + 5:
                pass
        assert foreign_index.sources() == last
        assert {hit["_index"] for hit in foreign_index.all().values()} == {SECOND}

    def test_what_is_written_just_before_the_alias_moves_follows_and_never_over_what_came_after(
        self, foreign_index: Theirs, foreign_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(20))
        finish = ClusterReindexTarget.finish

        def between(self: ClusterReindexTarget, alias: str) -> None:
            foreign_index.write({"t3": story(3, 1), "t4": story(4, 1), "t50": story(50)})
            foreign_index.delete("t5")
            finish(self, alias)
            foreign_index.write({"t4": story(4, 2), "t51": story(51)})

        monkeypatch.setattr(ClusterReindexTarget, "finish", between)
        into_second(foreign_settings)
        expected = {name: source for name, source in stories(20).items() if name != "t5"}
        expected |= {"t3": story(3, 1), "t4": story(4, 2), "t50": story(50), "t51": story(51)}
        assert foreign_index.sources() == expected
        assert {"t3", "t50"} <= foreign_index.signed().keys()

    def test_what_was_on_its_way_when_the_alias_moved_is_taken_over(
        self, foreign_index: Theirs, foreign_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(20))
        on_its_way = [story(50)]

        def arrives(_: float) -> None:
            if on_its_way:
                ask(foreign_index.address, "PUT", f"/{FIRST}/_doc/t50?refresh=true", json.dumps(on_its_way.pop()))

        monkeypatch.setattr(replace, "time", SimpleNamespace(time=time.time, sleep=arrives))
        into_second(foreign_settings)
        assert foreign_index.sources() == stories(20) | {"t50": story(50)}
        assert {hit["_index"] for hit in foreign_index.all().values()} == {SECOND}

    def test_a_run_that_was_stopped_goes_on_at_any_point(
        self, foreign_index: Theirs, foreign_settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(700))

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(Interruption):
            replace_index(Replacement(SECOND), foreign_settings, stop)
        foreign_index.write({"t3": story(3, 1)})
        foreign_index.delete("t4")
        with monkeypatch.context() as patch:
            patch.setattr(ClusterReindexTarget, "take_late", stop)
            patch.setattr(ClusterReindexTarget, "finish", stop)
            with pytest.raises(KeyboardInterrupt):
                into_second(foreign_settings)
        foreign_index.write({"t5": story(5, 1)})
        into_second(foreign_settings)
        expected = {name: source for name, source in stories(700).items() if name != "t4"}
        assert foreign_index.sources() == expected | {"t3": story(3, 1), "t5": story(5, 1)}
        assert len(foreign_index.signed()) == 699

    def test_without_an_alias_the_same_command_catches_up_and_an_alias_can_be_given(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(10))
        ask(
            foreign_index.address,
            "POST",
            "/_aliases",
            json.dumps({"actions": [{"remove": {"index": FIRST, "alias": ALIAS}}]}),
        )
        settings = foreign_settings.changed(index=FIRST)
        assert into_second(settings).alias == ""
        foreign_index.write({"t3": story(3, 1)}, FIRST)
        foreign_index.delete("t4", FIRST)
        assert into_second(settings).pruned == 1
        assert foreign_index.sources(SECOND) == {
            **{name: source for name, source in stories(10).items() if name != "t4"},
            "t3": story(3, 1),
        }
        with pytest.raises(UsageError, match=f"'{FIRST}' is an index, so it cannot be an alias"):
            into_second(settings, FIRST)
        assert into_second(settings, ALIAS).alias == ALIAS
        assert len(foreign_index.all()) == 9

    def test_what_cannot_be_done_is_refused_before_anything_is(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(3))
        ask(foreign_index.address, "PUT", f"/{SECOND}")
        with pytest.raises(UsageError, match=f"index '{SECOND}' already exists"):
            into_second(foreign_settings)
        with pytest.raises(UsageError, match=f"'{ALIAS}' is already an alias of '{FIRST}'"):
            replace_index(Replacement(FIRST), foreign_settings)
        actions = {"actions": [{"add": {"index": SECOND, "alias": ALIAS}}]}
        ask(foreign_index.address, "POST", "/_aliases", json.dumps(actions))
        with pytest.raises(UsageError, match=f"'{ALIAS}' points to several indexes: {FIRST}, {SECOND}"):
            replace_index(Replacement(f"{ALIAS}-3"), foreign_settings)

    @pytest.mark.parametrize(
        "foreign_index", KINDS[:1], indirect=True
    )  # no data streams among Elasticsearch's jars in Maven
    def test_a_data_stream_is_refused_by_name(self, foreign_index: Theirs, foreign_settings: Settings) -> None:
        template = {"index_patterns": [f"{ALIAS}-stream"], "data_stream": {}, "priority": 500}
        ask(foreign_index.address, "PUT", f"/_index_template/{ALIAS}", json.dumps(template))
        ask(foreign_index.address, "PUT", f"/_data_stream/{ALIAS}-stream")
        try:
            with pytest.raises(UsageError, match=f"'{ALIAS}-stream' is a data stream"):
                into_second(foreign_settings.changed(index=f"{ALIAS}-stream"))
        finally:
            ask(foreign_index.address, "DELETE", f"/_data_stream/{ALIAS}-stream")
            ask(foreign_index.address, "DELETE", f"/_index_template/{ALIAS}")

    def test_pipelines_see_no_document_twice_and_are_there_afterwards(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make(MAPPING | {"dynamic": False})
        foreign_index.write(stories(3))
        ask(foreign_index.address, "PUT", f"/{FIRST}/_settings", json.dumps({"index": {"default_pipeline": "no-such"}}))
        into_second(foreign_settings)
        settings = ask(foreign_index.address, "GET", f"/{SECOND}/_settings")[SECOND]["settings"]["index"]
        assert settings["default_pipeline"] == "no-such"
        assert foreign_index.sources() == stories(3)

    def test_a_routing_of_its_own_finds_the_copy(self, foreign_index: Theirs, foreign_settings: Settings) -> None:
        foreign_index.make()
        foreign_index.write(stories(7))
        into_second(foreign_settings)
        for name in stories(7):
            query = "&".join(f"{key}={value}" for key, value in routing(name).items())
            assert ask(foreign_index.address, "GET", f"/{ALIAS}/_doc/{name}?{query}")["found"]


class TestSqlite:
    @pytest.fixture
    def sqlite_settings(self, settings: Settings, tables_folder: Path, tmp_path: Path) -> Settings:
        shutil.copytree(tables_folder, tmp_path / "tables")
        return settings.changed(tables=tmp_path / "tables", concurrency=1)

    @pytest.mark.slow
    def test_a_new_table_is_put_into_use_by_a_copy_and_both_can_be_searched_meanwhile(
        self, sqlite_settings: Settings, engine: Engine
    ) -> None:
        ingest_documents([Document(f"d{at}", story(at)["body"]["content"]) for at in range(20)], sqlite_settings)
        for ledger in get_args(Ledger):
            engine.put_records(ledger, {"a/b": {"a": "d1", "b": "d2", "word": "same"}})
        engine.put_records("runs", {KEYS: {"run": "a run in place"}})
        Tables(sqlite_settings.tables).use(OTHER)
        result = replace_index(Replacement("second"), sqlite_settings)
        second = open_engine(sqlite_settings.address, "second")
        assert (dict(second.info().tables), second.info().documents) == ({OTHER.name: 20}, 20)
        assert OTHER.name not in engine.info().tables
        assert summary(second, result.run)["indexed"] == 20
        assert all("a/b" in dict(second.get_records(ledger)) for ledger in get_args(Ledger) if ledger != "groups")
        assert KEYS not in dict(second.get_records("runs"))
        second.close()

    @pytest.mark.slow
    def test_a_table_that_came_while_it_was_filled_needs_another_copy(
        self, sqlite_settings: Settings, engine: Engine
    ) -> None:
        ingest_documents([Document("a", "We the People")], sqlite_settings)
        replace_index(Replacement("second"), sqlite_settings)
        Tables(sqlite_settings.tables).use(OTHER)
        with pytest.raises(UsageError, match="'second' was started with another idf table"):
            replace_index(Replacement("second"), sqlite_settings)

    @pytest.mark.slow
    def test_what_was_deleted_meanwhile_goes_when_the_command_is_given_again(
        self, sqlite_settings: Settings, engine: Engine
    ) -> None:
        ingest_documents([Document(name, f"We the People {name}") for name in "abc"], sqlite_settings)
        replace_index(Replacement("second"), sqlite_settings)
        engine.delete(["b"], version=2**60)
        ingest_documents([Document("d", "in Order to form")], sqlite_settings)
        assert replace_index(Replacement("second"), sqlite_settings).pruned == 1
        second = open_engine(sqlite_settings.address, "second")
        assert sorted(hit.id for hits in second.scan() for hit in hits) == ["a", "c", "d"]
        second.close()

    @pytest.mark.slow
    def test_there_are_no_aliases(self, sqlite_settings: Settings, engine: Engine) -> None:
        ingest_documents([Document("a", "We the People")], sqlite_settings)
        with pytest.raises(UsageError, match=r"SQLite has no aliases.*IBIDEM_INDEX=second"):
            replace_index(Replacement("second", "news"), sqlite_settings)

    @pytest.mark.slow
    def test_an_index_of_another_schema_is_copied_into_one_of_now(
        self, sqlite_settings: Settings, engine: Engine
    ) -> None:
        ingest_documents([Document("a", "We the People")], sqlite_settings)
        engine._file.run("""update "ibidem.{index}.state" set value = '0' where name = 'schema'""")  # type: ignore[attr-defined]
        engine.close()
        replace_index(Replacement("second"), sqlite_settings)
        second = open_engine(sqlite_settings.address, "second")
        assert list(second.info().schema) == [SCHEMA]
        second.close()
        with pytest.raises(Exception, match="written with layout 4 and signature schema 0"):
            backfill_in_place(sqlite_settings)

    @pytest.mark.slow
    def test_killed_before_or_after_any_write_the_same_command_ends_with_all_that_is_there(
        self, sqlite_settings: Settings, engine: Engine, tmp_path: Path
    ) -> None:
        ingest_documents([Document(f"d{at}", f"We the People {at}", version=1) for at in range(9)], sqlite_settings)
        engine.close()
        kept = tmp_path / "kept.sqlite"
        shutil.copy(tmp_path / "index.sqlite", kept)
        killed, at = True, 0
        while killed:
            shutil.copy(kept, tmp_path / "index.sqlite")
            killed = killed_at_write(at, sqlite_settings)
            first = open_engine(sqlite_settings.address, sqlite_settings.index)
            first.delete(["d8", "d3"], version=2)
            replace_index(Replacement("second"), sqlite_settings)
            second = open_engine(sqlite_settings.address, "second")
            hits = [hit for part in second.scan() for hit in part]
            assert sorted(hit.id for hit in hits) == ["d0", "d1", "d2", "d4", "d5", "d6", "d7"], at
            assert all(hit.packed for hit in hits), at
            first.close()
            second.close()
            at += 1
        assert at > 5


def killed_at_write(position: int, settings: Settings) -> bool:
    """Replace an index in a process that ends right after a transaction; returns whether there were so many."""
    child = os.fork()
    if not child:
        transactions = iter(range(position))
        transaction = SqliteFile.transaction

        @contextmanager
        def deadly(file: SqliteFile) -> Iterator[None]:
            with transaction(file):
                yield
            if next(transactions, None) is None:
                os._exit(9)

        SqliteFile.transaction = deadly  # type: ignore[method-assign]
        try:
            replace_index(Replacement("second"), settings)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
