"""Records are in two hidden indexes that no template of the user's reaches; what reached one is named, and removed.

The servers that tests start lack the modules of ILM (Elasticsearch) and ISM (OpenSearch), which refuse their settings;
ISM itself skips hidden indexes. What `doctor` says of a policy is tried on metadata.
"""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.records import FOREIGN, PRIORITY, fault_of, is_sound, template
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError
from servers.fake_server import Answer, between
from servers.indices import ask, remove_indices
from servers.kinds import CLUSTERS
from support.signed_records import make_record

INDEX = f"paper-{os.getpid()}"
SHARED, WORK = f".ibidem-{INDEX}", f".ibidem-{INDEX}-work"
REPAIR = "ibidem doctor --repair"
GIVES = {
    "an alias": {"template": {"aliases": {"production": {}}}},
    "a strict mapping": {"template": {"mappings": {"dynamic": "strict", "properties": {"key": {"type": "text"}}}}},
    "pipelines": {"template": {"settings": {"index.default_pipeline": "theirs", "index.final_pipeline": "theirs"}}},
    "a data stream": {"data_stream": {}},
}
PATTERNS = {"before": f"{INDEX}-*", "within": f"*-{INDEX}*", "dot": f".*{INDEX}*"}


@pytest.fixture(params=CLUSTERS)
def served(request: pytest.FixtureRequest) -> Iterator[str]:
    address: str = request.getfixturevalue(request.param)
    yield address
    remove_indices(address, INDEX)


def opened(address: str) -> AbstractContextManager[Engine]:
    return closing(open_engine(address, INDEX))


@contextmanager
def with_template(address: str, body: dict[str, Any], *patterns: str, priority: int = 900) -> Iterator[None]:
    """Store a template of the user's; with a priority above ibidem's, the latter is as if it were not there."""
    body = {"index_patterns": patterns, "priority": priority, **body}
    ask(address, "PUT", "/_index_template/theirs", json.dumps(body))
    try:
        yield
    finally:
        ask(address, "DELETE", "/_index_template/theirs")


def metadata(address: str, name: str) -> dict[str, Any]:
    answer: dict[str, Any] = ask(address, "GET", f"/{name}?flat_settings=true")[name]
    return answer


@pytest.mark.parametrize("gives", GIVES)
def test_no_template_reaches_records(served: str, gives: str) -> None:
    with opened(served) as engine, with_template(served, GIVES[gives], *PATTERNS.values()):
        engine.create()
        engine.put_records("overrides", {"a": {"is": "there"}})
        engine.put_records("dead", {"b": {"is": "there"}})
        assert dict(engine.get_records("overrides")) == {"a": {"is": "there"}}
        assert dict(engine.get_records("dead")) == {"b": {"is": "there"}}
        for name in (SHARED, WORK):
            found = metadata(served, name)
            assert (found["aliases"], found["mappings"]) == ({}, template()["mappings"] | {"dynamic": "false"})
            assert found["settings"]["index.hidden"] == "true"
            assert not set(FOREIGN) & set(found["settings"])
        assert not [each for each in engine.health_issues() if each.name == "records"]


def test_no_wildcard_of_a_search_finds_records(served: str) -> None:
    with opened(served) as engine:
        engine.create()
        engine.write([make_record("d", "grain")])
        engine.refresh()
        engine.put_records("overrides", {"a": {"is": "there"}})
        ask(served, "POST", f"/{SHARED}/_refresh")
        for names in ("*", "_all", f"*{INDEX}*"):
            hits = ask(served, "POST", f"/{names}/_search", '{"size": 100}')["hits"]["hits"]
            assert not [hit for hit in hits if ".ibidem" in hit["_index"]]


