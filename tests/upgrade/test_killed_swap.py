"""A kill counts where it met the change that it was meant for; any other is told of."""

import json

import pytest

from servers.fake_server import Request
from upgrade.killed_swap import Kill, MissedStep, is_change, kills, name_change
from workers.backfill.conftest import SECOND

SWAP = ["PUT /NAME-2", "bulk: index in NAME-2", "POST /_aliases"]


def request(method: str, path: str, *lines: object) -> Request:
    return Request(method, path, {}, "".join(json.dumps(line) + "\n" for line in lines).encode())


def test_every_change_is_met_once_before_and_once_after() -> None:
    met = [(each.at, each.step, each.carried_out) for each in kills(SWAP[:2])]
    assert met == [(at, SWAP[at], carried_out) for at in (0, 1) for carried_out in (False, True)]


def test_reads_are_no_changes() -> None:
    assert [is_change(request("POST", path)) for path in ("/a/_search?size=1", "/_mget", "/a/_bulk")] == [0, 0, 1]


def test_bulk_requests_are_named_by_what_they_write() -> None:
    lines = ({"index": {"_index": SECOND}}, {"delete": {}}, {"delete": {"_index": "runs"}})
    assert name_change(request("POST", "/_bulk?refresh=true", *lines)) == "bulk: delete in runs, index in NAME-2"
    assert name_change(request("POST", f"/{SECOND}/_bulk", {"delete": {}})) == "bulk: delete in NAME-2"
    assert name_change(request("PUT", f"/{SECOND}?timeout=1s")) == "PUT /NAME-2"


def test_a_kill_that_met_its_change_counts() -> None:
    Kill(1, SWAP[1], carried_out=True).check([*SWAP[:2], "POST /_bulk"], killed=True)


@pytest.mark.parametrize(
    ("steps", "killed", "told"),
    [(SWAP[:2], False, "the swap was done after 2 changes"), ([*SWAP[:2], "PUT /x"], True, "it met PUT /x instead")],
)
def test_a_kill_that_met_another_change_or_none_is_told_of(steps: list[str], killed: bool, told: str) -> None:
    with pytest.raises(MissedStep, match=told):
        Kill(2, SWAP[2], carried_out=False).check(steps, killed=killed)
