"""All groups of an index, taken in the order of date and id."""

from unittest.mock import patch

from hypothesis import given

from ibidem.index.groups import index_groups
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import NO_DATE
from support.fake_engine import FakeEngine
from support.naive_grouping import leaders
from support.windows import SampleWindow, example_settings, signatures, value, windows


@example_settings
@given(windows)
def test_documents_are_grouped_by_leads_in_the_order_of_date_and_id_and_the_counts_add_up(window: SampleWindow) -> None:
    groups = index_groups(FakeEngine(window))
    dates = [each.date_from if each else NO_DATE for each in window.packed]
    order = sorted(range(len(dates)), key=lambda row: (dates[row] == NO_DATE, dates[row], row))
    assert [name for _, name in groups.names] == [f"{row:04}" for row in order]
    assert groups.grouping.lead.tolist() == leaders(SampleWindow([window.values[row] for row in order]), Policy())
    with patch.object(loops, "IN_USE", None):  # as where no compiler was
        assert index_groups(FakeEngine(window)).grouping.lead.tolist() == groups.grouping.lead.tolist()
    json_form = groups.as_json()
    assert json_form["documents"] == json_form["groups"] + json_form["duplicates"] == len(window.values)  # type: ignore[operator]
    assert sum(groups.kinds.values()) == json_form["duplicates"]
    assert sum((size - 1) * count for size, count in groups.sizes.items()) == json_form["duplicates"]
    members = list(groups.members())
    assert len(members) == sum(size * count for size, count in groups.sizes.items())
    assert sum(not each.evidence for each in members) == sum(groups.sizes.values())


def test_groups_are_listed_with_their_leads_first_and_the_largest_named() -> None:
    a, b = signatures(1), signatures(2)
    values = [value(b, "0", "1990"), value(a, "1"), value(a, "2", "1987-02"), value(a, "3", "1987-01"), value(b, "4")]
    groups = index_groups(FakeEngine(SampleWindow(values)))
    assert [(each.lead, each.id, each.size, each.evidence) for each in groups.members()] == [
        ("0003", "0003", 3, ""),
        ("0003", "0002", 3, "content"),
        ("0003", "0001", 3, "content"),
        ("0000", "0000", 2, ""),
        ("0000", "0004", 2, "content"),
    ]
    assert groups.largest == [(("news", "0003"), 3), (("news", "0000"), 2)]
    json_form = groups.as_json({("news", "0003"): "Bread and wine"})
    assert json_form["sizes"] == {"2": 1, "3": 1}
    assert json_form["largest"][0] == {"lead": "0003", "title": "Bread and wine", "size": 3}  # type: ignore[index]


def test_a_real_index_is_read_whole(library: Engine, records: list[Record]) -> None:
    progress: list[int] = []
    groups = index_groups(library, progress=progress.append)
    assert len(groups.names) == len(records) == progress[-1]
    assert groups.kinds.keys() >= {"content", "minhash"}


def test_an_empty_index_has_no_groups() -> None:
    assert index_groups(FakeEngine(SampleWindow([]))).as_json()["groups"] == 0
