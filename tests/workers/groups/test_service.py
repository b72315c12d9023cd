"""Groups that are settled after writing: those of one plain pass, whatever the portions, processes and changes."""

import multiprocessing
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_dedupe.policy import Policy
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, Record
from ibidem_engines.ledger import POLICY, GroupCheckpoint, load_overrides
from ibidem_engines.stored_groups import Assignment, GroupedDocument
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures.sign import sign
from ibidem_workers.batches import records
from ibidem_workers.groups.follower import Follower, regroup, settle_all
from ibidem_workers.groups.settle import make_row
from support import naive_settling
from support.naive_settling import judge
from support.signed_records import make_record
from support.windows import counts, documents, example_settings

Groups = dict[str, str]

TEXT, OTHER = (" ".join(f"{stem}{at}" for at in range(90)) for stem in ("word", "other"))

MANY = (1, 10, 10_000)  # new documents from which on leads are read into columns: always, now and then, never


@contextmanager
def index() -> Iterator[Engine]:
    with TemporaryDirectory() as folder:
        engine = open_engine(f"sqlite:////{folder}/index.sqlite", "news")
        engine.create()
        yield engine
        engine.close()


def signed(seed: int, families: int = 6, versions: int = 6) -> list[Record]:
    texts = documents(seed, families, versions)
    with TemporaryDirectory() as folder:
        tables = Tables(Path(folder))
        tables.use(Table.build("en", 10_000, counts(texts), "a test"))
        whole = sign(texts, tables)  # a record keeps the fields that engines store with the packed value
        return [replace(one, signatures=each) for one, each in zip(records(texts, tables), whole, strict=True)]


def write(engine: Engine, version: int = 1, **texts: str) -> None:
    engine.write([make_record(name, text, version) for name, text in texts.items()])


def stored(engine: Engine) -> list[GroupedDocument]:
    """All documents in the order of writing."""
    store = engine.groups()
    end = store.newest()
    names = [hit.id for some in engine.scan() for hit in some]
    assert set(end) == set(store.parts())
    return sorted(store.read([(engine.index, name) for name in names]), key=lambda each: each.name.order)


def named(engine: Engine, names: Sequence[str]) -> list[GroupedDocument]:
    found = {each.name.id: each for each in stored(engine)}
    return [found[name] for name in names]


def groups(engine: Engine) -> Groups:
    """Name the lead of each document's group."""
    rows = stored(engine)
    leads = {each.group: each.name.id for each in rows if each.lead}
    return {each.name.id: leads[each.group] for each in rows}


def plain(engine: Engine, policy: Policy = POLICY) -> Groups:
    """Take the documents in the order of writing, each compared with every lead before it."""
    return naive_settling.plain([make_row(each) for each in stored(engine)], judge(policy, load_overrides(engine)))


def check(engine: Engine) -> None:
    """See that each group has one lead, each document duplicates its lead, and no two leads duplicate each other."""
    after = stored(engine)
    leads = [each for each in after if each.lead]
    assert len({each.group for each in leads}) == len(leads)
    by_group = {each.group: each for each in leads}
    judged = judge(POLICY, load_overrides(engine))
    for each in after:
        assert each.lead or judged(make_row(each), make_row(by_group[each.group]))
    assert not [(a.name, b.name) for a, b in combinations(map(make_row, leads), 2) if judged(b, a)]


@pytest.mark.slow
@example_settings
@given(st.integers(0, 2**32), st.integers(1, 7), st.sampled_from(MANY), st.randoms(use_true_random=False))
def test_groups_are_those_of_one_pass_however_writing_and_grouping_take_turns(
    seed: int, size: int, many: int, rng: random.Random
) -> None:
    writes = signed(seed)
    with index() as engine:
        while writes:
            some, writes = writes[: (cut := rng.randrange(1, 12))], writes[cut:]
            engine.write(some)
            if rng.random() < 0.7:
                Follower(engine, size=size, min_new=many).step()
        Follower(engine, size=size, min_new=many).catch_up()
        assert groups(engine) == plain(engine)
        count = GroupCheckpoint.read(engine).joined
        assert sum(count.values()) == sum(not each.lead for each in stored(engine))


class Killed(BaseException):
    """A process ended."""


