"""The index of a ledger has its mapping before the first record; one that others made is named, and rebuilt."""

import json
import os
from collections.abc import Iterator

import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.ledger_index import is_sound, template
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from servers.indices import ask, remove_indices

SCHEMES = [pytest.param(each, marks=pytest.mark.server(each)) for each in ("opensearch", "elasticsearch")]
INDEX = f"ledgers-{os.getpid()}"
RUNS, OVERRIDES = f"{INDEX}-ibidem-runs", f"{INDEX}-ibidem-overrides"
REMEDY = "ibidem doctor --repair"


@pytest.fixture(scope="module", params=SCHEMES)
def served(request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of a server with an index."""
    address: str = request.getfixturevalue(request.param)
    engine = open_engine(address, INDEX)
    engine.create()
    engine.close()
    yield address
    remove_indices(address, INDEX)


@pytest.fixture
def absent(served: str) -> Iterator[Engine]:
    engine = open_engine(served, INDEX)
    yield engine
    engine.close()


def mapping(served: str, name: str) -> dict[str, object]:
    (answer,) = ask(served, "GET", f"/{name}/_mapping").values()
    return answer["mappings"]


def let_the_server_make(served: str, name: str, *keys: str) -> None:
    """Remove a ledger, and write records without it, as an earlier version did: the server guesses its mapping."""
    ask(served, "DELETE", f"/{name}?ignore_unavailable=true")
    for key in keys:
        body = {"key": key, "entry": {"at": key}}
        ask(served, "PUT", f"/{name}/_doc/{key.replace('/', '%2F')}?refresh=true", json.dumps(body))


def test_a_layout_is_told_from_what_a_server_guesses() -> None:
    assert is_sound(template()["mappings"])
    assert not is_sound({"properties": {"key": {"type": "text"}, "entry": {"properties": {}}}})
    assert not is_sound({})


def test_a_ledger_is_made_before_its_first_record_also_where_it_was_removed_meanwhile(
    served: str, engine: Engine
) -> None:
    for _ in range(2):
        ask(served, "DELETE", f"/{RUNS}?ignore_unavailable=true")
        engine.put_records("runs", {"a": {"read": 1}})
        assert is_sound(mapping(served, RUNS))
        assert list(engine.get_records("runs")) == [("a", {"read": 1})]


def test_a_ledger_that_the_server_made_is_named_by_all_that_read_it_and_rebuilt_with_its_records(
    served: str, engine: Engine
) -> None:
    keys = [f"run/{number:03}" for number in range(5)]
    let_the_server_make(served, RUNS, *keys)
    let_the_server_make(served, OVERRIDES, "x")
    for read in (lambda: list(engine.get_records("runs", "run/")), lambda: list(engine.get_records("overrides"))):
        with pytest.raises(Permanent, match=REMEDY):
            read()
    with pytest.raises(Permanent, match=REMEDY):
        engine.put_records("runs", {"b": {}})
    names = [issue.what for issue in engine.health_issues() if issue.name == "records"]
    assert [name.split("'")[1] for name in names] == [RUNS, OVERRIDES]
    assert engine.repair_ledgers() == [RUNS, OVERRIDES]
    assert list(engine.get_records("runs", "run/")) == [(key, {"at": key}) for key in keys]
    assert list(engine.get_records("overrides")) == [("x", {"at": "x"})]
    assert engine.health_issues() == [issue for issue in engine.health_issues() if issue.name != "records"]
    assert engine.repair_ledgers() == []


def test_a_rebuilding_that_was_interrupted_goes_on_and_keeps_what_was_written_since(
    served: str, engine: Engine
) -> None:
    let_the_server_make(served, RUNS)
    let_the_server_make(served, f"{RUNS}-copy", "a", "b")
    engine.put_records("runs", {"b": {"at": "later"}})
    assert list(engine.get_records("runs")) == [("a", {"at": "a"}), ("b", {"at": "later"})]
    assert engine.repair_ledgers() == []
