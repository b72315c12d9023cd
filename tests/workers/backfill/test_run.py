"""Signing an index in its place: only what ibidem adds is new, and a run that was ended goes on."""

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trials
from hypothesis import strategies as st

from faults.environment import wait_for
from faults.kill import children, living
from ibidem_core.errors import retry_unavailable
from ibidem_core.settings import Settings
from ibidem_engines.cluster import reindex
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, SourceDocument
from ibidem_engines.stored_groups import Name
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_workers import executors
from ibidem_workers.backfill import batch
from ibidem_workers.backfill import run as module
from ibidem_workers.backfill.batch import load_checkpoint
from ibidem_workers.backfill.run import backfill_in_place, check
from ibidem_workers.ingest import Interruption, ingest_documents, summary
from servers.command_line import surroundings
from servers.indices import ask
from support.examples import examples
from workers.backfill.conftest import FIRST, MAPPING, Theirs, stories, story
from workers.conftest import OTHER, fill

# An executor that one document ends when it is read.
DEADLY = """
import os, sys
from ibidem_engines.cluster import reindex
from ibidem_workers import executors

read = reindex.ClusterReindexSource.read

def ends_here(self, names, **options):
    if any(name.id == "d14" for name in names):
        os._exit(9)
    return read(self, names, **options)

reindex.ClusterReindexSource.read = ends_here
executors.main(sys.argv[1])
"""


def counts(engine: Engine, run: str) -> dict[str, object]:
    progress = summary(engine, run)
    return {
        name: progress[name] for name in ("read", "indexed", "unchanged", "stale", "refused", "unsigned", "pending")
    }


def expected_counts(**counted: int) -> dict[str, int]:
    return dict.fromkeys(("read", "indexed", "unchanged", "stale", "refused", "unsigned", "pending"), 0) | counted


