"""Mails that arrive in an index whose threads are stored get their places when their groups are settled."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem_core.errors import NoIndex
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document
from ibidem_mail.memberships import ThreadMember, ThreadPlaces, write_threads
from ibidem_workers.groups.follower import Follower, regroup, settle_all
from mail.letters import LEASE, PAID, ROOF, answer, mail
from support.examples import examples
from support.signed_records import make_record
from workers.groups.test_service import index

ROOT = mail("root", LEASE, number="root", hour=1)
REPLY = mail("reply", answer(ROOF, LEASE), number="reply", parent="root", hour=2)
THIRD = mail("third", answer(PAID, answer(ROOF, LEASE)), number="third", parent="reply", hour=3)


def write(engine: Engine, *documents: Document, version: int = 1) -> None:
    for each in documents:
        record = make_record(each.id, each.text, version, title=each.title, date=each.date, meta=dict(each.meta))
        engine.write([record])
    engine.refresh()


def arrive(engine: Engine, *documents: Document, version: int = 1) -> None:
    write(engine, *documents, version=version)
    settle_all(engine)


def places(engine: Engine) -> dict[str, ThreadMember | None]:
    names = [(hit.index, hit.id) for hits in engine.scan() for hit in hits]
    found = engine.run(engine.searching().memberships(names))
    return {name: ThreadMember.read(values) for (_, name), values in found.items()}


def expect_whole(engine: Engine) -> None:
    """Expect that the search through all documents finds the same places."""
    assert write_threads(engine).written == 0


def test_an_attachment_has_the_place_of_its_mail_whichever_arrives_first() -> None:
    first, second = (Document(f"{name}/1", f"{PAID} {name}", meta={"family": name}) for name in ("root", "reply"))
    with index() as engine:
        write(engine, ROOT)
        write_threads(engine)
        arrive(engine, second)
        assert places(engine)["reply/1"] is None
        arrive(engine, first)
        arrive(engine, REPLY)
        assert places(engine)["root/1"] == ThreadMember("root", "root", "family", inclusive=False)
        assert places(engine)["reply/1"] == ThreadMember("root", "reply", "family", inclusive=True)
        expect_whole(engine)


def test_a_mail_that_is_written_again_is_placed_again() -> None:
    with index() as engine:
        write(engine, ROOT, REPLY, THIRD)
        write_threads(engine)
        settle_all(engine)
        arrive(engine, mail("reply", f"{PAID} {ROOF}", number="reply", parent="root", hour=2), version=2)
        assert places(engine)["reply"] == ThreadMember("root", "root", "headers", inclusive=True)
        expect_whole(engine)


def test_parents_by_quotation_stay_and_none_is_looked_for() -> None:
    without_head = mail("quote", answer(ROOF, LEASE), hour=2)
    with index() as engine:
        write(engine, ROOT, without_head)
        write_threads(engine)
        stored = places(engine)["quote"]
        assert stored == ThreadMember("root", "root", "quotation", inclusive=True)
        arrive(engine, mail("other", f"{PAID} other", number="other", parent="root", hour=3))
        assert places(engine)["quote"] == stored
        assert places(engine)["other"] == ThreadMember("root", "root", "headers", inclusive=True)
        arrive(engine, mail("late", answer(PAID, LEASE), hour=4))
        assert places(engine)["late"] == ThreadMember("late", "", "", inclusive=True)
        write_threads(engine)
        assert places(engine)["late"] == ThreadMember("root", "root", "quotation", inclusive=True)


def test_a_thread_above_the_limit_is_left_and_others_of_the_portion_are_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [mail(f"m{at}", f"{LEASE} {at}", number=f"m{at}", parent="root", hour=at + 2) for at in range(4)]
    with index() as engine:
        write(engine, ROOT, *members, mail("alone", PAID, number="alone", hour=1))
        write_threads(engine)
        before = places(engine)
        late = mail("late", ROOF, number="late", parent="m0", hour=9)
        other = mail("other", f"{ROOF} other", number="other", parent="alone", hour=9)
        write(engine, late, other)
        follower = Follower(engine)
        monkeypatch.setattr(follower._places, "limit", 3)
        follower.catch_up()
        after = places(engine)
        assert after == {**before, "late": None, "other": ThreadMember("alone", "alone", "headers", inclusive=True)}


@pytest.mark.parametrize("everything", [False, True])
def test_a_mail_that_arrives_before_all_groups_are_settled_again_gets_its_place(*, everything: bool) -> None:
    with index() as engine:
        write(engine, ROOT)
        write_threads(engine)
        settle_all(engine)
        write(engine, REPLY)
        regroup(engine, everything=everything)
        assert places(engine)["reply"] == ThreadMember("root", "root", "headers", inclusive=True)
        expect_whole(engine)


def test_mails_are_placed_by_the_next_step_where_an_index_of_several_was_deleted_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with index() as engine:
        write(engine, ROOT)
        write_threads(engine)
        write(engine, REPLY, THIRD)
        places_of = ThreadPlaces(engine)
        places_of.add([(engine.index, "reply"), (engine.index, "third")])
        with monkeypatch.context() as patch:
            patch.setattr(type(engine.groups()), "write_memberships", fail)
            with pytest.raises(NoIndex):
                places_of.place()
        places_of.place()
        assert places(engine)["third"] == ThreadMember("root", "reply", "headers", inclusive=True)
        expect_whole(engine)


def fail(*_: object) -> int:
    raise NoIndex("no index 'mail-1'", "")


def test_mails_wait_for_their_places_while_another_process_holds_the_lease() -> None:
    with index() as engine:
        write(engine, ROOT)
        write_threads(engine)
        write(engine, REPLY)
        lease = [True]
        threads = ThreadPlaces(engine, is_lost=lambda: lease[0])
        threads.add([(hit.index, hit.id) for hits in engine.scan() for hit in hits if hit.id == "reply"])
        threads.place()
        assert places(engine)["reply"] is None
        lease[0] = False
        threads.place()
        assert places(engine)["reply"] == ThreadMember("root", "root", "headers", inclusive=True)


def test_a_document_that_is_no_mail_gets_no_place() -> None:
    with index() as engine:
        write(engine, ROOT)
        write_threads(engine)
        arrive(engine, Document("plain", ROOF))
        assert places(engine)["plain"] is None


@st.composite
def mailboxes(draw: st.DrawFn) -> tuple[list[Document], list[int]]:
    """Mails whose heads name mails of the box, also in circles, or missing ones, and where each portion begins."""
    count = draw(st.integers(2, 9))
    names = st.integers(-2, count - 1)
    mails = []
    for at in range(count):
        own = f"Letter {at} about the {at * 7} tiles and the {at * 11} beams of house {at}."
        parent = draw(st.none() | names)
        hour = draw(st.none() | st.integers(1, 30))
        quoted = (
            f"Letter {parent} about the {(parent or 0) * 7} tiles and the {(parent or 0) * 11} beams of house {parent}."
        )
        text = answer(own, quoted) if parent is not None and parent >= 0 and draw(st.booleans()) else own
        each = mail(f"{at}", text, number=f"{at}@x", parent="" if parent is None else f"{parent}@x", hour=hour)
        each.meta["references"] = [f"{name}@x" for name in draw(st.lists(names, max_size=3))]  # type: ignore[index]
        mails.append(each)
    order = draw(st.permutations(mails))
    return list(order), sorted({0, *draw(st.lists(st.integers(1, count - 1), max_size=count)), count})


@settings(max_examples=examples(60), deadline=None)
@given(mailboxes())
def test_mails_that_arrive_in_any_order_and_any_portions_are_placed_as_all_at_once(
    box: tuple[Sequence[Document], Sequence[int]],
) -> None:
    mails, starts = box
    with index() as engine:
        for number, (start, end) in enumerate(pairwise(starts)):
            arrive(engine, *mails[start:end])
            if not number:
                write_threads(engine)
        by_heads = {name for name, each in places(engine).items() if each and each.by in ("headers", "")}
        assert len(by_heads) == len(mails)
        expect_whole(engine)
