"""What others add or change is signed while an index is followed; nothing that they wrote is left out."""

import re
import threading
import time
from typing import Any, Self

import pytest

from ibidem_core.settings import Settings
from ibidem_engines.engine import Beside
from ibidem_workers.backfill.run import check, follow
from ibidem_workers.ingest import summary
from servers.fake_server import Answer, between
from servers.indices import ask
from workers.backfill.conftest import ALIAS, FIRST, MAPPING, SECOND, Theirs, stories, story


class Following:
    """A process that follows, as a thread."""

    def __init__(self, settings: Settings, beside: Beside = "") -> None:
        self._beside: Beside = beside
        self.said: list[str] = []
        self.run = ""
        self._asked = threading.Event()
        self._thread = threading.Thread(target=self._follow, args=(settings,))

    def _follow(self, settings: Settings) -> None:
        self.run = follow(
            settings, lambda seconds: self._asked.wait(seconds / 20), notify=self.said.append, beside=self._beside
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.set()
        self._thread.join()

    def until(self, result: Any) -> None:
        """Wait until something is so; fails after a minute."""
        last = time.monotonic() + 60
        while not result():
            assert time.monotonic() < last, self.said
            assert self._thread.is_alive()
            time.sleep(0.02)


def test_what_is_added_and_what_is_changed_is_signed(theirs: Theirs) -> None:
    theirs.make(stories(10))
    with Following(theirs.settings) as following:
        following.until(lambda: following.said)
        old = theirs.signed()
        theirs.write({"t20": story(20), "t21": story(21)})
        theirs.write({"t3": {"body": {"content": "another people"}}}, verb="update")
        following.until(lambda: {"t20", "t21"} <= theirs.signed().keys() and theirs.signed()["t3"] != old["t3"])
    assert check(theirs.settings)["changed"] == 0
    counts = summary(theirs.engine, following.run)
    assert (counts["indexed"], counts["unchanged"], counts["state"]) == (13, 0, "done")
    assert following.said[0].startswith("10 documents checked")


def test_entries_beside_an_index_follow_what_is_added_and_what_is_deleted(
    theirs: Theirs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ibidem_workers.backfill.run.PRUNE_S", 0.1)
    theirs.make(stories(10))
    held = f".ibidem-{FIRST}-signatures"
    with Following(theirs.settings, "index") as following:
        following.until(lambda: following.said)
        theirs.write({"t20": story(20)})
        theirs.delete("t3")
        expected = {f"{FIRST}/t{number}" for number in (*range(10), 20) if number != 3}
        following.until(lambda: theirs.all(held).keys() == expected)
    assert not theirs.signed()


def test_an_engine_that_is_away_is_waited_for(theirs: Theirs) -> None:
    theirs.make(stories(5))
    away = threading.Event()

    def plan(_: object) -> Answer | None:
        return (
            Answer(503, {"error": {"type": "master_not_discovered_exception", "reason": "none"}, "status": 503})
            if (away.is_set())
            else None
        )

    kind = theirs.address.partition("+")[0]
    with between(theirs.address, plan) as server:
        settings = theirs.settings.changed(engine=server.address(kind))
        with Following(settings) as following:
            following.until(lambda: following.said)
            away.set()
            following.until(lambda: any("waiting" in line for line in following.said))
            theirs.write({"t20": story(20)})
            away.clear()
            following.until(lambda: "t20" in theirs.signed())
            following.until(lambda: "the service answers again" in following.said)


def test_a_follower_that_was_ended_goes_on_behind_the_last_write_and_fills_no_ledger(theirs: Theirs) -> None:
    theirs.make(stories(10))
    with Following(theirs.settings) as first:
        first.until(lambda: first.said)
        for at in range(20, 23):
            theirs.write({f"t{at}": story(at)})
            first.until(lambda at=at: f"t{at}" in theirs.signed())
    theirs.write({"t30": story(30)})
    with Following(theirs.settings) as second:
        second.until(lambda: "t30" in theirs.signed())
    assert second.run == first.run
    counts = summary(theirs.engine, second.run)
    assert (counts["indexed"], counts["unchanged"], counts["refused"], counts["pending"]) == (14, 0, 0, 0)
    accounts = [key for key, _ in theirs.engine.get_records("runs", f"{first.run}/")]
    assert len(accounts) == 2  # one of each part, of the first pass


def total(said: list[str], what: str) -> int:
    """Add up what a follower reported."""
    return sum(int(count) for line in said for count in re.findall(rf"(\d+) {what}\b", line))


def test_a_document_that_cannot_be_signed_is_refused_once_and_those_behind_it_are_signed(theirs: Theirs) -> None:
    theirs.make()
    with Following(theirs.settings) as following:
        following.until(lambda: following.said)
        theirs.write({"t1": {"headline": "no text"}})
        theirs.write({"t2": story(2)})
        following.until(lambda: "t2" in theirs.signed())
        following.until(lambda: summary(theirs.engine)["refused"])
        theirs.write({"t3": story(3)})
        following.until(lambda: "t3" in theirs.signed())
        following.until(lambda: total(following.said, "signed") == 2)
        following.until(lambda: total(following.said, "refused") == 1)
    counts = summary(theirs.engine, following.run)
    assert (counts["indexed"], counts["refused"]) == (2, 1)
    assert [each["id"] for each in counts["refusals"]] == ["t1"]  # type: ignore[attr-defined]


def test_an_index_that_is_made_anew_under_the_same_alias_is_followed(theirs: Theirs) -> None:
    theirs.make(stories(5))
    with Following(theirs.settings) as following:
        following.until(lambda: following.said)
        definition = {"aliases": {ALIAS: {"is_write_index": True}}, "mappings": MAPPING}
        ask(theirs.address, "PUT", f"/{SECOND}", definition)
        theirs.write({"t50": story(50)}, SECOND)
        following.until(lambda: "t50" in theirs.signed(SECOND))
        theirs.write({"t1": story(1, 1)}, FIRST)
        following.until(lambda: check(theirs.settings)["changed"] == 0)
    assert any("other indexes" in line for line in following.said)
