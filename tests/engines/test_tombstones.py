"""A tombstone outlives what a search engine itself remembers of a deletion."""

import json
import os
import time
from collections.abc import Iterator
from itertools import count

import pytest

from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, WriteStatus
from servers.indices import ask, names, remove_indices
from servers.kinds import CLUSTERS
from support.signed_records import make_record as record

INDEX = f"tombstones-{os.getpid()}"
SOON = json.dumps({"index": {"gc_deletes": "1ms"}})


@pytest.fixture(params=CLUSTERS)
def served(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def absent(served: str) -> Iterator[Engine]:
    engine = open_engine(served, INDEX)
    yield engine
    engine.close()
    remove_indices(served, INDEX)


def forget(address: str) -> None:
    """Have the server forget every deletion, and prove it: an older version of a deleted document is let in."""
    ask(address, "PUT", f"/{INDEX}/_settings", SOON)
    for number in count():
        probe = f"/{INDEX}/_doc/probe{number}?version_type=external&refresh=true&version="
        ask(address, "PUT", f"{probe}5", "{}")
        ask(address, "DELETE", f"{probe}6")
        time.sleep(0.1)
        ask(address, "POST", f"/{INDEX}/_flush?force=true")
        ask(address, "POST", f"/{INDEX}/_forcemerge?max_num_segments=1")
        ask(address, "POST", f"/{INDEX}/_refresh")
        try:
            ask(address, "PUT", f"{probe}2", "{}")
        except RuntimeError as error:
            assert "version_conflict" in str(error)  # noqa: PT017 - it is asked again until it has forgotten
            continue
        ask(address, "DELETE", f"/{INDEX}/_doc/probe{number}?refresh=true")
        return


def reopen(address: str) -> None:
    """Close the index and its ledgers, and open them again."""
    for action in ("_close", "_open"):
        ask(address, "POST", f"/{names(INDEX)}/{action}?ignore_unavailable=true")
    ask(address, "GET", f"/_cluster/health/{INDEX}*?wait_for_status=yellow&timeout=50s")


def test_an_older_version_stays_out_when_the_server_has_long_forgotten_the_deletion(
    engine: Engine, served: str
) -> None:
    engine.write([record("a", version=1), record("b", version=1)])
    assert [each.status for each in engine.delete(["a", "never"], 3)] == [WriteStatus.DELETED, WriteStatus.MISSING]
    engine.refresh()
    for forgotten in (forget, reopen):
        forgotten(served)
        late = [record("a", version=2), record("a", version=3), record("never", version=3)]
        assert [each.status for each in engine.write(late)] == [WriteStatus.STALE] * 3
        engine.refresh()
        assert [hit.id for part in engine.scan() for hit in part] == ["b"]
    assert engine.write([record("a", version=4)])[0].status is WriteStatus.INDEXED
