"""Fields added by a backfill are removed again; every other byte of a document stays."""

import json
from contextlib import closing
from http.client import HTTPConnection

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError
from ibidem_workers.backfill.replace import Replacement, replace_index
from ibidem_workers.backfill.run import backfill_in_place
from ibidem_workers.backfill.strip import STRIP_PREFIX, strip
from servers.indices import ask
from workers.backfill.conftest import ALIAS, FIRST, SECOND, Theirs, stories, story

RAW = '{ "price" : 1.50, "exact": 12345678901234567890.123456789,  "body": {"content": "\\u0070eople of grain"} }'


def raw_source(foreign_index: Theirs, index: str, name: str) -> str:
    with closing(HTTPConnection(foreign_index.address.partition("://")[2])) as connection:
        connection.request("GET", f"/{index}/_source/{name}")
        return connection.getresponse().read().decode()


class TestTheirIndex:
    def test_every_byte_that_is_not_ours_stays(self, foreign_index: Theirs, foreign_settings: Settings) -> None:
        foreign_index.make({"dynamic": False, "properties": {}})
        ask(foreign_index.address, "PUT", f"/{FIRST}/_doc/t1?refresh=true", RAW)
        settings = foreign_settings.changed(fields="text=body.content,meta=")
        replace_index(Replacement(SECOND), settings)
        assert '"ibidem"' in raw_source(foreign_index, SECOND, "t1")
        strip(settings.changed(index=SECOND))
        assert raw_source(foreign_index, SECOND, "t1") == RAW

    def test_a_dry_run_counts_and_writes_nothing(self, foreign_index: Theirs, foreign_settings: Settings) -> None:
        foreign_index.make()
        foreign_index.write(stories(10))
        backfill_in_place(foreign_settings)
        foreign_index.write({"t50": story(50)})
        before = foreign_index.all()
        result = strip(foreign_settings, dry=True)
        assert (result.read, result.stripped) == (11, 10)
        values = [hit["_source"]["ibidem"] for hit in before.values() if "ibidem" in hit["_source"]]
        assert result.bytes == pytest.approx(sum(len(json.dumps(each)) for each in values), rel=0.1)
        assert foreign_index.all() == before

    def test_the_index_says_nothing_of_ibidem_and_can_be_signed_again(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make({"_meta": {"owner": "desk"}, "properties": {}})
        foreign_index.write(stories(10))
        backfill_in_place(foreign_settings)
        strip(foreign_settings)
        (mapping,) = ask(foreign_index.address, "GET", f"/{FIRST}/_mapping").values()
        assert mapping["mappings"]["_meta"] == {"owner": "desk"}
        backfill_in_place(foreign_settings)
        assert len(foreign_index.signed()) == 10

    def test_documents_do_not_pass_through_a_pipeline(self, foreign_index: Theirs, foreign_settings: Settings) -> None:
        pipeline = f"{ALIAS}-stamp"
        fails = {"pipeline": {"name": "nowhere"}}
        steps = {
            "processors": [fails] if "opensearch" in foreign_index.address else []
        }  # the bare server has no processors
        ask(foreign_index.address, "PUT", f"/_ingest/pipeline/{pipeline}", json.dumps(steps))
        foreign_index.make()
        foreign_index.write(stories(5))
        before = foreign_index.sources()
        backfill_in_place(foreign_settings)
        try:
            pipelines(foreign_index, default_pipeline=pipeline)
            assert strip(foreign_settings).refused == 0
            assert foreign_index.sources() == before
            pipelines(foreign_index, default_pipeline="_none", final_pipeline=pipeline)
            with pytest.raises(UsageError, match="final pipeline"):
                strip(foreign_settings)
        finally:
            pipelines(foreign_index, default_pipeline="_none", final_pipeline="_none")
            ask(foreign_index.address, "DELETE", f"/_ingest/pipeline/{pipeline}")

    def test_a_new_index_has_all_but_the_fields_of_ibidem_and_the_alias(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(40))
        before = foreign_index.sources()
        (mapping,) = ask(foreign_index.address, "GET", f"/{FIRST}/_mapping").values()
        backfill_in_place(foreign_settings)
        result = strip(foreign_settings, into=SECOND)
        assert (result.stripped, result.alias, result.pruned) == (40, ALIAS, 0)
        assert {hit["_index"] for hit in foreign_index.all().values()} == {SECOND}
        assert {name: hit["_source"] for name, hit in foreign_index.all().items()} == before
        (definition,) = ask(foreign_index.address, "GET", f"/{SECOND}/_mapping").values()
        assert definition["mappings"]["properties"] == mapping["mappings"]["properties"]
        assert "ibidem" not in json.dumps(definition["mappings"])
        assert len(foreign_index.signed(FIRST)) == 40

    def test_a_new_index_that_was_left_half_filled_is_filled_and_a_strange_one_is_refused(
        self, foreign_index: Theirs, foreign_settings: Settings
    ) -> None:
        foreign_index.make()
        foreign_index.write(stories(10))
        backfill_in_place(foreign_settings)
        ask(foreign_index.address, "PUT", f"/{SECOND}")
        with pytest.raises(UsageError, match="already exists"):
            strip(foreign_settings, into=SECOND)
        engine = open_engine(foreign_settings.address, foreign_settings.index)
        engine.put_records("runs", {STRIP_PREFIX + SECOND: {"into": SECOND}})
        engine.close()
        assert strip(foreign_settings, into=SECOND).read == 10
        assert len(foreign_index.all(SECOND)) == 10

    def test_records_go_when_that_is_asked(self, foreign_index: Theirs, foreign_settings: Settings) -> None:
        foreign_index.make()
        foreign_index.write(stories(3))
        backfill_in_place(foreign_settings)
        strip(foreign_settings)
        assert ask(foreign_index.address, "GET", f"/.ibidem-{FIRST}*?expand_wildcards=all")
        strip(foreign_settings, records=True)
        assert not ask(foreign_index.address, "GET", f"/.ibidem-{FIRST}*?expand_wildcards=all")


def pipelines(foreign_index: Theirs, **settings: str) -> None:
    ask(foreign_index.address, "PUT", f"/{FIRST}/_settings", json.dumps({"index": settings}))