def test_what_a_template_gave_that_beats_the_one_of_ibidem_is_removed(served: str) -> None:
    gives = {**GIVES["an alias"]["template"], **GIVES["pipelines"]["template"]}
    beating = with_template(served, {"template": gives}, PATTERNS["within"], priority=PRIORITY + 1)
    with opened(served) as engine, beating:
        engine.create()
        engine.put_records("dead", {"b": {"is": "there"}})
        assert dict(engine.get_records("dead")) == {"b": {"is": "there"}}
        assert (metadata(served, WORK)["aliases"], fault_of(WORK, metadata(served, WORK))) == ({}, None)


def test_a_data_stream_that_beats_the_template_of_ibidem_is_refused_with_the_remedy(served: str) -> None:
    with (
        opened(served) as engine,
        with_template(served, {"data_stream": {}}, PATTERNS["within"], priority=PRIORITY + 1),
        pytest.raises(Permanent, match="creates data streams only") as error,
    ):
        engine.create()
    assert r"exclude .ibidem-*" in error.value.remedy


def test_who_may_not_store_templates_does_without(served: str) -> None:
    refused = Answer(403, {"error": {"type": "security_exception", "reason": "no"}, "status": 403})
    with between(served, lambda request: refused if "_index_template" in request.path else None) as server:
        with opened(server.address(served.partition("+")[0])) as engine:
            engine.create()
        assert fault_of(WORK, metadata(served, WORK)) is None


def test_nothing_is_created_by_the_way(served: str) -> None:
    ask(served, "PUT", "/_cluster/settings", '{"persistent": {"action.auto_create_index": "false"}}')
    try:
        with opened(served) as engine:
            engine.create()
            engine.put_records("presets", {"a": {"is": "there"}})
            assert engine.get_record("presets", "a") == {"is": "there"}
    finally:
        ask(served, "PUT", "/_cluster/settings", '{"persistent": {"action.auto_create_index": null}}')


def test_an_index_that_was_removed_meanwhile_comes_back_with_its_mapping(served: str) -> None:
    with opened(served) as engine:
        engine.create()
        for _ in range(2):
            ask(served, "DELETE", f"/{WORK}")
            engine.put_records("runs", {"a": {"read": 1}})
            assert is_sound(metadata(served, WORK)["mappings"])
            assert metadata(served, WORK)["settings"]["index.hidden"] == "true"
            assert list(engine.get_records("runs")) == [("a", {"read": 1})]


def test_what_reached_an_index_later_stops_writes_until_it_is_removed(served: str) -> None:
    with opened(served) as engine:
        engine.create()
    ask(served, "PUT", f"/{SHARED}/_alias/production")
    with opened(served) as engine:
        with pytest.raises(Permanent, match=r"has the alias 'production'.*" + REPAIR):
            engine.put_records("overrides", {"a": {}})
        (issue,) = [each for each in engine.health_issues() if each.name == "records"]
        assert issue.remedy == f"remove it with: {REPAIR}"
        assert engine.repair_ledgers() == [SHARED]
        engine.put_records("overrides", {"a": {}})
        assert engine.repair_ledgers() == []


def test_a_mapping_that_a_server_guessed_is_named_with_the_remedy(served: str) -> None:
    with opened(served) as engine:
        engine.create()
    ask(served, "DELETE", f"/{WORK}")
    guessed = {"settings": {"hidden": True}, "mappings": {"properties": {"key": {"type": "text"}}}}
    ask(served, "PUT", f"/{WORK}", json.dumps(guessed))
    ask(served, "PUT", f"/{WORK}/_doc/1?refresh=true", '{"ledger": "runs", "key": "a"}')
    with opened(served) as engine:
        for use in (lambda: engine.put_records("runs", {"b": {}}), lambda: list(engine.get_records("runs"))):
            with pytest.raises(Permanent, match=f"{WORK}.*another mapping"):
                use()
        assert [each.remedy for each in engine.health_issues() if f"DELETE /{WORK}" in each.remedy]