@contextmanager
def deadly(kind: type, name: str, rng: random.Random) -> Iterator[None]:
    """Let a process end before a call now and then, or in the middle of a write of groups."""
    way = getattr(kind, name)

    def call(self: object, *args: Any) -> object:
        if rng.random() < 0.3:
            raise Killed
        if name == "assign" and rng.random() < 0.3:
            way(self, args[0][: rng.randrange(1 + len(args[0]))])
            raise Killed
        return way(self, *args)

    with patch.object(kind, name, call):
        yield


@pytest.mark.slow
@example_settings
@given(st.integers(0, 2**32), st.integers(1, 7), st.sampled_from(MANY), st.randoms(use_true_random=False))
def test_killed_at_any_point_and_gone_on_they_are_the_same(seed: int, size: int, many: int, rng: random.Random) -> None:
    with index() as engine:
        engine.write(signed(seed))
        with deadly(type(engine.groups()), "assign", rng), deadly(type(engine), "replace_record", rng):
            for _ in range(8):
                with suppress(Killed):
                    Follower(engine, size=size, min_new=many).catch_up()
        count = Follower(engine, size=size, min_new=many).catch_up().joined
        assert groups(engine) == plain(engine)
        assert sum(count.values()) == sum(not each.lead for each in stored(engine))


@pytest.mark.slow
@example_settings
@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_whatever_is_rewritten_deleted_or_said_each_group_has_one_lead_that_all_its_documents_duplicate(
    seed: int, rng: random.Random
) -> None:
    writes = signed(seed)
    with index() as engine:
        engine.write(writes)
        Follower(engine, size=5).catch_up()
        check(engine)
        ids = [record.document.id for record in writes]
        for version in range(2, 8):
            change(engine, rng, writes, ids, version)
            if rng.random() < 0.6:
                Follower(engine, size=rng.randrange(1, 8), min_new=rng.choice(MANY)).catch_up()
                check(engine)
        Follower(engine, size=5).catch_up()
        check(engine)


def change(engine: Engine, rng: random.Random, writes: Sequence[Record], ids: Sequence[str], version: int) -> None:
    """Write some documents again with the text of another, delete one, or say something of a pair."""
    kind = rng.randrange(4)
    if kind == 0:
        engine.delete([rng.choice(ids)], version)
    elif kind == 1 and len(ids) > 1:
        a, b = rng.sample(ids, 2)
        key = f'[["news","{min(a, b)}"],["news","{max(a, b)}"]]'
        entry = {"a": ["news", a], "b": ["news", b], "verdict": rng.choice(["same", "not"])}
        engine.put_records("overrides", {key: entry})
    elif kind == 2:
        engine.delete_records("overrides", [key for key, _ in engine.get_records("overrides")])
    else:
        for _ in range(3):
            one, other = rng.choice(writes), rng.choice(writes)
            document = replace(other.document, id=one.document.id, version=version)
            engine.write([signed_like(other, document, version)])


def signed_like(record: Record, document: Document, version: int) -> Record:
    """Give a document the signatures of another."""
    name, before = document.id.encode(), record.document.id.encode()
    packed = record.packed[: -len(before) - 2] + len(name).to_bytes(2, "little") + name
    return replace(record, document=document, version=version, digest=f"{version:032x}", packed=packed)


def test_a_group_outlives_its_lead_under_its_name() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again")
        Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "a", "c": "a"}
        (name,) = {each.group for each in stored(engine)}
        engine.delete(["a"], 2)
        Follower(engine).catch_up()
        assert {(each.name.id, each.group, each.lead) for each in stored(engine)} == {
            ("b", name, True),
            ("c", name, False),
        }


def test_the_name_stays_with_the_larger_part_when_a_lead_becomes_another_text() -> None:
    with index() as engine:
        write(engine, a=TEXT, b=f"{TEXT} more", c=f"{TEXT} again")
        Follower(engine).catch_up()
        (name,) = {each.group for each in stored(engine)}
        write(engine, 2, a=OTHER)
        Follower(engine).catch_up()
        assert groups(engine) == {"a": "a", "b": "b", "c": "b"}
        group_of = {each.name.id: each.group for each in stored(engine)}
        assert group_of["b"] == group_of["c"] == name != group_of["a"]
        write(engine, 2, d=OTHER)
        Follower(engine).catch_up()
        assert groups(engine)["d"] == "a"


def test_regrouping_everything_writes_nothing_where_nothing_changes(engine: Engine) -> None:
    engine.write(signed(11, families=10))
    before = Follower(engine, size=5).catch_up().joined
    rows = stored(engine)
    with patch.object(type(engine.groups()), "assign", lambda *_: pytest.fail("a write")):
        after = regroup(engine, everything=True, size=5)
    assert stored(engine) == rows
    assert after.joined == before