class TestTheirIndex:
    def test_every_document_is_signed_and_nothing_else_of_it_changes(self, theirs: Theirs) -> None:
        theirs.make(stories(30))
        before, mappings = theirs.written(), ask(theirs.address, "GET", f"/{FIRST}/_mapping")[FIRST]["mappings"]
        run = backfill_in_place(theirs.settings)
        assert counts(theirs.engine, run) == expected_counts(read=30, indexed=30)
        assert summary(theirs.engine, run)["duplicates"] == {"identical": 3, "near": 0}
        assert theirs.written() == before
        after = ask(theirs.address, "GET", f"/{FIRST}/_mapping")[FIRST]["mappings"]
        del after["properties"]["ibidem"]
        assert (after["properties"], after["dynamic"]) == (mappings["properties"], "strict")
        values = theirs.signed()
        assert len(values) == 30
        assert values["t8"] == values["t9"] != values["t7"]
        dates = {hit["_source"]["ibidem"]["date"][0] for hit in theirs.all().values()}
        assert {"1987-03-01", "1987-03-28"} <= dates
        assert theirs.engine.info().unsigned == 0

    @pytest.mark.parametrize("pipeline", ["default_pipeline", "final_pipeline"])
    def test_pipelines_see_no_document_twice(self, theirs: Theirs, pipeline: str) -> None:
        theirs.make(stories(3))
        ask(theirs.address, "PUT", f"/{FIRST}/_settings", {"index": {pipeline: "no-such"}})
        backfill_in_place(theirs.settings)
        assert theirs.sources() == stories(3)
        assert len(theirs.signed()) == 3

    def test_what_others_changed_since_is_signed_again_and_what_is_no_longer_there_is_unset(
        self, theirs: Theirs
    ) -> None:
        theirs.make(stories(6))
        backfill_in_place(theirs.settings)
        old = theirs.signed()
        theirs.write({"t4": {"body": {"content": "another people, another union"}, "published": None}}, verb="update")
        assert counts(theirs.engine, backfill_in_place(theirs.settings)) == expected_counts(
            read=6, indexed=1, unchanged=5
        )
        assert {name for name, content in theirs.signed().items() if content != old[name]} == {"t4"}
        assert theirs.all()["t4"]["_source"]["ibidem"].get("date") is None

    def test_texts_that_are_none_are_refused_by_name_and_the_others_are_signed(self, theirs: Theirs) -> None:
        theirs.make(mapping={"dynamic": False, "properties": {"headline": {"type": "text"}}})
        wrong: dict[str, Any] = {
            "t1": {"headline": "None"},
            "t2": {"body": {"content": {"html": "<p>"}}},
            "t3": {"body": {"content": True}},
            "t4": {"body": "a text where an object was"},
            "t5": {"body": {"content": "x" * 2_000}},
            "t9": {"body": {"content": 1987}},
            "t10": {"body": {"content": ["two", 2]}},
        }
        right = {
            "t6": {"body": {"content": ["two", "parts"]}},
            "t7": {"body": [{"content": "one"}, {"content": "two"}]},
        }
        empty = {"t8": {"body": {"content": ""}}}
        theirs.write(wrong | right | empty)
        run = backfill_in_place(
            theirs.settings.changed(max_text=1_000, fields="title=headline,text=body.content,meta=")
        )
        assert counts(theirs.engine, run) == expected_counts(read=10, indexed=3, refused=7, unsigned=1)
        refusals: Any = summary(theirs.engine, run)["refusals"]
        assert {entry["id"]: entry["field"] for entry in refusals} == dict.fromkeys(wrong, "body.content")
        assert {entry["where"] for entry in refusals} == {f"index {FIRST}"}
        assert set(theirs.signed()) == {"t6", "t7", "t8"}
        why = {entry["id"]: entry["why"] for entry in refusals}
        assert "IBIDEM_MAX_TEXT" in why["t5"]
        assert ("1987 is a number" in why["t9"], "2 is a number" in why["t10"]) == (True, True)

    def test_a_date_that_may_mean_two_days_is_none_and_stays_where_it_is(self, theirs: Theirs) -> None:
        theirs.make(mapping=MAPPING | {"dynamic": False, "properties": {}})
        dates: list[object] = ["10/11/1987", 561600000000, "19.10.1987", "Mon, 19 Oct 1987 09:30:00 GMT", "1987-10"]
        theirs.write({f"t{at}": story(at) | {"published": date} for at, date in enumerate(dates)})
        backfill_in_place(theirs.settings)
        documents = theirs.all()
        assert [documents[f"t{at}"]["_source"]["published"] for at in range(5)] == dates
        time = "1987-10-19T09:30:00.000+00:00"
        days = [documents[f"t{at}"]["_source"]["ibidem"].get("date") for at in range(5)]
        assert days == [None, ["1987-10-19"], ["1987-10-19"], [time], ["1987-10-01", "1987-10-31"]]

    def test_documents_that_others_change_between_reading_and_writing_are_read_again(
        self, theirs: Theirs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        theirs.make(stories(20))
        read = reindex.ClusterReindexSource.read
        turns = iter(range(2))

        def then_written(self: Any, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
            lines = read(self, names, raw=raw)
            if (turn := next(turns, None)) is not None:
                theirs.write({f"t{number}": story(number, turn + 1) for number in range(0, 20, 2)})
                theirs.delete("t1")
            return lines

        monkeypatch.setattr(reindex.ClusterReindexSource, "read", then_written)
        run = backfill_in_place(theirs.settings)
        result = counts(theirs.engine, run)
        assert result["refused"] == 0
        assert sorted(theirs.signed()) == sorted(theirs.sources()) == sorted(f"t{at}" for at in range(20) if at != 1)
        assert theirs.sources()["t2"] == story(2, 2)
        assert counts(theirs.engine, backfill_in_place(theirs.settings)) == expected_counts(read=19, unchanged=19)

    def test_a_writer_that_never_stops_loses_nothing(self, theirs: Theirs) -> None:
        theirs.make(stories(600))
        last = stories(600)
        with writing(theirs, last) as turns:
            backfill_in_place(theirs.settings)
        assert turns
        assert theirs.sources() == last
        backfill_in_place(theirs.settings)
        assert len(theirs.signed()) == len(last)
        assert counts(theirs.engine, backfill_in_place(theirs.settings)) == expected_counts(
            read=len(last), unchanged=len(last)
        )


class writing:  # noqa: N801 - a context that reads like one
    """A program that writes to an index while the block runs, and knows the expected documents."""

    def __init__(self, theirs: Theirs, last: dict[str, Any]) -> None:
        self.theirs, self.last, self.turns = theirs, last, [0]
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.go_on)

    def __enter__(self) -> list[int]:
        self.thread.start()
        return self.turns

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def go_on(self) -> None:
        while not self.ended.is_set():
            turn = self.turns[-1] + 1
            old = {f"t{number}": story(number, turn) for number in range(turn % 7, 600, 37)}
            new = {f"t{1000 + turn}": story(1000 + turn)}
            self.theirs.write(old | new)
            self.last |= old | new
            name = f"t{600 - turn}"
            if turn < 100:
                self.theirs.delete(name)
                self.last.pop(name, None)
            self.turns.append(turn)
            time.sleep(0.01)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcü", min_size=1), inner, max_size=3),
    max_leaves=6,
)