def test_a_name_whose_records_would_be_those_of_another_is_refused(served: str) -> None:
    engine = open_engine(served, f"{INDEX}-work")
    with pytest.raises(UsageError, match="would be mixed"):
        engine.create()
    engine.close()
    ask(served, "DELETE", f"/{INDEX}-work")


@pytest.mark.parametrize("setting", FOREIGN)
def test_a_policy_or_pipeline_of_an_index_of_records_is_a_fault(setting: str) -> None:
    good = {**template(), "settings": {"index.hidden": "true"}}
    assert fault_of(SHARED, good) is None
    fault = fault_of(SHARED, good | {"settings": {"index.hidden": "true", setting: "theirs"}})
    assert fault is not None
    assert setting in fault.what


@pytest.mark.slow
def test_a_deprecation_warning_is_not_shown_for_names_that_users_cannot_change() -> None:
    """The servers of the tests lack the module `dot-prefix-validation`, which sends it."""
    code = """if True:
        import warnings
        import ibidem_engines.cluster.elasticsearch
        from elasticsearch import ElasticsearchWarning
        for name in (".ibidem-news", ".theirs"):
            warnings.warn(f"Index [{name}] name begins with a dot (.), which is deprecated", ElasticsearchWarning)
    """
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    assert "[.theirs]" in shown
    assert ".ibidem" not in shown


@pytest.fixture
def name() -> str:
    return f"ailments-{secrets.token_hex(4)}"


@pytest.fixture(params=CLUSTERS)
def address(request: pytest.FixtureRequest, name: str) -> Iterator[str]:
    address: str = request.getfixturevalue(request.param)
    yield address
    remove_indices(address, name)


THEIRS = {
    "headline": {"type": "text"},
    "article": {"properties": {"body": {"type": "text"}, "pages": {"type": "integer"}}},
    "printed": {"type": "date"},
}


def test_an_index_of_others_whose_fields_were_not_named_is_told_which_they_may_be(address: str, name: str) -> None:
    ask(address, "PUT", f"/{name}", json.dumps({"mappings": {"properties": THEIRS}}))
    ask(address, "PUT", f"/{name}/_doc/1?refresh=true", json.dumps({"headline": "Wheat", "article": {"body": "Rice"}}))
    with closing(open_engine(address, name)) as engine:
        (issue,) = engine.health_issues()
        assert (issue.name, issue.stops) == ("fields", False)
        assert f"index '{name}' has no fields 'title' and 'text'" in issue.what
        assert "IBIDEM_FIELDS=title=headline,text=article.body" in issue.remedy
        with pytest.raises(UsageError, match=r"no fields 'title' and 'text'.*IBIDEM_FIELDS=title=headline"):
            engine.search(parse_query("wheat"), 10)


def test_fields_that_were_named_are_no_issue_and_one_that_is_wrong_is(address: str, name: str) -> None:
    ask(address, "PUT", f"/{name}", json.dumps({"mappings": {"properties": THEIRS}}))
    with closing(open_engine(f"{address}/?fields=title%3Dheadline,text%3Darticle.body", name)) as engine:
        assert engine.health_issues() == []
        assert engine.search(parse_query("wheat"), 10).total == 0
    with closing(open_engine(f"{address}/?fields=title%3Dheadline,text%3Dbody", name)) as engine:
        (issue,) = engine.health_issues()
    assert "has no field 'body'" in issue.what
    assert "IBIDEM_FIELDS=title=headline,text=article.body (of type text are" in issue.remedy


@pytest.mark.server("elasticsearch")
def test_a_layout_that_the_server_cannot_write_is_said_when_the_index_is_made(elasticsearch: str, name: str) -> None:
    """Elasticsearch from Maven lacks the library behind `best_compression`, and its index would turn red later."""
    with closing(open_engine(f"{elasticsearch}/?layout=lean", name)) as engine:
        with pytest.raises(Permanent, match=r"best_compression.*leave \?layout=lean out"):
            engine.create()
        assert not engine.info().exists
    remove_indices(elasticsearch, name)
