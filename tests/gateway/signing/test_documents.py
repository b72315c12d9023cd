"""Bodies of single documents are signed."""

from pathlib import Path

import orjson
import pytest

from ibidem.gateway.signing import pool
from ibidem.gateway.signing.documents import PartialWrite, Result, SigningContext, WholeWrite, sign_documents
from ibidem_core.address import Fields
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from support.leases import LEASE


@pytest.fixture
def context(tables: Tables) -> SigningContext:
    return SigningContext(tables.folder, Fields(), (), 10_000, 60)


def sign(context: SigningContext, *writes: WholeWrite | PartialWrite) -> list[Result]:
    return sign_documents(writes, context, Tables(context.tables))


def test_every_other_byte_of_a_document_stays(context: SigningContext) -> None:
    body = b'{"text": "%s","price":1.50 , "wide":%d}' % (LEASE.encode(), 10**40)
    (write,) = sign(context, WholeWrite("a", "full", body))
    assert write.fate == "signed"
    assert write.body.startswith(body[:-1] + b',"ibidem":{')


def test_one_document_that_cannot_be_signed_harms_no_other(context: SigningContext) -> None:
    bodies = [b'{"text":"a","x":NaN}', b'{"text":"\\ud800"}', b"[]", b'{"text":"%s"}' % (b"long " * 3_000)]
    good = orjson.dumps({"text": LEASE})
    writes = sign(context, *(WholeWrite(str(at), "full", body) for at, body in enumerate((good, *bodies, good))))
    assert [each.fate for each in writes] == ["signed", "json", "json", "json", "length", "signed"]
    assert [each.body for each in writes[1:-1]] == bodies


def test_what_makes_signing_fail_goes_on_alone_and_unsigned(context: SigningContext) -> None:
    strange = orjson.dumps({"text": LEASE, "date": "1987", "meta": {"a": 1}}).replace(b'"a":1', b'"a":%d' % 10**400)
    writes = sign(context, WholeWrite("a", "full", orjson.dumps({"text": LEASE})), WholeWrite("b", "full", strange))
    assert (writes[0].fate, writes[1].body == strange) == ("signed", writes[1].fate != "signed")


def test_an_update_of_a_document_without_a_text_takes_its_signatures_away(context: SigningContext) -> None:
    stored_fields = {"text": LEASE, "ibidem": {"record": "x", "packed": ""}}
    (write,) = sign(context, PartialWrite("a", "full", b'{"doc":{"text":{"b":1}}}', source=stored_fields))
    assert (write.fate, orjson.loads(write.body)["doc"]) == ("text", {"text": {"b": 1}, "ibidem": None})


def test_an_upsert_is_signed_and_a_document_that_came_before_it_loses_its_signatures(context: SigningContext) -> None:
    body = orjson.dumps({"doc": {"text": LEASE}, "doc_as_upsert": True})
    (write,) = sign(context, PartialWrite("a", "full", body))
    content = orjson.loads(write.body)
    assert (write.fate, content["doc"]["ibidem"], content["doc_as_upsert"]) == ("signed", None, False)
    assert content["upsert"]["ibidem"]["id"] == "a"


@pytest.mark.parametrize("obstacle", ["pipeline", "schema", "table"])
def test_nothing_is_signed_where_the_index_forbids_it(context: SigningContext, obstacle: str) -> None:
    write = WholeWrite("a", "full", b'{"text":"a","ibidem":{"content":"old"}}', obstacle)  # type: ignore[arg-type]
    part = PartialWrite("a", "full", b'{"doc":{"text":"a"}}', obstacle)  # type: ignore[arg-type]
    writes = sign(context, write, part)
    assert [orjson.loads(each.body) for each in writes] == [
        {"text": "a", "ibidem": None},
        {"doc": {"text": "a", "ibidem": None}},
    ]


def test_what_the_followers_of_groups_write_stays_as_it_is(context: SigningContext) -> None:
    body = b'{"doc":{"ibidem":{"group":"g","lead":false}}}'
    stored_fields = {"text": LEASE, "ibidem": {"group": "h"}}
    writes = sign(
        context, PartialWrite("a", "full", body, source=stored_fields), PartialWrite("a", "full", body, "retry")
    )
    assert [(each.body, each.fate) for each in writes] == [(body, "same")] * 2


def test_a_table_that_is_put_into_use_is_used_from_then_on(tables: Tables, tmp_path: Path) -> None:
    folder = Tables(tmp_path)
    folder.use(Table.build("en", 10_000, {"rent": 10.0}, "first"))
    context = SigningContext(tmp_path, Fields(), (), 10_000, 60)
    pool._put(context, Tables(tmp_path), folder.current())
    writes = [WholeWrite("a", "full", orjson.dumps({"text": LEASE}))]
    names = []
    for source in ("second", "third"):
        names.append(orjson.loads(pool.sign_here(writes)[0].body)["ibidem"]["idf"])
        folder.use(Table.build("en", 10_000, {"rent": 10.0, source: 20.0}, source))
    names.append(orjson.loads(pool.sign_here(writes)[0].body)["ibidem"]["idf"])
    assert len(set(names)) == 3