class TestAnyDocument:
    @pytest.fixture
    def any_theirs(self, theirs: Theirs) -> Theirs:
        theirs.make(mapping={"dynamic": False, "properties": {"body": {"type": "object", "enabled": False}}})
        return theirs

    @trials(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(more=st.lists(st.dictionaries(st.text("xyzé", min_size=1), VALUES, max_size=4), min_size=1, max_size=20))
    def test_whatever_else_is_in_a_document_stays_as_it_is(
        self, any_theirs: Theirs, more: list[dict[str, Any]]
    ) -> None:
        documents = {f"t{at}": {**each, "body": {"content": f"people {at}"}} for at, each in enumerate(more)}
        any_theirs.write(documents)
        before = any_theirs.written()
        backfill_in_place(any_theirs.settings.changed(fields="text=body.content,meta="))
        assert any_theirs.written() == before


class TestGoingOn:
    @pytest.mark.slow
    def test_a_killed_run_goes_on_where_it_stopped(
        self, settings: Settings, tmp_path: Path, own_tables: Tables
    ) -> None:
        settings = settings.changed(tables=own_tables.folder)
        documents = [Document(f"d{at}", story(at)["body"]["content"]) for at in range(4_000)]
        ingest_documents(documents, settings)
        own_tables.use(OTHER)
        for _ in range(2):
            kill_in_the_middle(settings, tmp_path)
        with closing(open_engine(settings.address, settings.index)) as engine:
            first = load_checkpoint(engine)
            assert first is not None
            assert 2 <= accounts(engine) < 8
            run = backfill_in_place(settings)
            assert run == first.run
            assert counts(engine, run) == expected_counts(read=4_000, indexed=4_000)
            assert list(engine.info().tables.values()) == [4_000]

    @pytest.mark.slow
    def test_a_document_that_ends_its_process_is_refused_and_all_others_are_signed(
        self, settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill([Document(f"d{at}", story(at)["body"]["content"]) for at in range(30)], settings)
        monkeypatch.setattr(module, "MIN_POOL_DOCUMENTS", 0)
        monkeypatch.setattr(batch, "PAGE", 10)
        monkeypatch.setattr(executors, "COMMAND", (sys.executable, "-c", DEADLY))
        run = backfill_in_place(settings)
        assert counts(engine, run) == expected_counts(read=30, unchanged=29, refused=1)
        refusals: Any = summary(engine, run)["refusals"]
        assert [(entry["id"], entry["where"]) for entry in refusals] == [("d14", f"index {settings.index}")]
        assert "crashed the process" in refusals[0]["why"]

    @pytest.mark.slow
    def test_ctrl_c_says_how_to_go_on(self, settings: Settings, engine: Engine) -> None:
        fill([Document(f"d{at}", story(at)["body"]["content"]) for at in range(40)], settings)

        def stop(*_: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(Interruption, match="continue with the same command"):
            backfill_in_place(settings, stop)
        run = backfill_in_place(settings)
        assert counts(engine, run) == expected_counts(read=40, unchanged=40)


def kill_in_the_middle(settings: Settings, folder: Path) -> None:
    """Start a backfill in a process of its own, and kill it when a page is done; its own processes end too."""
    code = "from ibidem_core.settings import load; from ibidem_workers.backfill.run import backfill_in_place\n"
    code += "if __name__ == '__main__': backfill_in_place(load())"
    script = folder / "backfill.py"
    script.write_text(code, encoding="utf-8")
    process = subprocess.Popen([sys.executable, script], env=surroundings(settings.as_environment()))
    with closing(open_engine(settings.address, settings.index)) as engine:
        before = accounts(engine)
        while accounts(engine) <= before:
            assert process.poll() is None
            time.sleep(0.005)
    own = children(process.pid)
    process.kill()
    process.wait()
    assert wait_for(lambda: not any(map(living, own)), 30)


def accounts(engine: Engine) -> int:
    """Count the pages that are accounted for, of the run that is noted last; the ledger may just be in the making."""

    def count() -> int:
        entry = load_checkpoint(engine)
        return sum(1 for _ in engine.get_records("runs", f"{entry.run}/")) if entry else 0

    return retry_unavailable(count, 10)


def test_what_others_changed_is_listed_and_what_no_signature_looks_at_is_not(theirs: Theirs) -> None:
    theirs.make(stories(8))
    backfill_in_place(theirs.settings)
    none = dict.fromkeys(("changed", "unsigned", "outdated", "due", "refused"), 0)
    assert check(theirs.settings) == {"read": 8, "unchanged": 8, **none, "documents": [], "refusals": []}
    theirs.write({"t2": {"body": {"content": "another people"}}, "t3": {"published": "1990/01/01"}}, verb="update")
    theirs.write({"t4": {"views": 7}, "t5": {"body": {"content": story(5)["body"]["content"].upper()}}}, verb="update")
    theirs.write({"t6": {"headline": "another"}, "t7": {"body": {"content": None}}}, verb="update")
    theirs.write({"t9": story(9)})
    report = check(theirs.settings)
    assert sorted(each["id"] for each in report["documents"]) == ["t2", "t3", "t6", "t7"]
    assert [report[name] for name in ("read", "unchanged", "changed", "unsigned", "refused")] == [9, 4, 4, 1, 0]
    assert report["due"] == 7  # with the new one, the one in capitals, and the one with another `views`
    again = backfill_in_place(theirs.settings)
    assert summary(theirs.engine, again)["indexed"] == report["due"]
    assert (check(theirs.settings)["changed"], check(theirs.settings)["due"]) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "xx"])
def test_what_was_ingested_and_never_touched_is_unchanged(settings: Settings, engine: Engine, language: str) -> None:
    documents = [
        Document(
            f"d{at}", story(at)["body"]["content"], "Title", date="1787-09", meta={"court": "9th", "pages": [1, 2.5]}
        )
        for at in range(30)
    ]
    fill([*documents, Document("blank", "* * *"), Document("other", "populus", language=language)], settings)
    report = check(settings)
    assert [report[name] for name in ("read", "unchanged", "changed", "unsigned")] == [32, 31, 0, 1]
