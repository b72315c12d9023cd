"""The order in which the mails of a thread and the versions of a work are shown."""

import pytest

from ibidem_mail.memberships import ThreadMember, WorkMember
from ibidem_mail.window_members import WindowMembers

# Id: parent, what says so, inclusive.
THREAD = {
    "root": ("", "", False),
    "early": ("root", "headers", False),
    "late": ("root", "headers", True),
    "answer": ("early", "quotation", True),
    "bill": ("answer", "family", True),
    "astray": ("gone", "headers", False),
}


def thread(*ids: str) -> WindowMembers:
    stored = [ThreadMember("root", *THREAD[name]).values() for name in ids]
    days = [list(THREAD).index(name) for name in ids]
    return WindowMembers("thread", [("mail", name) for name in ids], stored, days)


def tree(members: WindowMembers) -> list[tuple[str, int]]:
    rows = range(len(members.names))
    top = members.top(rows)
    order = members.order(rows, top)
    shown = sorted(order.rows, key=lambda row: order.places[row])
    return [(members.names[top][1], 0), *((members.names[row][1], order.depths[row]) for row in shown)]


def test_a_mail_is_below_the_one_that_it_answers_and_of_answers_the_inclusive_one_comes_first() -> None:
    assert tree(thread("bill", "late", "astray", "answer", "early", "root")) == [
        ("root", 0),
        ("late", 1),
        ("early", 1),
        ("answer", 2),
        ("bill", 3),
        ("astray", 1),
    ]


def test_a_mail_whose_parent_is_not_in_the_list_is_right_below_the_top() -> None:
    assert tree(thread("bill", "late", "early")) == [("early", 0), ("late", 1), ("bill", 1)]


def test_where_few_are_shown_inclusive_ones_are() -> None:
    members = thread("root", "early", "answer", "late")
    assert [members.names[row][1] for row in members.order(range(4), 0).rows] == ["late", "answer", "early"]


def test_mails_that_answer_each_other_are_shown_each_once() -> None:
    circle = [ThreadMember("a", other, "headers", inclusive=False).values() for other in "bcb"]
    members = WindowMembers("thread", [("mail", name) for name in "abc"], circle, [0, 1, 2])
    order = members.order(range(3), 0)
    assert sorted(order.rows) == [1, 2]
    assert sorted(order.depths) == [1, 2]


def test_a_mail_and_what_is_attached_to_it_are_one_family() -> None:
    assert thread("answer", "bill", "late").families(range(3)) == 2


@pytest.mark.parametrize("rows", [(0, 1, 2, 3), (3, 2, 1, 0)])
def test_the_last_version_is_on_top_and_the_later_ones_come_first(rows: tuple[int, ...]) -> None:
    places = {"one": (1, False), "two": (2, True), "copy": (2, False), "other": None}
    names = [("works", list(places)[row]) for row in rows]
    own = [places[name] for _, name in names]
    stored = [WorkMember("one", place[0], "name", place[1]).values() if place else {} for place in own]
    members = WindowMembers("version", names, stored, [0] * 4)
    mine = [row for row in range(4) if members.set_name(row)]
    top = members.top(mine)
    assert names[top][1] == "two"
    order = members.order(mine, top)
    assert [names[row][1] for row in order.rows] == ["copy", "one"]
    assert set(order.depths.values()) == {1}
