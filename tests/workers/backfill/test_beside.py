"""Signatures beside an index: not one of its documents is written, and groups are those of an index in place."""

import json
from pathlib import Path
from typing import Any

import elasticsearch
import opensearchpy
import pytest
from starlette.testclient import TestClient

import ibidem
from ibidem import duplicates_of
from ibidem.index.documents import add_override, inspect
from ibidem.index.groups import index_groups, stored_members, stored_report
from ibidem_core.errors import Permanent
from ibidem_core.settings import Settings
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.parameters import PRESETS
from ibidem_engines.cluster import reindex
from ibidem_engines.ledger import save_preset
from ibidem_gateway.app import make_gateway
from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers import read
from ibidem_workers.backfill import batch
from ibidem_workers.backfill.run import backfill_in_place
from ibidem_workers.backfill.strip import strip
from ibidem_workers.groups.follower import regroup
from ibidem_workers.ingest import ingest_documents
from servers.fake_server import Answer, Request, between
from servers.indices import ask
from workers.backfill.conftest import ALIAS, FIELDS, FIRST, MAPPING, SECOND, Theirs, stories, story

HELD = f".ibidem-{FIRST}-signatures"
NOT_WHOLE = MAPPING | {"_source": {"excludes": ["price"]}}


def state(index: Theirs) -> Any:
    """Everything that a write would change."""
    hits = ask(index.address, "POST", f"/{ALIAS}/_search", '{"size": 1000, "version": true, "sort": ["_seq_no"]}')
    return hits["hits"]["hits"], ask(index.address, "GET", f"/{FIRST}/_mapping")


def pairs(index: Theirs, name: str) -> set[frozenset[str]]:
    """Return the groups of two or more documents, by their ids."""
    groups: dict[str, set[str]] = {}
    for hit in index.all(name).values():
        groups.setdefault(hit["_source"]["ibidem"]["group"], set()).add(hit["_id"].rpartition("/")[2])
    return {frozenset(members) for members in groups.values() if len(members) > 1}


def wrapped(address: str) -> Any:
    kind, _, url = address.partition("+")
    client = opensearchpy.OpenSearch(url) if kind == "opensearch" else elasticsearch.Elasticsearch(url)
    return ibidem.wrap(client)  # type: ignore[call-overload] # one of the two


