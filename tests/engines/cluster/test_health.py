"""Health issues of an index and its cluster; the tests of `ibidem doctor` run them on servers."""

import json
import secrets
from collections.abc import Iterator
from contextlib import closing

import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.connect import open_engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError
from servers.indices import ask, remove_indices
from support.clusters import CLUSTERS


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
