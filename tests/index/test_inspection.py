"""One document's duplicates in the whole index."""

import pytest

from ibidem.index.inspection import inspect
from ibidem_dedupe.decision import decide
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import Packed, unpack
from support.fake_engine import FakeEngine
from support.windows import SampleWindow


def unpacked(records: list[Record]) -> dict[str, Packed]:
    by_id = {each.document.id: unpack(each.packed) for each in records}
    return {name: packed for name, packed in by_id.items() if packed is not None}


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
        assert {each.id for each in inspect(library, name).duplicates} == near_names


def test_identical_ones_come_first_then_the_higher_score(library: Engine, records: list[Record]) -> None:
    for name in list(unpacked(records))[::10]:
        keys = [
            (each.evidence.level != "identical", -each.evidence.score) for each in inspect(library, name).duplicates
        ]
        assert keys == sorted(keys)


def test_it_reads_as_the_command_line_promises(library: Engine, records: list[Record]) -> None:
    report = next(
        inspection for each in records if (inspection := inspect(library, each.document.id)).duplicates
    ).as_json()
    assert report.keys() >= {"id", "title", "signatures", "duplicates"}
    assert report["duplicates"][0].keys() == {"id", "title", "level", "relation", "score", "why"}  # type: ignore[index]


def test_only_the_level_asked_for_is_shown(library: Engine, records: list[Record]) -> None:
    for name in list(unpacked(records))[::20]:
        duplicates = inspect(library, name, Policy(level="identical")).duplicates
        assert all(each.evidence.level == "identical" for each in duplicates)


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
