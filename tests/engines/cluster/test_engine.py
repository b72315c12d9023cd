"""The cluster engines cope with failures of servers and networks, and with existing indexes."""

import json
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ibidem.index.deletion import clear_tombstones
from ibidem_core.errors import EngineError, Permanent, Unavailable
from ibidem_engines.cluster.engine import ClusterEngine
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record, SignatureLookup, WriteStatus
from ibidem_engines.query import Filter, Query, parse_query
from ibidem_engines.stored_groups import SeqNoRange
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from ibidem_ingest.signatures.schema import SCHEMA
from servers.fake_server import CERTIFICATE, Answer, Plan, Request, between
from servers.indices import ask, empty_indices, remove_indices
from servers.kinds import CLUSTERS
from servers.process import free_ports
from support.signed_records import make_record

INDEX = "faults"
GRAIN = parse_query("grain")
VERSIONS = {"opensearch": "2.18.0", "elasticsearch": "7.17.0"}


@pytest.fixture(params=CLUSTERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def address(request: pytest.FixtureRequest, kind: str, tidy: set[tuple[str, str]]) -> str:
    """A server whose index is there, empty, and open to writing; the index of others is not there."""
    address: str = request.getfixturevalue(kind)
    tidy |= {(address, INDEX), (address, "theirs")}
    remove_indices(address, "theirs")
    engine = open_engine(address, INDEX)
    engine.create()
    engine.close()
    for name in ("write", "read_only_allow_delete"):  # OpenSearch lifts one at a time
        block(address, name, on=None)
    empty_indices(address, INDEX)
    return address


def at(address: str, index: str = INDEX) -> ClusterEngine:
    """An engine that asks again without waiting."""
    engine = open_engine(address, index)
    assert isinstance(engine, ClusterEngine)
    engine._cluster.waits = (0.0, 0.0)
    return engine


def make_records(count: int, version: int = 1) -> list[Record]:
    return [make_record(f"d{number}", version=version) for number in range(count)]


def fates(engine: Engine, records: list[Record]) -> list[WriteStatus]:
    return [outcome.status for outcome in engine.write(records)]


def find_ids(engine: Engine, query: Query = GRAIN) -> list[str]:
    engine.refresh()
    return [hit.id for hit in engine.search(query, 100).hits]


def first(times: int, path: str, answer: Answer) -> Plan:
    """A plan that answers the first requests to a path; the rest pass."""
    left = [answer] * times
    return lambda request: left.pop() if left and path in request.path else None


def meanwhile(*acts: Callable[[], object]) -> Plan:
    """A plan by which others act just before each of the first bulk requests; all requests pass."""
    left = list(acts)

    def plan(request: Request) -> None:
        if "_bulk" in request.path and left:
            left.pop(0)()

    return plan


class TestServerAway:
    def test_at_the_start_is_unavailable_and_says_where_it_was_looked_for(self, kind: str) -> None:
        (port,) = free_ports(1)
        with pytest.raises(Unavailable, match=rf"127.0.0.1:{port}: it does not answer.*IBIDEM_ENGINE"):
            at(f"{kind}+http://127.0.0.1:{port}").info()

    @pytest.mark.parametrize("path", ["_bulk", "_search"])
    def test_for_a_moment_loses_nothing(self, address: str, kind: str, path: str) -> None:
        with between(address, first(2, path, Answer(0))) as server:
            engine = at(server.address(kind))
            assert fates(engine, make_records(3)) == [WriteStatus.INDEXED] * 3
            assert find_ids(engine) == ["d0", "d1", "d2"]

    def test_with_the_answer_lost_what_was_written_counts_as_written_once(self, address: str, kind: str) -> None:
        with between(address, first(1, "_bulk", Answer(0, passed=True))) as server:
            outcomes = at(server.address(kind)).write(make_records(3))
        assert [outcome.status for outcome in outcomes] == [WriteStatus.INDEXED] * 3
        engine = at(address)
        engine.refresh()
        assert [[hit.order for hit in part] for part in engine.scan()] == [[outcome.order for outcome in outcomes]]

    def test_with_the_answer_lost_a_record_that_took_the_place_of_another_counts_as_written(
        self, address: str, kind: str
    ) -> None:
        state = at(address).replace_record("runs", "a", {"at": [1]}, None)
        with between(address, first(1, "_bulk", Answer(0, passed=True))) as server:
            state = at(server.address(kind)).replace_record("runs", "a", {"at": (2,)}, state)
        assert state is not None
        assert at(address).read_record("runs", "a") == ({"at": [2]}, state)

    def test_for_long_is_unavailable_and_the_same_batch_succeeds_later(self, address: str, kind: str) -> None:
        with between(
            address, lambda request: Answer(0) if re.search("_bulk|_search", request.path) else None
        ) as server:
            with pytest.raises(Unavailable):
                at(server.address(kind)).write(make_records(3))
            with pytest.raises(Unavailable):
                at(server.address(kind)).search(GRAIN, 10)
        assert fates(at(address), make_records(3)) == [WriteStatus.INDEXED] * 3


class TestServerBusy:
    def test_a_refused_bulk_is_sent_again(self, address: str, kind: str) -> None:
        busy = Answer(429, {"error": {"type": "circuit_breaking_exception", "reason": "Data too large"}, "status": 429})
        with between(address, first(2, "_bulk", busy)) as server:
            assert fates(at(server.address(kind)), make_records(2)) == [WriteStatus.INDEXED] * 2

    def test_only_the_documents_that_found_it_busy_are_sent_again(self, address: str, kind: str) -> None:
        rejected = {"type": "es_rejected_execution_exception", "reason": "queue is full"}

        counts: list[int] = []

        def half(request: Request) -> Answer | None:
            if "_bulk" not in request.path:
                return None
            counts.append(request.body.count(b'"create"'))
            if len(counts) > 1:
                return None
            lines = request.body.splitlines(keepends=True)
            ask(address, "POST", "/_bulk", b"".join(lines[:2]).decode())
            items = [{"status": 201, "_seq_no": 0, "_primary_term": 1}, {"status": 429, "error": rejected}]
            return Answer(200, {"errors": True, "items": [{"create": item} for item in items]})

        with between(address, half) as server:
            assert fates(at(server.address(kind)), make_records(2)) == [WriteStatus.INDEXED] * 2
        assert counts == [2, 1]
        assert find_ids(at(address)) == ["d0", "d1"]

    def test_busy_for_long_is_unavailable(self, address: str, kind: str) -> None:
        with (
            between(address, first(99, "_bulk", Answer(429, {"error": "busy", "status": 429}))) as server,
            pytest.raises(Unavailable, match="overloaded"),
        ):
            at(server.address(kind)).write(make_records(1))


class TestTooLarge:
    def test_a_request_over_the_servers_limit_is_cut_and_a_document_over_it_is_refused_alone(
        self, address: str, kind: str
    ) -> None:
        too_large = Answer(413, {"error": "too large"})
        long = make_record("long", "grain " * 3_000)
        with between(address, lambda request: too_large if len(request.body) > 9_000 else None) as server:
            outcomes = at(server.address(kind)).write([*make_records(7), long])
        assert [each.status for each in outcomes] == [*[WriteStatus.INDEXED] * 7, WriteStatus.REFUSED]
        assert "more than the server accepts" in outcomes[7].why
        assert len(find_ids(at(address))) == 7


class TestIndexState:
    def test_a_red_index_is_unavailable_for_reading_and_writing(self, address: str, kind: str) -> None:
        nowhere = {"index.routing.allocation.require._name": "nowhere", "number_of_replicas": 0}
        metadata = {"_meta": {"ibidem": {"schema": SCHEMA, "layout": "full"}}}
        body = json.dumps({"settings": nowhere, "mappings": metadata})
        ask(address, "PUT", "/theirs?wait_for_active_shards=0&timeout=1s", body)
        engine = at(address, "theirs")
        with pytest.raises(Unavailable, match="health is red"):
            engine.search(GRAIN, 10)
        with pytest.raises(Unavailable, match="health is red"):
            engine.write(make_records(1))

    def test_a_full_disk_is_unavailable_and_nothing_is_lost(self, address: str) -> None:
        engine = at(address)
        engine.write(make_records(1))
        block(address, "read_only_allow_delete")
        with pytest.raises(Unavailable, match=r"disk is almost full.*free space"):
            engine.write(make_records(3))
        block(address, "read_only_allow_delete", on=None)
        assert fates(engine, make_records(3)) == [WriteStatus.UNCHANGED, WriteStatus.INDEXED, WriteStatus.INDEXED]

    def test_an_index_closed_to_writing_says_which_block_to_lift(self, address: str) -> None:
        block(address, "write")
        with pytest.raises(Permanent, match=r"closed to writing.*index\.blocks\.write"):
            at(address).write(make_records(1))

    def test_a_mapping_conflict_refuses_that_document_and_no_other(self, address: str) -> None:
        make_foreign_index(address, {"pages": {"type": "long"}})
        engine = at(f"{address}/?fields=text=body,meta=", "theirs")
        engine.create()
        good, bad = make_record("good", meta={"pages": 3}), make_record("bad", meta={"pages": "many"})
        outcomes = engine.write([bad, good])
        assert [outcome.status for outcome in outcomes] == [WriteStatus.REFUSED, WriteStatus.INDEXED]
        assert (outcomes[0].field, "long" in outcomes[0].why) == ("pages", True)
        assert find_ids(engine) == ["good"]


def block(address: str, name: str, *, on: bool | None = True) -> None:
    ask(address, "PUT", f"/{INDEX}/_settings", json.dumps({f"index.blocks.{name}": on}))


def make_foreign_index(address: str, properties: dict[str, object], name: str = "theirs", **settings: object) -> None:
    """An index that others have made and filled."""
    properties = {"headline": {"type": "text"}, "body": {"type": "text"}, **properties}
    ask(address, "PUT", f"/{name}", json.dumps({"settings": settings, "mappings": {"properties": properties}}))


def fill(address: str, *documents: dict[str, object], name: str = "theirs") -> None:
    lines = [line for number, each in enumerate(documents) for line in ({"index": {"_id": f"t{number}"}}, each)]
    ask(address, "POST", f"/{name}/_bulk?refresh=true", "".join(json.dumps(line) + "\n" for line in lines))


class TestForeignIndex:
    def test_no_plain_text_is_written_where_it_would_be_read_as_markup(self, address: str) -> None:
        engine = at(f"{address}/?fields=text=html:text", "theirs")
        engine.create()
        (outcome,) = engine.write([make_record("new", "a<b and c>d")])
        assert (outcome.status, outcome.field, "backfill" in outcome.why) == (WriteStatus.REFUSED, "text", True)

    def test_without_our_fields_it_is_searched_and_everything_is_unsigned(self, address: str, kind: str) -> None:
        make_foreign_index(address, {})
        fill(address, {"headline": "Grain", "body": "rose"}, {"body": "grain fell", "place": "Chicago"})
        with between(address) as server:
            engine = at(f"{server.address(kind)}/?fields=title=headline,text=body,meta=", "theirs")
            ranking = engine.search(GRAIN, 10)
            assert sum(bool(re.search("_m?search", each.path.partition("?")[0])) for each in server.asked) == 1
        assert {(hit.index, hit.id, hit.packed) for hit in ranking.hits} == {
            ("theirs", f"t{at}", None) for at in (0, 1)
        }
        info = engine.info()
        assert (info.documents, info.unsigned, list(info.schema)) == (2, 2, [])
        (document,) = engine.fetch([("theirs", "t1")], GRAIN)
        assert list(document.snippets) == ["\ue000grain\ue001 fell"]
        found = document.document
        assert (found.text, found.meta, document.version) == ("grain fell", {"place": "Chicago"}, 0)
        assert [[hit.id for hit in make_records] for make_records in engine.scan()] == [["t0", "t1"]]

    def test_the_field_that_is_searched_may_be_another_than_the_one_that_is_read(self, address: str) -> None:
        read = {"type": "text", "index": False, "copy_to": "content"}
        make_foreign_index(address, {"body": read, "content": {"type": "text"}})
        html = ["<p>grain <b>ro</b>se", "&amp; f&eacute;ll</p>"]
        fill(address, {"headline": "Grain", "body": html}, {"body": "oats"})
        engine = at(f"{address}/?fields=title=headline,text=html:body,search=content,meta=", "theirs")
        assert find_ids(engine, parse_query("text:grain")) == ["t0"]
        assert list(engine.health_issues()) == []
        (document,) = engine.fetch([("theirs", "t0")], GRAIN)
        assert (document.document.text, document.document.meta) == ("grain rose & féll", {})
        assert list(document.snippets) == ["\ue000grain\ue001 rose & féll"]

    @pytest.mark.parametrize("kind", CLUSTERS[:1], indirect=True)  # no stemmers among Elasticsearch's jars in Maven
    def test_a_word_is_found_in_all_its_forms_where_the_text_has_a_sub_field_of_stems(self, address: str) -> None:
        stems = {"english": {"type": "text", "analyzer": "stems"}, "exact": {"type": "text", "analyzer": "keyword"}}
        analysis = {"analyzer": {"stems": {"tokenizer": "standard", "filter": ["lowercase", "porter_stem"]}}}
        make_foreign_index(address, {"body": {"type": "text", "fields": stems}}, analysis=analysis)
        fill(address, {"headline": "One", "body": "They elected nobody."}, {"body": "An elect few."})
        engine = at(f"{address}/?fields=title=headline,text=body,meta=", "theirs")
        found = {
            words: find_ids(engine, parse_query(words)) for words in ("electing", '"elected nobody"', '"elects nobody"')
        }
        assert sorted(found.pop("electing")) == ["t0", "t1"]
        assert found == {'"elected nobody"': ["t0"], '"elects nobody"': []}
        (document,) = engine.fetch([("theirs", "t0")], parse_query("electing"))
        assert list(document.snippets) == ["They \ue000elected\ue001 nobody."]
        named = at(f"{address}/?fields=title=headline,text=body,stemmed=body.exact,meta=", "theirs")
        assert find_ids(named, parse_query("electing")) == []
        assert [*engine.get_records("overrides"), *engine.get_records("runs")] == []

    def test_a_document_with_a_routing_of_its_own_is_read_too(self, address: str) -> None:
        make_foreign_index(address, {}, number_of_shards=5)
        for number in range(6):
            ask(address, "PUT", f"/theirs/_doc/t{number}?routing=r{number}&refresh=true", '{"body": "grain"}')
        engine = at(f"{address}/?fields=text=body,meta=", "theirs")
        names = [("theirs", f"t{number}") for number in range(7)]
        assert [document.document.id for document in engine.fetch(names)] == [f"t{number}" for number in range(6)]

    def test_only_the_object_ibidem_is_added_to_its_mapping(self, address: str) -> None:
        make_foreign_index(address, {"place": {"type": "keyword"}})
        fill(address, {"body": "grain", "place": "Chicago"})
        engine = at(f"{address}/?fields=title=headline,text=body,meta=", "theirs")
        mapping_before = mapping(address)
        engine.create()
        mapping_after = mapping(address)
        assert mapping_after["properties"].pop("ibidem")
        assert mapping_after["properties"] == mapping_before["properties"]
        assert mapping_after["_meta"]["ibidem"] == {"schema": SCHEMA, "layout": "full"}
        assert fates(engine, [make_record("mine", meta={"place": "Boston"})]) == [WriteStatus.INDEXED]
        assert sorted(find_ids(engine)) == ["mine", "t0"]
        assert find_ids(engine, replace(GRAIN, filters=(Filter("meta.place", "Boston"),))) == ["mine"]
        source = ask(address, "GET", "/theirs/_doc/mine")["_source"]
        assert sorted(source) == ["body", "ibidem", "language", "place"]

    def test_a_document_of_theirs_is_replaced_whatever_the_engines_own_version(self, address: str) -> None:
        make_foreign_index(address, {})
        engine = at(f"{address}/?fields=text=body,meta=", "theirs")
        engine.create()
        for text in ("one", "two", "three"):
            fill(address, {"body": text})
        outcomes = engine.write([make_record("t0", version=1)])
        assert (outcomes[0].status, outcomes[0].previous_version) == (WriteStatus.INDEXED, None)

    def test_an_alias_of_two_indexes_ranks_both_and_names_the_index_of_each_hit(self, address: str) -> None:
        ask(address, "POST", "/_aliases", json.dumps({"actions": [{"add": {"index": INDEX, "alias": "all"}}]}))
        make_foreign_index(address, {"text": {"type": "text"}})
        ask(address, "POST", "/_aliases", json.dumps({"actions": [{"add": {"index": "theirs", "alias": "all"}}]}))
        fill(address, {"text": "grain"})
        engine_here = at(address)
        engine_here.write(make_records(1))
        engine_here.refresh()
        ranking = at(address, "all").search(GRAIN, 10)
        assert {(hit.index, hit.id, hit.packed is None) for hit in ranking.hits} == {
            (INDEX, "d0", False),
            ("theirs", "t0", True),
        }

    @pytest.mark.parametrize("kind", CLUSTERS[:1], indirect=True)
    def test_a_default_search_pipeline_changes_nothing_of_what_is_read(self, address: str) -> None:
        nothing = {"request_processors": [{"filter_query": {"query": {"match_none": {}}}}]}
        ask(address, "PUT", "/_search/pipeline/none-left", json.dumps(nothing))
        default = {"index.search.default_pipeline": "none-left"}
        try:
            ask(address, "PUT", f"/{INDEX}/_settings", json.dumps(default))
            engine = at(address)
            engine.write(make_records(3))
            engine.refresh()
            assert not ask(address, "POST", f"/{INDEX}/_search")["hits"]["hits"]
            names = {f"d{at}" for at in range(3)}
            assert {hit.id for hit in engine.search(GRAIN, 10).hits} == names
            assert {hit.id for slice_ in engine.scan() for hit in slice_} == names
            hits = [hit for slice_ in engine.scan() for hit in slice_]
            lookup = SignatureLookup({"content": lookup_keys([hits[0].packed])[0]["content"]})
            assert engine.find([lookup])[0].hits
            assert engine.info().documents == 3
            held_there = engine.reindex_source()
            everything = [SeqNoRange(part, 0, newest) for part, newest in held_there.newest().items()]
            assert [name.id for each in everything for name in held_there.names(each, 10)] == sorted(names)
            assert engine.groups().counts().documents == 3
        finally:
            ask(address, "PUT", f"/{INDEX}/_settings", json.dumps(dict.fromkeys(default)))
            ask(address, "DELETE", "/_search/pipeline/none-left")


def mapping(address: str) -> dict[str, dict[str, object]]:
    mappings: dict[str, dict[str, object]] = ask(address, "GET", "/theirs/_mapping")["theirs"]["mappings"]
    return mappings


class TestWrongServer:
    def test_a_certificate_that_no_authority_signed_is_permanent(self, kind: str) -> None:
        with between(tls=True) as server, pytest.raises(Permanent, match=r"certificate cannot be verified.*\?ca=FILE"):
            at(server.address(kind, "https")).info()

    def test_a_certificate_is_verified_by_the_file_that_is_named(self, address: str, kind: str) -> None:
        with between(address, tls=True) as server:
            assert at(f"{server.address(kind, 'https')}/?ca={CERTIFICATE}").info().exists

    def test_a_server_that_is_too_old_is_named_with_its_version(self, kind: str) -> None:
        distribution = {"distribution": kind} if kind == "opensearch" else {}
        answer, message = Answer(200, {"version": {"number": VERSIONS[kind], **distribution}}), "is not supported"
        with between(plan=lambda _: answer) as server, pytest.raises(Permanent, match=f"{VERSIONS[kind]} {message}"):
            at(server.address(kind)).info()

    def test_a_server_of_the_other_kind_is_named(self, address: str, kind: str) -> None:
        other = {"opensearch": "elasticsearch", "elasticsearch": "opensearch"}[kind]
        wrong = address.replace(kind, other)
        if kind == "opensearch":
            with pytest.raises(Permanent, match=r"it is not Elasticsearch.*opensearch\+http"):
                at(wrong).info()
        else:
            plan = first(1, "/", Answer(200, {"version": {"number": "9.5.3", "build_flavor": "default"}}))
            message = "it is elasticsearch, not OpenSearch"
            with between(address, plan) as server, pytest.raises(Permanent, match=message):
                at(server.address(other)).info()

    @pytest.mark.parametrize(
        ("status", "error", "message"), [(200, Permanent, "its answer is not JSON"), (503, Unavailable, "status 503")]
    )
    def test_a_page_of_a_proxy_that_is_called_json_is_judged_by_its_status(
        self, kind: str, status: int, error: type[EngineError], message: str
    ) -> None:
        """Workers of Elasticsearch had ended by it."""
        page = Answer(status, b"<html><body>503 Service Unavailable</body></html>")
        with between(plan=lambda _: page) as server, pytest.raises(error, match=message):
            at(server.address(kind)).info()


class TestOtherWriters:
    def test_of_many_writers_of_one_document_the_newest_version_stays(self, address: str) -> None:
        engines = [at(address) for _ in range(4)]
        outcomes: list[WriteStatus] = []

        def write(engine: Engine, version: int) -> None:
            outcomes.extend(fates(engine, [make_record("d", f"grain number {version}", version)]))

        writers = [threading.Thread(target=write, args=(engine, version)) for version, engine in enumerate(engines, 1)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert set(outcomes) <= {WriteStatus.INDEXED, WriteStatus.STALE}
        engines[0].refresh()
        assert engines[0].fetch([(INDEX, "d")])[0].version == 4

    def test_a_deletion_that_comes_between_reading_and_writing_is_not_undone(self, address: str, kind: str) -> None:
        with between(address, meanwhile(lambda: at(address).delete(["d0"], 5))) as server:
            outcomes = at(server.address(kind)).write(make_records(2))
        assert [outcome.status for outcome in outcomes] == [WriteStatus.STALE, WriteStatus.INDEXED]
        assert find_ids(at(address)) == ["d1"]

    def test_of_two_deletions_that_read_at_the_same_time_the_newer_tombstone_stays(
        self, address: str, kind: str
    ) -> None:
        with between(address, meanwhile(lambda: at(address).delete(["d0"], 5))) as server:
            at(server.address(kind)).delete(["d0"], 3)
        assert fates(at(address), [make_record("d0", "grain", version=4)]) == [WriteStatus.STALE]

    def test_a_document_that_comes_just_before_its_tombstone_is_deleted(self, address: str, kind: str) -> None:
        with between(address, meanwhile(lambda: at(address).write([make_record("d0", "grain", version=4)]))) as server:
            (outcome,) = at(server.address(kind)).delete(["d0"], 5)
        assert (outcome.status, outcome.previous_version) == (WriteStatus.DELETED, 4)
        assert find_ids(at(address)) == []

    def test_an_index_that_another_process_has_just_created_is_waited_for(self, address: str, kind: str) -> None:
        error = {"type": "illegal_index_shard_state_exception", "reason": "CurrentState[RECOVERING]"}
        starts = Answer(200, {"docs": [{"_index": INDEX, "_id": "runs/cursors", "error": error}]})
        at(address).create()
        with between(address, first(2, "_mget", starts)) as server:
            at(server.address(kind)).create()

    def test_a_ledger_that_was_removed_since_its_record_was_read_is_made_anew_as_ours(self, address: str) -> None:
        engine = at(address)
        state = engine.replace_record("runs", "a", {"at": 1}, None)
        ask(address, "DELETE", f"/.ibidem-{INDEX}-work")
        assert engine.replace_record("runs", "a", {"at": 2}, state) is None
        assert engine.replace_record("runs", "a", {"at": 3}, None) is not None
        assert dict(at(address).get_records("runs", "a")) == {"a": {"at": 3}}

    def test_a_tombstone_that_is_set_again_before_it_is_cleared_stays(self, address: str, kind: str) -> None:
        at(address).delete(["d0"], 3)

        with between(address, meanwhile(lambda: at(address).delete(["d0"], 5))) as server:
            assert clear_tombstones(at(server.address(kind)), datetime.now(UTC) + timedelta(days=1)) == 0
        assert fates(at(address), [make_record("d0", "grain", version=4)]) == [WriteStatus.STALE]


class TestRequests:
    def test_what_is_in_the_index_is_not_looked_at_while_most_documents_are_new(self, address: str, kind: str) -> None:
        with between(address) as server:
            engine = at(server.address(kind))

            def looks(records: list[Record]) -> tuple[int, list[WriteStatus]]:
                count = len(server.asked)
                outcomes = fates(engine, records)
                return sum(each.path.startswith("/_mget?_source_includes") for each in server.asked[count:]), outcomes

            records_there = [make_record(f"d{number}", f"grain number {number}") for number in range(4)]
            assert looks(records_there) == (1, [WriteStatus.INDEXED] * 4)
            assert looks([make_record("e", "wheat")]) == (0, [WriteStatus.INDEXED])
            wheat = [make_record(f"f{number}", f"wheat number {number}") for number in range(4)]
            assert looks([records_there[0], *wheat]) == (1, [WriteStatus.UNCHANGED] + [WriteStatus.INDEXED] * 4)
            bulks = sum("_bulk" in each.path for each in server.asked)
            assert [looks(records_there) for _ in range(2)] == [(1, [WriteStatus.UNCHANGED] * 4)] * 2
            assert sum("_bulk" in each.path for each in server.asked) == bulks + 1, "only the first of the two tried"

    def test_over_several_shards_a_point_in_time_keeps_later_documents_out(self, address: str, kind: str) -> None:
        make_foreign_index(address, {}, number_of_shards=3)
        fill(address, *[{"body": "grain"}] * 8)
        engine = at(f"{address}/?fields=text=body", "theirs")
        ranking = engine.search(GRAIN, 5)
        fill(address, *[{"body": "grain grain"}] * 9)
        results = engine.search(GRAIN, 100, ranking.view)
        assert (results.total, len(results.hits)) == (8, 8)
        assert list(results.hits[:5]) == list(ranking.hits)
        point = {"opensearch": {"pit_id": [ranking.view.point]}, "elasticsearch": {"id": ranking.view.point}}[kind]
        engine._cluster.ask("DELETE", engine._cluster.dialect.point_path, point)
        with pytest.raises(Permanent, match="search again without the cursor"):
            engine.search(GRAIN, 5, ranking.view)


def test_an_index_without_a_title_has_no_spellings(address: str) -> None:
    ask(address, "PUT", "/theirs", '{"mappings": {"properties": {"text": {"type": "text"}}}}')
    ask(address, "PUT", "/theirs/_doc/1?refresh=true", '{"text": "grain"}')
    engine = open_engine(address, "theirs")
    assert engine.suggest(["grain", "grian"]) == {}
    engine.close()