@pytest.mark.slow
@example_settings
@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_regrouping_everything_that_is_killed_goes_on_to_the_groups_of_one_plain_pass(
    seed: int, rng: random.Random
) -> None:
    policy = replace(POLICY.similar(60), window_days=300)
    with index() as engine:
        engine.write(signed(seed))
        Follower(engine, size=5).catch_up()
        with deadly(type(engine.groups()), "assign", rng), suppress(Killed):
            regroup(engine, everything=True, policy=policy, size=5)
        Follower(engine, size=5).catch_up()
        assert groups(engine) == plain(engine, policy)
        assert sum(GroupCheckpoint.read(engine).joined.values()) == sum(not each.lead for each in stored(engine))


@pytest.mark.parametrize("everything", [False, True])
def test_regrouping_mends_groups_that_others_made_wrong(engine: Engine, everything: bool) -> None:
    engine.write(signed(11, families=10))
    Follower(engine, size=5).catch_up()
    right = groups(engine)
    rows = stored(engine)
    wrong = [Assignment(each, rows[0].group, lead=False) for each in rows[1:6]]
    wrong += [Assignment(each, rows[0].group, lead=True) for each in rows[6:9]]
    engine.groups().assign(wrong)
    regroup(engine, everything=everything, size=5)
    check(engine)
    if everything:
        assert set(right) == set(groups(engine))


@pytest.mark.slow
@pytest.mark.parametrize("policy", [replace(POLICY.similar(60), window_days=300), replace(POLICY.similar(85))])
@example_settings
@given(seed=st.integers(0, 1_000), size=st.integers(1, 40))
def test_other_figures_give_the_groups_of_one_plain_pass_by_them(policy: Policy, seed: int, size: int) -> None:
    writes = signed(seed)
    with index() as engine:
        engine.write(writes[: len(writes) // 2])
        Follower(engine, size=size).catch_up()
        regroup(engine, everything=True, policy=policy, size=size)
        assert groups(engine) == plain(engine, policy)
        engine.write(writes[len(writes) // 2 :])
        Follower(engine, size=size).catch_up()
        assert groups(engine) == plain(engine, policy)


def settle(path: str) -> None:
    """Settle portions of three documents until killed."""
    engine = open_engine(path, "news")
    while True:
        Follower(engine, size=3).catch_up()


def killed(path: str, seconds: float) -> None:
    """Start two processes that settle the same index, and kill them after a while."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=settle, args=(path,)) for _ in range(2)]
    for each in processes:
        each.start()
    time.sleep(seconds)
    for each in processes:
        each.kill()
        each.join()


@pytest.mark.slow
def test_killed_processes_leave_the_groups_of_one_plain_pass() -> None:
    rng = random.Random(17)  # noqa: S311 - made-up data keeps no secret
    records = signed(17, families=40, versions=8)
    with index() as engine:
        address = f"sqlite:////{engine._file.path}"  # type: ignore[attr-defined]
        while records:
            some, records = records[:15], records[15:]
            engine.write(some)
            killed(address, rng.uniform(0.0, 0.15))
        settle_all(engine)
        assert groups(engine) == plain(engine)


NAMES = [f"d{number}" for number in range(12)]
WORDS = [f"w{number}" for number in range(400)]


def rewrite_leads(engine: Engine, rng: random.Random, steps: tuple[int, ...]) -> None:
    """Settle documents, each a window of one text, then write one lead after the other again."""

    def text() -> str:
        begin = rng.choice(steps)
        return " ".join(WORDS[begin : begin + 80])

    write(engine, **{name: text() for name in NAMES})
    settle_all(engine)
    for version in range(2, 6):
        write(engine, version, **{rng.choice(sorted(set(groups(engine).values()))): text()})
        settle_all(engine)


@pytest.mark.parametrize("seed", range(3))
def test_groups_whose_members_all_repeat_each_other_are_those_of_regroup_all(engine: Engine, seed: int) -> None:
    rewrite_leads(engine, random.Random(seed), (0, 100, 200))  # noqa: S311 - a lot that can be drawn again
    found = members(engine)
    regroup(engine, everything=True)
    assert members(engine) == found


def members(engine: Engine) -> list[list[str]]:
    leads = groups(engine)
    return sorted(sorted(name for name in leads if leads[name] == lead) for lead in set(leads.values()))
