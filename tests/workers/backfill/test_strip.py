"""Fields added by a backfill are removed again; every other byte of a document stays."""

import json
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from ibidem_engines.connect import open_engine
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_workers.backfill.replace import Replacement, replace_index
from ibidem_workers.backfill.run import backfill_in_place
from ibidem_workers.backfill.strip import NOTE, StripRequest, strip
from ibidem_workers.ingest import ingest_documents
from ibidem_workers.settings import Settings
from servers.indices import ask
from workers.backfill.conftest import ALIAS, FIRST, SECOND, Theirs, stories, story

RAW = '{ "price" : 1.50, "exact": 12345678901234567890.123456789,  "body": {"content": "\\u0070eople of grain"} }'


def raw_source(theirs: Theirs, index: str, name: str) -> str:
    with closing(HTTPConnection(theirs.address.partition("://")[2])) as connection:
        connection.request("GET", f"/{index}/_source/{name}")
        return connection.getresponse().read().decode()


class TestTheirIndex:
    def test_in_place_all_is_as_it_was_before_the_backfill(self, theirs: Theirs, at_theirs: Settings) -> None:
        theirs.make()
        theirs.write(stories(40))
        before = theirs.all()
        backfill_in_place(at_theirs)
        assert len(theirs.signed()) == 40
        result = strip(StripRequest(), at_theirs)
        assert (result.read, result.stripped, result.left, result.refused) == (40, 40, 0, 0)
        after = theirs.all()
        assert {name: json.dumps(hit["_source"]) for name, hit in after.items()} == {
            name: json.dumps(hit["_source"]) for name, hit in before.items()
        }
        assert {name: hit.get("_routing") for name, hit in after.items()} == {
            name: hit.get("_routing") for name, hit in before.items()
        }

    def test_every_byte_that_is_not_ours_stays(self, theirs: Theirs, at_theirs: Settings) -> None:
        theirs.make({"dynamic": False, "properties": {}})
        ask(theirs.address, "PUT", f"/{FIRST}/_doc/t1?refresh=true", RAW)
        settings = at_theirs.changed(fields="text=body.content,meta=")
        replace_index(Replacement(SECOND), settings)
        assert '"ibidem"' in raw_source(theirs, SECOND, "t1")
        strip(StripRequest(), settings.changed(index=SECOND))
        assert raw_source(theirs, SECOND, "t1") == RAW

    def test_a_second_time_writes_nothing(self, theirs: Theirs, at_theirs: Settings) -> None:
        theirs.make()
        theirs.write(stories(10))
        backfill_in_place(at_theirs)
        strip(StripRequest(), at_theirs)
        versions = {name: hit["_version"] for name, hit in theirs.all().items()}
        result = strip(StripRequest(), at_theirs)
        assert (result.read, result.stripped) == (10, 0)
        assert {name: hit["_version"] for name, hit in theirs.all().items()} == versions

    def test_a_dry_run_counts_and_writes_nothing(self, theirs: Theirs, at_theirs: Settings) -> None:
        theirs.make()
        theirs.write(stories(10))
        backfill_in_place(at_theirs)
        theirs.write({"t50": story(50)})
        before = theirs.all()
        result = strip(StripRequest(dry=True), at_theirs)
        assert (result.read, result.stripped) == (11, 10)
        signed = [hit["_source"]["ibidem"] for hit in before.values() if "ibidem" in hit["_source"]]
        assert result.bytes == pytest.approx(sum(len(json.dumps(each)) for each in signed), rel=0.1)
        assert theirs.all() == before

    def test_the_index_says_nothing_of_ibidem_and_can_be_signed_again(
        self, theirs: Theirs, at_theirs: Settings
    ) -> None:
        theirs.make({"_meta": {"owner": "desk"}, "properties": {}})
        theirs.write(stories(10))
        backfill_in_place(at_theirs)
        strip(StripRequest(), at_theirs)
        (mapping,) = ask(theirs.address, "GET", f"/{FIRST}/_mapping").values()
        assert mapping["mappings"]["_meta"] == {"owner": "desk"}
        backfill_in_place(at_theirs)
        assert len(theirs.signed()) == 10

    def test_documents_do_not_pass_through_a_pipeline(self, theirs: Theirs, at_theirs: Settings) -> None:
        pipeline = f"{ALIAS}-stamp"
        fails = {"pipeline": {"name": "nowhere"}}
        steps = {"processors": [fails] if "opensearch" in theirs.address else []}  # the bare server has no processors
        ask(theirs.address, "PUT", f"/_ingest/pipeline/{pipeline}", json.dumps(steps))
        theirs.make()
        theirs.write(stories(5))
        before = theirs.sources()
        backfill_in_place(at_theirs)
        try:
            pipelines(theirs, default_pipeline=pipeline)
            assert strip(StripRequest(), at_theirs).refused == 0
            assert theirs.sources() == before
            pipelines(theirs, default_pipeline="_none", final_pipeline=pipeline)
            with pytest.raises(UsageError, match="final pipeline"):
                strip(StripRequest(), at_theirs)
        finally:
            pipelines(theirs, default_pipeline="_none", final_pipeline="_none")
            ask(theirs.address, "DELETE", f"/_ingest/pipeline/{pipeline}")

    def test_a_new_index_has_all_but_the_fields_of_ibidem_and_the_alias(
        self, theirs: Theirs, at_theirs: Settings
    ) -> None:
        theirs.make()
        theirs.write(stories(40))
        before = theirs.sources()
        (mapping,) = ask(theirs.address, "GET", f"/{FIRST}/_mapping").values()
        backfill_in_place(at_theirs)
        result = strip(StripRequest(into=SECOND), at_theirs)
        assert (result.stripped, result.alias, result.pruned) == (40, ALIAS, 0)
        assert {hit["_index"] for hit in theirs.all().values()} == {SECOND}
        assert {name: hit["_source"] for name, hit in theirs.all().items()} == before
        (definition,) = ask(theirs.address, "GET", f"/{SECOND}/_mapping").values()
        assert definition["mappings"]["properties"] == mapping["mappings"]["properties"]
        assert "ibidem" not in json.dumps(definition["mappings"])
        assert len(theirs.signed(FIRST)) == 40

    def test_a_new_index_that_was_left_half_filled_is_filled_and_a_strange_one_is_refused(
        self, theirs: Theirs, at_theirs: Settings
    ) -> None:
        theirs.make()
        theirs.write(stories(10))
        backfill_in_place(at_theirs)
        ask(theirs.address, "PUT", f"/{SECOND}")
        with pytest.raises(UsageError, match="there already"):
            strip(StripRequest(into=SECOND), at_theirs)
        engine = open_engine(at_theirs.address, at_theirs.index)
        engine.put_records("runs", {NOTE + SECOND: {"into": SECOND}})
        engine.close()
        assert strip(StripRequest(into=SECOND), at_theirs).read == 10
        assert len(theirs.all(SECOND)) == 10

    def test_records_go_when_that_is_asked(self, theirs: Theirs, at_theirs: Settings) -> None:
        theirs.make()
        theirs.write(stories(3))
        backfill_in_place(at_theirs)
        strip(StripRequest(), at_theirs)
        assert ask(theirs.address, "GET", f"/{ALIAS}-ibidem-*?expand_wildcards=all")
        strip(StripRequest(records=True), at_theirs)
        assert not ask(theirs.address, "GET", f"/{ALIAS}-ibidem-*?expand_wildcards=all")


