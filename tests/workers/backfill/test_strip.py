"""Fields added by a backfill are removed again; every other byte of a document stays."""

import json
from contextlib import closing
from http.client import HTTPConnection

import pytest

from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError
from ibidem_workers.backfill.replace import replace_index
from ibidem_workers.backfill.run import backfill_in_place
from ibidem_workers.backfill.strip import STRIP_PREFIX, strip
from servers.indices import ask
from workers.backfill.conftest import ALIAS, FIRST, SECOND, Theirs, stories, story

RAW = '{ "price" : 1.50, "exact": 12345678901234567890.123456789,  "body": {"content": "\\u0070eople of grain"} }'


def raw_source(theirs: Theirs, index: str, name: str) -> str:
    with closing(HTTPConnection(theirs.address.partition("://")[2])) as connection:
        connection.request("GET", f"/{index}/_source/{name}")
        return connection.getresponse().read().decode()


class TestTheirIndex:
    def test_every_byte_that_is_not_ours_stays(self, theirs: Theirs) -> None:
        theirs.make(mapping={"dynamic": False, "properties": {}})
        ask(theirs.address, "PUT", f"/{FIRST}/_doc/t1?refresh=true", RAW)
        settings = theirs.settings.changed(fields="text=body.content,meta=")
        replace_index(settings, SECOND)
        assert '"ibidem"' in raw_source(theirs, SECOND, "t1")
        strip(settings.changed(index=SECOND))
        assert raw_source(theirs, SECOND, "t1") == RAW

    def test_a_dry_run_counts_and_writes_nothing(self, theirs: Theirs) -> None:
        theirs.make(stories(10))
        backfill_in_place(theirs.settings)
        theirs.write({"t50": story(50)})
        before = theirs.all()
        result = strip(theirs.settings, dry=True)
        assert (result.read, result.stripped) == (11, 10)
        values = [hit["_source"]["ibidem"] for hit in before.values() if "ibidem" in hit["_source"]]
        assert result.bytes == pytest.approx(sum(len(json.dumps(each)) for each in values), rel=0.1)
        assert theirs.all() == before

    def test_the_index_says_nothing_of_ibidem_and_can_be_signed_again(self, theirs: Theirs) -> None:
        theirs.make(stories(10), {"_meta": {"owner": "desk"}, "properties": {}})
        backfill_in_place(theirs.settings)
        strip(theirs.settings)
        (mapping,) = ask(theirs.address, "GET", f"/{FIRST}/_mapping").values()
        assert mapping["mappings"]["_meta"] == {"owner": "desk"}
        backfill_in_place(theirs.settings)
        assert len(theirs.signed()) == 10

    def test_documents_do_not_pass_through_a_pipeline(self, theirs: Theirs) -> None:
        pipeline = f"{ALIAS}-stamp"
        fails = {"pipeline": {"name": "nowhere"}}
        steps = {"processors": [fails] if "opensearch" in theirs.address else []}  # the bare server has no processors
        ask(theirs.address, "PUT", f"/_ingest/pipeline/{pipeline}", steps)
        theirs.make(stories(5))
        before = theirs.sources()
        backfill_in_place(theirs.settings)
        try:
            pipelines(theirs, default_pipeline=pipeline)
            assert strip(theirs.settings).refused == 0
            assert theirs.sources() == before
            pipelines(theirs, default_pipeline="_none", final_pipeline=pipeline)
            with pytest.raises(UsageError, match="final pipeline"):
                strip(theirs.settings)
        finally:
            pipelines(theirs, default_pipeline="_none", final_pipeline="_none")
            ask(theirs.address, "DELETE", f"/_ingest/pipeline/{pipeline}")

    def test_a_new_index_has_all_but_the_fields_of_ibidem_and_the_alias(self, theirs: Theirs) -> None:
        theirs.make(stories(40))
        before = theirs.sources()
        (mapping,) = ask(theirs.address, "GET", f"/{FIRST}/_mapping").values()
        backfill_in_place(theirs.settings)
        result = strip(theirs.settings, into=SECOND)
        assert (result.stripped, result.alias, result.pruned) == (40, ALIAS, 0)
        assert {hit["_index"] for hit in theirs.all().values()} == {SECOND}
        assert {name: hit["_source"] for name, hit in theirs.all().items()} == before
        (definition,) = ask(theirs.address, "GET", f"/{SECOND}/_mapping").values()
        assert definition["mappings"]["properties"] == mapping["mappings"]["properties"]
        assert "ibidem" not in json.dumps(definition["mappings"])
        assert len(theirs.signed(FIRST)) == 40

    def test_a_new_index_that_was_left_half_filled_is_filled_and_a_strange_one_is_refused(self, theirs: Theirs) -> None:
        theirs.make(stories(10))
        backfill_in_place(theirs.settings)
        ask(theirs.address, "PUT", f"/{SECOND}")
        with pytest.raises(UsageError, match="already exists"):
            strip(theirs.settings, into=SECOND)
        engine = open_engine(theirs.settings.address, theirs.settings.index)
        engine.put_records("runs", {STRIP_PREFIX + SECOND: {"into": SECOND}})
        engine.close()
        assert strip(theirs.settings, into=SECOND).read == 10
        assert len(theirs.all(SECOND)) == 10

    def test_records_go_when_that_is_asked(self, theirs: Theirs) -> None:
        theirs.make(stories(3))
        backfill_in_place(theirs.settings)
        strip(theirs.settings)
        assert ask(theirs.address, "GET", f"/.ibidem-{FIRST}*?expand_wildcards=all")
        strip(theirs.settings, records=True)
        assert not ask(theirs.address, "GET", f"/.ibidem-{FIRST}*?expand_wildcards=all")


def pipelines(theirs: Theirs, **settings: str) -> None:
    ask(theirs.address, "PUT", f"/{FIRST}/_settings", {"index": settings})