def lead_pairs(hits: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    inner = [hit["inner_hits"]["duplicates"]["hits"]["hits"] if "inner_hits" in hit else [] for hit in hits]
    return [(hit["_id"], [each["_id"] for each in some]) for hit, some in zip(hits, inner, strict=True)]


def search(client: Any, **options: object) -> Any:
    query = {"match_all": {}}
    return client.search(
        index=ALIAS, body={"query": query, "size": 50, "sort": ["price"]}, dedupe="collapse", **options
    )


@pytest.fixture
def beside(theirs: Theirs) -> Theirs:
    """Thirty stories, of which three repeat another, with signatures beside them."""
    theirs.make(stories(30), NOT_WHOLE)
    theirs.all()
    backfill_in_place(theirs.settings, beside="index")
    return theirs


class TestBackfill:
    def test_no_document_and_no_mapping_is_touched_and_groups_are_as_in_place(self, theirs: Theirs) -> None:
        theirs.make(stories(30))
        theirs.all()
        before = state(theirs)
        backfill_in_place(theirs.settings, beside="index")
        assert state(theirs) == before
        held = theirs.all(HELD)
        assert {key.removeprefix(f"{FIRST}/") for key in held} == set(stories(30))
        assert not any(name in hit["_source"] for hit in held.values() for name in ("headline", "body"))
        shards = ask(theirs.address, "GET", f"/{HELD}/_settings")[HELD]["settings"]["index"]["number_of_shards"]
        assert shards == "2"
        groups = pairs(theirs, HELD)
        strip(theirs.settings)
        backfill_in_place(theirs.settings)
        assert groups == pairs(theirs, ALIAS) == {frozenset({f"t{n}", f"t{n + 1}"}) for n in (8, 18, 28)}

    def test_only_new_and_changed_documents_are_signed_again_and_those_that_are_gone_lose_their_entry(
        self, beside: Theirs
    ) -> None:
        before = beside.all(HELD)
        beside.write({"t3": story(3, 1), "t40": story(9)})
        lead, other = sorted(
            ("t18", "t19"), key=lambda name: not before[f"{FIRST}/{name}"]["_source"]["ibidem"]["lead"]
        )
        beside.delete(lead)
        backfill_in_place(beside.settings, beside="index")
        after = beside.all(HELD)
        changed = {key for key in after if before.get(key, {}).get("_version") != after[key]["_version"]}
        assert before.keys() - after.keys() == {f"{FIRST}/{lead}"}
        assert changed == {f"{FIRST}/{name}" for name in ("t3", "t40", other)}
        assert after[f"{FIRST}/{other}"]["_source"]["ibidem"]["lead"]
        assert pairs(beside, HELD) == {frozenset({"t8", "t9", "t40"}), frozenset({"t28", "t29"})}

    def test_groups_are_settled_again_there(self, beside: Theirs) -> None:
        groups = pairs(beside, HELD)
        regroup(beside.engine, everything=True)
        assert pairs(beside, HELD) == groups
        counts = beside.engine.groups().counts()
        assert (counts.documents, counts.groups) == (30, 27)

    def test_the_right_to_read_is_enough(self, theirs: Theirs) -> None:
        theirs.make(stories(10))
        theirs.all()

        def plan(request: Request) -> Answer | None:
            name, _, action = request.path.partition("?")[0].strip("/").partition("/")
            reads = request.method == "GET" and not action.startswith(("_stats", "_recovery"))
            if name not in (ALIAS, FIRST) or reads or action == "_search":
                return None
            return Answer(403, {"error": {"type": "security_exception", "reason": action}, "status": 403})

        with between(theirs.address, plan) as server:
            settings = theirs.settings.changed(engine=server.address(theirs.address.partition("+")[0]))
            with pytest.raises(Permanent, match="--beside"):
                backfill_in_place(settings)
            backfill_in_place(settings, beside="index")
        assert pairs(theirs, HELD) == {frozenset({"t8", "t9"})}

    def test_a_refusal_names_the_other_way(self, theirs: Theirs) -> None:
        theirs.make(stories(3), NOT_WHOLE)
        with pytest.raises(Permanent, match="ibidem backfill --beside"):
            backfill_in_place(theirs.settings)
        backfill_in_place(theirs.settings, beside="index")
        with pytest.raises(UsageError, match=r"signatures .* are beside it"):
            backfill_in_place(theirs.settings)

    def test_an_index_that_holds_its_signatures_is_not_signed_beside(self, theirs: Theirs) -> None:
        theirs.make(stories(3))
        backfill_in_place(theirs.settings)
        with pytest.raises(UsageError, match="ibidem strip"):
            backfill_in_place(theirs.settings, beside="index")

    def test_strip_drops_the_signatures_and_keeps_decisions(self, beside: Theirs) -> None:
        decision = Override((FIRST, "t8"), (FIRST, "t9"), "not")
        beside.engine.put_records("overrides", {decision.key: decision.as_record()})
        backfill_in_place(beside.settings, beside="index")
        assert frozenset({"t8", "t9"}) not in pairs(beside, HELD)
        before = state(beside)
        assert strip(beside.settings, dry=True).stripped == 30
        assert strip(beside.settings).stripped == 30
        assert state(beside) == before
        assert not ask(beside.address, "GET", f"/{HELD}?ignore_unavailable=true")
        backfill_in_place(beside.settings, beside="index")
        assert pairs(beside, HELD) == {frozenset({f"t{n}", f"t{n + 1}"}) for n in (18, 28)}

    def test_in_place_keeps_decisions_that_were_made_beside(self, theirs: Theirs) -> None:
        theirs.make(stories(20))
        backfill_in_place(theirs.settings, beside="index")
        add_override(theirs.engine, ("t8", "t9"), "not", author="ann")
        assert pairs(theirs, HELD) == {frozenset({"t18", "t19"})}
        strip(theirs.settings)
        backfill_in_place(theirs.settings)
        assert pairs(theirs, ALIAS) == {frozenset({"t18", "t19"})}

    def test_signatures_of_several_indexes_are_dropped_together(self, beside: Theirs) -> None:
        strip(beside.settings)
        ask(beside.address, "PUT", f"/{SECOND}", {"mappings": MAPPING, "aliases": {ALIAS: {}}})
        beside.write(stories(10), SECOND)
        backfill_in_place(beside.settings, beside="index")
        with pytest.raises(UsageError, match=f"also holds the signatures of '{SECOND}'; .*IBIDEM_INDEX={ALIAS}"):
            strip(beside.settings.changed(index=FIRST))
        ask(beside.address, "DELETE", f"/{SECOND}")
        assert strip(beside.settings).stripped == 40

    def test_an_index_of_another_program_under_its_name_is_no_index_of_signatures(self, theirs: Theirs) -> None:
        theirs.make(stories(3))
        ask(theirs.address, "PUT", f"/{HELD}", {"mappings": {"_meta": {"of": "others"}}})
        with pytest.raises(UsageError, match="is not one of signatures"):
            backfill_in_place(theirs.settings, beside="index")
        strip(theirs.settings)
        assert ask(theirs.address, "GET", f"/{HELD}")

    def test_an_index_without_documents_is_signed(self, theirs: Theirs) -> None:
        ask(theirs.address, "PUT", f"/{FIRST}", {"aliases": {ALIAS: {}}})
        backfill_in_place(theirs.settings, beside="index")
        assert theirs.all(HELD) == {}

    def test_look_ups_need_one_shard_and_a_server_that_has_them(
        self, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        theirs.make(stories(3))
        theirs.all()
        with monkeypatch.context() as patch:
            patch.setattr(reindex, "MAX_LOOKUP", 2)
            with pytest.raises(UsageError, match=r"has 3 documents, .* leave out --lookup: it is for at most 2"):
                backfill_in_place(theirs.settings, beside="lookup")
        if theirs.address.startswith("opensearch"):
            with pytest.raises(UsageError, match="leave out --lookup: it is for the LOOKUP JOIN of Elasticsearch"):
                backfill_in_place(theirs.settings, beside="lookup")
        else:
            backfill_in_place(theirs.settings, beside="lookup")
            settings = ask(theirs.address, "GET", f"/{HELD}/_settings")[HELD]["settings"]["index"]
            assert (settings["mode"], settings["number_of_shards"]) == ("lookup", "1")


class TestDates:
    """An index whose sequence numbers cannot be searched says by a date what was written."""

    @pytest.fixture
    def dated(self, theirs: Theirs) -> Settings:
        if theirs.address.startswith("opensearch"):
            pytest.skip("OpenSearch has sequence numbers always")
        body = {
            "settings": {"number_of_shards": 2, "disable_sequence_numbers": True},
            "mappings": MAPPING,
            "aliases": {ALIAS: {}},
        }
        ask(theirs.address, "PUT", f"/{FIRST}", body)
        theirs.write({name: {**each, "published": "1987/03/01"} for name, each in stories(10).items()})
        theirs.write({f"t{at}": {"headline": f"{at}", "body": story(at)["body"]} for at in range(10, 30)})
        theirs.all()
        return theirs.settings.changed(fields=f"{FIELDS},changed=published")

    def test_all_are_signed_whether_they_have_a_date_or_not(
        self, dated: Settings, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batch, "PAGE", 4)  # documents with one date are more than a page
        backfill_in_place(dated, beside="index")
        assert pairs(theirs, HELD) == {frozenset({f"t{n}", f"t{n + 1}"}) for n in (8, 18, 28)}
        theirs.write({"t40": story(9) | {"published": "2026/01/02"}})
        theirs.delete("t18")
        theirs.all()
        backfill_in_place(dated, beside="index")
        assert pairs(theirs, HELD) == {frozenset({"t8", "t9", "t40"}), frozenset({"t28", "t29"})}
        assert f"{FIRST}/t18" not in theirs.all(HELD)

    def test_without_a_date_it_is_refused(self, dated: Settings, theirs: Theirs) -> None:
        del dated
        with pytest.raises(UsageError, match="add changed=FIELD to IBIDEM_FIELDS"):
            backfill_in_place(theirs.settings)
        with pytest.raises(UsageError, match="add changed=FIELD to IBIDEM_FIELDS"):
            backfill_in_place(theirs.settings, beside="index")

    def test_more_of_one_date_than_a_search_shows_are_refused(
        self, dated: Settings, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batch, "PAGE", 2)
        ask(theirs.address, "PUT", f"/{FIRST}/_settings", {"index.max_result_window": 5})
        with pytest.raises(UsageError, match="have one 'published'; name a field with the time of a change"):
            backfill_in_place(dated, beside="index")


class TestWhatIsTheirs:
    def test_ibidem_writes_nothing_into_the_index(self, beside: Theirs, tmp_path: Path) -> None:
        before = state(beside)
        (tmp_path / "new.jsonl").write_text('{"id": "new", "text": "a text"}')
        with pytest.raises(UsageError, match=f"the signatures of '{FIRST}' are beside it"):
            ingest_documents(read([str(tmp_path)]), beside.settings)
        with pytest.raises(UsageError, match="writes nothing into it"):
            beside.engine.delete(["t8"], 1)
        save_preset(beside.engine, "own", PRESETS["scans"])
        assert state(beside) == before

    def test_a_preset_of_an_index_without_signatures_adds_no_field(self, theirs: Theirs) -> None:
        theirs.make()
        before = state(theirs)
        save_preset(theirs.engine, "own", PRESETS["scans"])
        assert "own" in dict(theirs.engine.get_records("presets"))
        assert state(theirs) == before


class TestReports:
    def test_groups_are_counted_and_named_by_its_documents(self, beside: Theirs) -> None:
        beside.write({"t50": story(50)})
        beside.all()
        counted = index_groups(beside.engine)
        assert (len(counted.names), len(counted.grouping.leads), counted.unsigned) == (31, 28, 1)
        copies = {(FIRST, f"t{n}") for n in (8, 9, 18, 19, 28, 29)}
        assert {(each.index, each.id) for each in counted.members()} == copies
        assert {(each.index, each.id) for each in stored_members(beside.engine)} == copies
        largest: Any = stored_report(beside.engine)["largest"]
        assert {int(each["title"].removeprefix("Story ")) // 10 for each in largest} == {0, 1, 2}

    def test_a_document_is_inspected_among_those_that_may_be_seen(self, beside: Theirs) -> None:
        (found,) = inspect(beside.engine, "t8").duplicates
        assert (found.index, found.id, found.title, found.level) == (FIRST, "t9", "Story 9", "identical")
        assert duplicates_of(story(8)["body"]["content"], engine=beside.engine, level="identical")[0].index == FIRST
        beside.delete("t9")
        beside.all()
        assert inspect(beside.engine, "t8").duplicates == []


class TestSearch:
    def test_a_client_groups_a_window_as_in_place(self, beside: Theirs) -> None:
        there = search(wrapped(beside.address), dedupe_explain=True)
        account = there["dedupe"]
        assert (account["by"], account["why"]) == ("window", "signatures are beside the index, and may be late")
        assert account["unsigned"] == 0
        leads = dict(lead_pairs(there["hits"]["hits"]))
        assert {lead: copies for lead, copies in leads.items() if copies} == {
            f"t{n}": [f"t{n + 1}"] for n in (8, 18, 28)
        }
        strip(beside.settings)
        ask(beside.address, "DELETE", f"/{FIRST}")
        beside.make(stories(30))
        backfill_in_place(beside.settings)
        here = search(wrapped(beside.address), dedupe_by="window", dedupe_explain=True)
        assert lead_pairs(here["hits"]["hits"]) == lead_pairs(there["hits"]["hits"])
        for one, other in zip(here["hits"]["hits"], there["hits"]["hits"], strict=True):
            assert one["_dedupe"] == other["_dedupe"]

    def test_what_the_query_leaves_out_is_not_shown_and_what_a_window_cannot_give_is_left_out_or_refused(
        self, beside: Theirs
    ) -> None:
        client = wrapped(beside.address)
        body = {"query": {"bool": {"must_not": {"ids": {"values": ["t9"]}}}}, "size": 50}
        body["aggs"] = {"indices": {"terms": {"field": "_index"}}}
        found = client.search(index=ALIAS, body=body, dedupe="indent")
        assert "t9" not in json.dumps([hit["_id"] for hit in found["hits"]["hits"]])
        assert found["dedupe"]["groups"]["on_page"] == 27
        assert found["aggregations"]["indices"]["buckets"] == [{"key": FIRST, "doc_count": 29}]
        for option in ({"dedupe_by": "stored"}, {"dedupe_scope": "matches"}):
            with pytest.raises(UsageError, match="signatures are beside it"):
                search(client, **option)

    def test_a_document_that_is_gone_does_not_show_and_one_that_is_new_counts_as_unsigned(self, beside: Theirs) -> None:
        beside.delete("t8")
        beside.write({"t50": story(50)})
        beside.all()
        found = search(wrapped(beside.address))
        assert "t8" not in [hit["_id"] for hit in found["hits"]["hits"]]
        assert found["dedupe"]["unsigned"] == 1

    def test_the_gateway_and_the_page_group_as_a_client_does(self, beside: Theirs) -> None:
        with TestClient(make_gateway(beside.settings), base_url="http://127.0.0.1") as gateway:
            body = {"query": {"match_all": {}}, "size": 50, "sort": ["price"], "dedupe": "collapse"}
            found = gateway.post(f"/{ALIAS}/_search", json=body).json()
            assert found["dedupe"]["why"] == "signatures are beside the index, and may be late"
            there = search(wrapped(beside.address))
            assert lead_pairs(found["hits"]["hits"]) == lead_pairs(there["hits"]["hits"])
            params = {"q": "story", "dedupe": "collapse", "size": "50"}
            shown = dict(lead_pairs(gateway.get("/ibidem/search", params=params).json()["hits"]["hits"]))
            assert {frozenset([lead, *copies]) for lead, copies in shown.items() if copies} == pairs(beside, HELD)
            page = gateway.get("/", params={"q": "story"}, headers={"accept": "text/html"})
            assert page.status_code == 200
            assert "27 groups" in page.text

    def test_a_doctor_compares_counts_and_says_how_far_behind_they_are(self, beside: Theirs) -> None:
        assert not [each for each in beside.engine.health_issues() if each.name == "beside"]
        info = beside.engine.info()
        assert (info.documents, info.unsigned) == (30, 0)
        beside.write({"t50": story(50)})
        beside.all()
        (issue,) = (each for each in beside.engine.health_issues() if each.name == "beside")
        assert issue.what.startswith("30 signatures beside 31 documents")
        assert beside.engine.info().unsigned == 1
