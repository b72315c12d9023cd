"""The result list as a template shows it."""

import pytest

from ibidem_gateway.page.entries import page_groups, web_address


def hit(id_: str, text: str, **mark: object) -> dict[str, object]:
    return {"_id": id_, "_source": {"text": text, "date": "1987", "source": "AP"}, "_dedupe": {"group": "g", **mark}}


def test_duplicates_are_under_their_lead_with_reason_and_difference() -> None:
    why = {"signature": "minhash", "shared": 73, "of": 100}
    hits = [hit("a", "rent rose", size=3, indent=0), hit("b", "rent fell", size=3, indent=1, level="near", why=why)]
    (group,) = page_groups({"hits": {"hits": hits}, "dedupe": {"mode": "indent"}}, 11)
    assert (group.number, group.hidden, group.opened, group.count_text) == (11, 1, True, "2 duplicates")
    (entry,) = group.duplicates
    assert (entry.level, entry.reason) == ("near", "about 84 % of the text shared")
    assert entry.lead_id == "a"
    assert [each.text for each in entry.differs if each.kind != "same"] == ["rose", "fell"]


def test_a_collapsed_lead_carries_its_duplicates_closed() -> None:
    inner = [hit("b", "rent", size=2, indent=1, level="identical", why=None)]
    lead = hit("a", "rent", size=2, indent=0) | {"inner_hits": {"duplicates": {"hits": {"hits": inner}}}}
    (group,) = page_groups({"hits": {"hits": [lead]}, "dedupe": {"mode": "collapse"}}, 1)
    assert (group.opened, [each.id for each in group.duplicates], group.hidden) == (False, ["b"], 0)


@pytest.mark.parametrize(("level", "is_shown"), [("near", True), ("partial", False)])
def test_what_differs_is_reported_where_the_texts_share_most_of_their_words(level: str, *, is_shown: bool) -> None:
    duplicate = hit("b", "the rent of York", indent=1, level=level)
    lead = hit("a", "the rent of London", size=2, indent=0)
    (group,) = page_groups({"hits": {"hits": [lead, duplicate]}, "dedupe": {"mode": "indent"}}, 1)
    assert bool(group.duplicates[0].differs) == is_shown


@pytest.mark.parametrize(("mode", "budget"), [("indent", -1.0), ("collapse", 60.0)])
def test_differences_beyond_the_budget_and_of_closed_groups_are_read_when_a_group_is_opened(
    mode: str, budget: float
) -> None:
    inner = [hit("b", "the rent of York", indent=1, level="near"), hit("c", "a part", indent=1, level="partial")]
    lead = hit("a", "the rent of London", size=3, indent=0) | {"inner_hits": {"duplicates": {"hits": {"hits": inner}}}}
    (group,) = page_groups({"hits": {"hits": [lead]}, "dedupe": {"mode": mode}}, 1, budget)
    assert [each.differs for each in group.duplicates] == [None, []]


def test_copies_that_were_only_counted_are_reported_with_their_lead() -> None:
    lead = hit("a", "rent", size=1, indent=0, only_counted=1)
    (group,) = page_groups({"hits": {"hits": [lead]}, "dedupe": {"mode": "indent"}}, 1)
    assert group.further == "1 further duplicate matched and counted, not listed"


@pytest.mark.parametrize(
    ("typed", "is_shown"),
    [
        ("https://example.org/a?b=c", "https://example.org/a?b=c"),
        ("javascript:alert(1)", ""),
        (" JavaScript:alert(1)", ""),
        ("data:text/html,<b>", ""),
        ("//example.org", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_only_addresses_of_the_web_become_links(typed: str, is_shown: str) -> None:
    assert web_address(typed) == is_shown
