"""A new index replaces an existing one; no write in between is lost."""

import json
import time
from contextlib import closing
from types import SimpleNamespace
from typing import get_args

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.cluster.reindex import ClusterReindexTarget
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.stored_groups import Ledger
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.backfill import replace
from ibidem_workers.backfill.batch import KEYS
from ibidem_workers.backfill.replace import Replacement, replace_index
from ibidem_workers.ingest import Interruption, summary
from servers.indices import ask, remove_indices
from servers.kinds import CLUSTERS
from workers.backfill.conftest import ALIAS, FIRST, MAPPING, SECOND, Theirs, stories, story
from workers.backfill.test_run import writing
from workers.conftest import OTHER, fill


def into_second(settings: Settings, alias: str = "") -> Replacement:
    return replace_index(settings, SECOND, alias)


class TestTheirIndex:
    def test_the_alias_moves_to_a_copy_that_has_all_as_it_was_and_signatures(self, theirs: Theirs) -> None:
        theirs.make(stories(40))
        theirs.write({"t100": {"headline": "no text", "price": 1.5}})
        theirs.write({"t7": story(7, 1)})
        before = theirs.all()
        result, pruned = into_second(theirs.settings)
        assert (result.source, result.alias, pruned) == (FIRST, ALIAS, 0)
        after = theirs.all()
        assert {hit["_index"] for hit in after.values()} == {SECOND}
        fields = ("_id", "_version", "_routing")
        assert {name: [hit.get(each) for each in fields] for name, hit in after.items()} == {
            name: [hit.get(each) for each in fields] for name, hit in before.items()
        }
        assert theirs.written() == {name: json.dumps(hit["_source"]) for name, hit in before.items()}
        assert theirs.signed().keys() == before.keys() - {"t100"}
        assert not theirs.signed(FIRST)
        engine = open_engine(theirs.settings.address, SECOND)
        assert summary(engine, result.run)["refused"] == 1
        engine.close()

    def test_mapping_and_settings_are_those_of_the_first_index(self, theirs: Theirs) -> None:
        theirs.make(shards=3)
        index_settings = {"index": {"refresh_interval": "7s", "number_of_replicas": 0, "max_result_window": 20_000}}
        ask(theirs.address, "PUT", f"/{FIRST}/_settings", index_settings)
        theirs.write(stories(3))
        into_second(theirs.settings)
        definition = ask(theirs.address, "GET", f"/{SECOND}")[SECOND]
        expected = {"refresh_interval": "7s", "number_of_shards": "3", "max_result_window": "20000"}
        assert expected.items() <= definition["settings"]["index"].items()
        fields = {name: field for name, field in definition["mappings"]["properties"].items() if name != "ibidem"}
        first = ask(theirs.address, "GET", f"/{FIRST}")[FIRST]["mappings"]
        assert fields == first["properties"]
        assert definition["mappings"]["dynamic"] == "strict"

    def test_what_is_written_and_deleted_meanwhile_is_there_afterwards(self, theirs: Theirs) -> None:
        theirs.make(stories(600))
        last = stories(600)
        with writing(theirs, last) as turns:
            into_second(theirs.settings)
            swapped = len(turns)
            while len(turns) < swapped + 5:
                pass
        assert theirs.sources() == last
        assert {hit["_index"] for hit in theirs.all().values()} == {SECOND}

    def test_what_is_written_just_before_the_alias_moves_follows_and_never_over_what_came_after(
        self, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        theirs.make(stories(20))
        finish = ClusterReindexTarget.finish

        def between(self: ClusterReindexTarget, alias: str) -> None:
            theirs.write({"t3": story(3, 1), "t4": story(4, 1), "t50": story(50)})
            theirs.delete("t5")
            finish(self, alias)
            theirs.write({"t4": story(4, 2), "t51": story(51)})

        monkeypatch.setattr(ClusterReindexTarget, "finish", between)
        into_second(theirs.settings)
        expected = {name: source for name, source in stories(20).items() if name != "t5"}
        expected |= {"t3": story(3, 1), "t4": story(4, 2), "t50": story(50), "t51": story(51)}
        assert theirs.sources() == expected
        assert {"t3", "t50"} <= theirs.signed().keys()

    def test_what_was_on_its_way_when_the_alias_moved_is_taken_over(
        self, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        theirs.make(stories(20))
        on_its_way = [story(50)]

        def arrives(_: float) -> None:
            if on_its_way:
                ask(theirs.address, "PUT", f"/{FIRST}/_doc/t50?refresh=true", on_its_way.pop())

        monkeypatch.setattr(replace, "time", SimpleNamespace(time=time.time, sleep=arrives))
        into_second(theirs.settings)
        assert theirs.sources() == stories(20) | {"t50": story(50)}
        assert {hit["_index"] for hit in theirs.all().values()} == {SECOND}

    def test_a_run_that_was_stopped_goes_on_at_any_point(self, theirs: Theirs, monkeypatch: pytest.MonkeyPatch) -> None:
        theirs.make(stories(700))

        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(Interruption):
            replace_index(theirs.settings, SECOND, report=stop)
        theirs.write({"t3": story(3, 1)})
        theirs.delete("t4")
        with monkeypatch.context() as patch:
            patch.setattr(ClusterReindexTarget, "take_late", stop)
            patch.setattr(ClusterReindexTarget, "finish", stop)
            with pytest.raises(KeyboardInterrupt):
                into_second(theirs.settings)
        theirs.write({"t5": story(5, 1)})
        into_second(theirs.settings)
        expected = {name: source for name, source in stories(700).items() if name != "t4"}
        assert theirs.sources() == expected | {"t3": story(3, 1), "t5": story(5, 1)}
        assert len(theirs.signed()) == 699

    def test_without_an_alias_the_same_command_catches_up_and_an_alias_can_be_given(self, theirs: Theirs) -> None:
        theirs.make(stories(10))
        ask(theirs.address, "POST", "/_aliases", {"actions": [{"remove": {"index": FIRST, "alias": ALIAS}}]})
        settings = theirs.settings.changed(index=FIRST)
        assert into_second(settings)[0].alias == ""
        theirs.write({"t3": story(3, 1)}, FIRST)
        theirs.delete("t4", FIRST)
        assert into_second(settings)[1] == 1
        assert theirs.sources(SECOND) == {
            **{name: source for name, source in stories(10).items() if name != "t4"},
            "t3": story(3, 1),
        }
        with pytest.raises(UsageError, match=f"'{FIRST}' is an index, so it cannot be an alias"):
            into_second(settings, FIRST)
        assert into_second(settings, ALIAS)[0].alias == ALIAS
        assert len(theirs.all()) == 9

    def test_what_cannot_be_done_is_refused_before_anything_is(self, theirs: Theirs) -> None:
        theirs.make(stories(3))
        ask(theirs.address, "PUT", f"/{SECOND}")
        with pytest.raises(UsageError, match=f"index '{SECOND}' already exists"):
            into_second(theirs.settings)
        with pytest.raises(UsageError, match=f"'{ALIAS}' is already an alias of '{FIRST}'"):
            replace_index(theirs.settings, FIRST)
        actions = {"actions": [{"add": {"index": SECOND, "alias": ALIAS}}]}
        ask(theirs.address, "POST", "/_aliases", actions)
        with pytest.raises(UsageError, match=f"'{ALIAS}' points to several indexes: {FIRST}, {SECOND}"):
            replace_index(theirs.settings, f"{ALIAS}-3")

    # No data streams among Elasticsearch's jars in Maven.
    @pytest.mark.parametrize("theirs", CLUSTERS[:1], indirect=True)
    def test_a_data_stream_is_refused_by_name(self, theirs: Theirs) -> None:
        template = {"index_patterns": [f"{ALIAS}-stream"], "data_stream": {}, "priority": 500}
        ask(theirs.address, "PUT", f"/_index_template/{ALIAS}", template)
        ask(theirs.address, "PUT", f"/_data_stream/{ALIAS}-stream")
        try:
            with pytest.raises(UsageError, match=f"'{ALIAS}-stream' is a data stream"):
                into_second(theirs.settings.changed(index=f"{ALIAS}-stream"))
        finally:
            ask(theirs.address, "DELETE", f"/_data_stream/{ALIAS}-stream")
            ask(theirs.address, "DELETE", f"/_index_template/{ALIAS}")

    def test_pipelines_see_no_document_twice_and_are_there_afterwards(self, theirs: Theirs) -> None:
        theirs.make(stories(3), MAPPING | {"dynamic": False})
        ask(theirs.address, "PUT", f"/{FIRST}/_settings", {"index": {"default_pipeline": "no-such"}})
        into_second(theirs.settings)
        settings = ask(theirs.address, "GET", f"/{SECOND}/_settings")[SECOND]["settings"]["index"]
        assert settings["default_pipeline"] == "no-such"
        assert theirs.sources() == stories(3)


class TestOwnIndex:
    def test_a_new_table_is_put_into_use_by_a_copy_with_the_records_of_the_first_index(
        self, settings: Settings, engine: Engine, own_tables: Tables
    ) -> None:
        settings = settings.changed(tables=own_tables.folder, concurrency=1)
        fill([Document(f"d{at}", story(at)["body"]["content"]) for at in range(20)], settings)
        for ledger in get_args(Ledger):
            engine.put_records(ledger, {"a/b": {"a": "d1", "b": "d2", "word": "same"}})
        engine.put_records("runs", {KEYS: {"run": "a run in place"}})
        own_tables.use(OTHER)
        into = f"{settings.index}-2"
        try:
            result, _ = replace_index(settings, into)
            with closing(open_engine(settings.address, into)) as second:
                assert (dict(second.info().tables), second.info().documents) == ({OTHER.name: 20}, 20)
                assert OTHER.name not in engine.info().tables
                assert summary(second, result.run)["indexed"] == 20
                assert all("a/b" in dict(second.get_records(name)) for name in get_args(Ledger) if name != "groups")
                assert KEYS not in dict(second.get_records("runs"))
            own_tables.use(Table.build("en", 9_000, {"people": 9.0, "union": 10.0}, "a third"))
            with pytest.raises(UsageError, match=f"{into!r} was started with another idf table"):
                replace_index(settings, into)
        finally:
            remove_indices(settings.engine, into)
