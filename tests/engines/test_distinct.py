"""Fields that must not differ are those that an index was signed with, or the command is refused."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ibidem.index.groups import StoredReport
from ibidem_engines.distinct import check_distinct
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.packed import pack
from support.signed_records import make_record


def fill(engine: Engine, distinct: Sequence[str]) -> None:
    records = [make_record(f"o{number}", meta={"docket": str(number)}) for number in range(3)]
    records.append(make_record("without"))
    engine.write([replace(each, packed=pack(each.document, each.signatures, distinct)) for each in records])
    engine.refresh()


def test_an_index_without_documents_is_signed_with_anything(engine: Engine) -> None:
    check_distinct(engine, ["meta.docket"], writes=True)


@pytest.mark.parametrize(("signed", "asked"), [((), "meta.docket"), (("meta.docket",), "source")])
def test_fields_that_an_index_was_not_signed_with_are_refused(
    engine: Engine, signed: Sequence[str], asked: str
) -> None:
    fill(engine, signed)
    check_distinct(engine, signed, writes=True)
    with pytest.raises(
        UsageError, match=f"IBIDEM_DISTINCT='{asked}'.*was signed with another value; .*ibidem backfill"
    ):
        check_distinct(engine, [asked])


def test_who_only_reads_may_name_no_fields_and_who_writes_may_not(engine: Engine) -> None:
    fill(engine, ["meta.docket"])
    check_distinct(engine, [])
    with pytest.raises(UsageError, match="another value"):
        check_distinct(engine, [], writes=True)


def test_one_document_that_changed_since_it_was_signed_refuses_nothing(engine: Engine) -> None:
    fill(engine, ["meta.docket"])
    changed = make_record("o0", meta={"docket": "9"}, version=2)
    engine.write([replace(changed, packed=pack(changed.document, changed.signatures, ["source"]))])
    engine.refresh()
    check_distinct(engine, ["meta.docket"])


def test_stored_groups_count_no_document_without_signatures_as_a_duplicate(engine: Engine) -> None:
    engine.write([make_record("a"), make_record("b"), make_record("c", "..."), make_record("d", "")])
    engine.refresh()
    counted = StoredReport(engine).as_json()
    sizes = counted["sizes"]
    assert isinstance(sizes, dict)
    assert counted["duplicates"] == sum((int(size) - 1) * count for size, count in sizes.items())
    assert counted["documents"] == 4
