"""Health issues of an index and its cluster; the tests of `ibidem doctor` run them on servers."""

import json
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.connect import open_engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError
from servers.fake_server import Answer, between
from servers.indices import ask, remove_indices


@pytest.fixture
def name() -> str:
    return f"ailments-{secrets.token_hex(4)}"


@pytest.fixture(params=[pytest.param(each, marks=pytest.mark.server(each)) for each in ("opensearch", "elasticsearch")])
def address(request: pytest.FixtureRequest, name: str) -> Iterator[str]:
    address: str = request.getfixturevalue(request.param)
    yield address
    remove_indices(address, name)


def test_a_file_that_is_there_has_none(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:////{tmp_path}/index.sqlite", "news")
    engine.create()
    assert engine.health_issues() == []
    engine.close()


def test_neither_has_one_that_is_not_there_yet(tmp_path: Path) -> None:
    assert open_engine(f"sqlite:////{tmp_path}/new/deep/index.sqlite", "news").health_issues() == []


def test_a_nearly_full_disk_is_one_and_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=100, free=9))
    (issue,) = open_engine(f"sqlite:////{tmp_path}/index.sqlite", "news").health_issues()
    assert (issue.name, issue.stops) == ("disk", False)


def test_a_healthy_index_in_a_cluster_has_none_and_neither_has_one_that_is_not_there(address: str, name: str) -> None:
    engine = open_engine(address, name)
    assert engine.health_issues() == []
    engine.create()
    assert engine.health_issues() == []
    engine.close()


def test_what_a_user_may_not_look_at_is_none() -> None:
    with between(plan=lambda _: Answer(403, {"error": "no"})) as server:
        assert open_engine(server.address("opensearch"), "news").health_issues() == []


THEIRS = {
    "headline": {"type": "text"},
    "article": {"properties": {"body": {"type": "text"}, "pages": {"type": "integer"}}},
    "printed": {"type": "date"},
}


def test_an_index_of_others_whose_fields_were_not_named_is_told_which_they_may_be(address: str, name: str) -> None:
    ask(address, "PUT", f"/{name}", json.dumps({"mappings": {"properties": THEIRS}}))
    ask(address, "PUT", f"/{name}/_doc/1?refresh=true", json.dumps({"headline": "Wheat", "article": {"body": "Rice"}}))
    engine = open_engine(address, name)
    (issue,) = engine.health_issues()
    assert (issue.name, issue.stops) == ("fields", False)
    assert f"index '{name}' has no fields 'title' and 'text'" in issue.what
    assert "IBIDEM_FIELDS=title=headline,text=article.body" in issue.remedy
    with pytest.raises(UsageError, match=r"no fields 'title' and 'text'.*IBIDEM_FIELDS=title=headline"):
        engine.search(parse_query("wheat"), 10)
    engine.close()


def test_fields_that_were_named_are_no_issue_and_one_that_is_wrong_is(address: str, name: str) -> None:
    ask(address, "PUT", f"/{name}", json.dumps({"mappings": {"properties": THEIRS}}))
    right_engine = open_engine(f"{address}/?fields=title%3Dheadline,text%3Darticle.body", name)
    assert right_engine.health_issues() == []
    assert right_engine.search(parse_query("wheat"), 10).total == 0
    wrong_engine = open_engine(f"{address}/?fields=title%3Dheadline,text%3Dbody", name)
    (issue,) = wrong_engine.health_issues()
    assert "has no field 'body'" in issue.what
    assert "IBIDEM_FIELDS=title=headline,text=article.body (of type text are" in issue.remedy
    right_engine.close()
    wrong_engine.close()


@pytest.mark.server("elasticsearch")
def test_a_layout_that_the_server_cannot_write_is_said_when_the_index_is_made(elasticsearch: str, name: str) -> None:
    """Elasticsearch from Maven lacks the library behind `best_compression`, and its index would turn red later."""
    engine = open_engine(f"{elasticsearch}/?layout=lean", name)
    with pytest.raises(Permanent, match=r"best_compression.*leave \?layout=lean out"):
        engine.create()
    engine.close()
    plain_engine = open_engine(elasticsearch, name)
    assert not plain_engine.info().exists
    plain_engine.close()
    remove_indices(elasticsearch, name)
