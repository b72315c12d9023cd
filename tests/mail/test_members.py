"""The order in which the mails of a thread and the versions of a work are shown."""

import pytest

from ibidem_mail.memberships import ThreadMember, WindowMembers, WorkMember

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


def test_mails_that_answer_each_other_are_shown_each_once() -> None:
    circle = [ThreadMember("a", other, "headers", inclusive=False).values() for other in "bcb"]
    members = WindowMembers("thread", [("mail", name) for name in "abc"], circle, [0, 1, 2])
    order = members.order(range(3), 0)
    assert sorted(order.rows) == [1, 2]
    assert sorted(order.depths) == [1, 2]


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