def pipelines(theirs: Theirs, **settings: str) -> None:
    ask(theirs.address, "PUT", f"/{FIRST}/_settings", json.dumps({"index": settings}))


@pytest.mark.slow
@pytest.mark.parametrize("into", ["", "plain"])
def test_an_index_in_sqlite_keeps_its_documents_and_loses_its_signatures(
    tmp_path: Path, tables_folder: Path, into: str
) -> None:
    address = f"sqlite:///{tmp_path / 'index.sqlite'}"
    broker = f"filesystem:///{tmp_path / 'queue'}"
    settings = Settings(engine=address, broker=broker, tables=tables_folder, concurrency=1)
    documents = [Document(f"d{number}", "the export duty on grain " * 30, title="Duty") for number in range(3)]
    ingest_documents(documents, settings)
    result = strip(StripRequest(into=into, records=True), settings)
    assert (result.read, result.stripped, result.left) == (3, 3, 0)
    index = into or settings.index
    engine = open_engine(address, index)
    info = engine.info()
    assert (info.documents, info.unsigned) == (3, 3)
    stored = engine.fetch([(index, document.id) for document in documents])
    assert [(each.document.text, each.document.title) for each in stored] == [(d.text, d.title) for d in documents]
    assert not list(engine.get_records("runs"))
    backfill_in_place(settings.changed(index=index))
    assert engine.info().unsigned == 0
    engine.close()
