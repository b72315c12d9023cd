"""All groups of an index, in the order of date and id, and one document's duplicates in it."""

from unittest.mock import patch

import pytest
from hypothesis import given

from ibidem.index.documents import inspect
from ibidem.index.groups import index_groups
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.errors import UsageError
from ibidem_ingest.kernel import loops
from ibidem_ingest.signatures.packed import NO_DATE, Packed, unpack
from support.fake_engine import FakeEngine
from support.naive_grouping import leaders
from support.windows import SampleWindow, example_settings, signatures, value, windows


@example_settings
@given(windows)
def test_documents_are_grouped_by_leads_in_the_order_of_date_and_id(window: SampleWindow) -> None:
    groups = index_groups(FakeEngine(window))
    dates = [each.date_from if each else NO_DATE for each in window.packed]
    order = sorted(range(len(dates)), key=lambda row: (dates[row] == NO_DATE, dates[row], row))
    expected = SampleWindow([window.values[row] for row in order])
    assert [name for _, name in groups.names] == [f"{row:04}" for row in order]
    assert groups.grouping.lead.tolist() == leaders(expected, Policy())
    with patch.object(loops, "IN_USE", None):
        assert index_groups(FakeEngine(window)).grouping.lead.tolist() == groups.grouping.lead.tolist()


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


def unpacked(records: list[Record]) -> dict[str, Packed]:
    by_id = {each.document.id: unpack(each.packed) for each in records}
    return {name: packed for name, packed in by_id.items() if packed is not None}


@pytest.mark.slow
def test_every_document_s_duplicates_are_those_that_the_decision_finds_among_all(
    library: Engine, records: list[Record]
) -> None:
    values_by_name = unpacked(records)
    for name in list(values_by_name)[::10]:
        near_names = {
            other
            for other in values_by_name
            if other != name and decide(values_by_name[name], values_by_name[other], Policy())
        }
        duplicates = inspect(library, name).duplicates
        assert {each.id for each in duplicates} == near_names
        keys = [(each.evidence.level != "identical", -each.evidence.score) for each in duplicates]
        assert keys == sorted(keys), "identical ones come first, then the higher score"


def test_manual_decisions_are_followed_also_where_no_look_up_finds_the_other(
    library: Engine, records: list[Record]
) -> None:
    name, other = next(
        (a, b)
        for a, first in unpacked(records).items()
        for b, second in unpacked(records).items()
        if a != b and not decide(first, second, Policy())
    )
    override = Override((library.index, name), (library.index, other), "same", "Ada")
    assert other in {each.id for each in inspect(library, name, overrides=[override]).duplicates}


def test_a_document_that_is_not_there_or_not_signed_is_refused(library: Engine) -> None:
    with pytest.raises(UsageError, match="no document 'nowhere'"):
        inspect(library, "nowhere")
    with pytest.raises(UsageError, match="carries no signatures"):
        inspect(FakeEngine(SampleWindow([None])), "0000")
