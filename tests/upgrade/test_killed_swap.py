"""A command is killed at the very change that was meant, or its kill is told of as missed."""

import json
import signal
import subprocess

import pytest

from servers.fake_server import Answer, Request
from upgrade.killed_swap import Kill, Killer, is_change, kills, name_change
from workers.backfill.conftest import SECOND


def request(method: str, path: str, *lines: object) -> Request:
    return Request(method, path, {}, "".join(json.dumps(line) + "\n" for line in lines).encode())


def test_every_change_is_met_once_before_and_once_after() -> None:
    met = [(each.step, each.time, each.carried_out) for each in kills(["a", "b", "a"])]
    assert met == [(*change, carried_out) for change in (("a", 1), ("b", 1), ("a", 2)) for carried_out in (False, True)]


def test_reads_are_no_changes() -> None:
    assert [is_change(request("POST", path)) for path in ("/a/_search?size=1", "/_mget", "/a/_bulk")] == [0, 0, 1]


def test_bulk_requests_are_named_by_what_they_write() -> None:
    lines = ({"index": {"_index": SECOND}}, {"delete": {}}, {"delete": {"_index": "runs"}})
    assert name_change(request("POST", "/_bulk?refresh=true", *lines)) == "bulk: delete in runs, index in NAME-2"
    assert name_change(request("POST", f"/{SECOND}/_bulk", {"delete": {}})) == "bulk: delete in NAME-2"
    assert name_change(request("PUT", f"/{SECOND}?timeout=1s")) == "PUT /NAME-2"


@pytest.mark.slow
def test_a_command_ends_at_its_change_whatever_comes_before_it_and_nothing_of_it_passes_later() -> None:
    killer = Killer(Kill("PUT /b", 2, carried_out=True))
    with subprocess.Popen(["sleep", "60"], text=True, start_new_session=True) as killer.process:
        answers = [killer.plan(request("PUT", path)) for path in ("/b", "/a", "/b", "/c")]
    assert killer.process.returncode == -signal.SIGKILL
    assert answers == [None, None, Answer(0, passed=True), Answer(0)]
    assert (killer.has_met, killer.steps) == (True, ["PUT /b", "PUT /a", "PUT /b"])


def test_a_change_that_does_not_come_is_not_met() -> None:
    killer = Killer(Kill("PUT /b", 2, carried_out=False))
    assert [killer.plan(request("PUT", path)) for path in ("/b", "/a", "/c")] == [None] * 3
    assert not killer.has_met
