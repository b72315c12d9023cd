"""Fuzz targets: messages of the queue, files of settings, and records of an index that others write."""

import contextlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import orjson
from celery import Celery
from kombu.transport import virtual

from fuzz.target import ENDS, Target, as_any_text, check_message, folder
from ibidem_core.address import (
    Fields,
    parse_address,
    parse_fields,
    read_path,
    redact,
    remove_path,
    set_path,
    with_fields,
)
from ibidem_core.settings import Settings, load, settings_rows
from ibidem_dedupe.overrides import Override
from ibidem_engines.cluster import source as documents
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Record
from ibidem_engines.ledger import UnstorableRecord
from ibidem_ingest.document import Document, read_record
from ibidem_ingest.signatures.lookup_keys import stored_keys
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.sign import digest, sign_one
from ibidem_workers.batches import BatchResult, check
from ibidem_workers.celery_app import TASK, make_app
from ibidem_workers.ingest import RunRecord, parse_run
from ibidem_workers.tasks import read_letter
from ibidem_workers.worker import FOREIGN_ERRORS

FIELDS = Fields(text="article.body", title="headline", meta="")
SOURCE = orjson.dumps(
    {
        "headline": "Grain",
        "article": [{"body": "One"}, {"body": ["Two", 3]}],
        "date": "19.10.1987",
        "price": 1.5,
        "ibidem": {"version": 3, "given": True, "record": "0", "idf": "0", "packed": "AA=="},
    }
)
RECORD = orjson.dumps(
    {
        "id": "a",
        "text": "x",
        "pages": ["x"],
        "date": "1787",
        "language": "en-GB",
        "version": 1,
        "meta": {"a": [1, {"b": None}]},
    }
)
TOML = b"""index = "news"
engine = "opensearch+https://ann:s3cr3t@host:9200/?layout=lean"
broker = "amqp://me:s3cr3t@mq.example:5672//"
distinct = "meta.docket,source"
max_text = 1000
"""
ADDRESSES = (
    b"elasticsearch+https://ann:s3cr3t@one:9243,two,[::1]:9200/?timeout=5&fields=text%3Dbody",
    b"opensearch+http://host/?api_key=s3cr3t&layout=lean",
    b"sqlite:////var/index.sqlite",
    b"redis://:s3cr3t@host:6379/0",
    b"amqp://me:s3cr3t@[::1",
)


def settings(data: bytes) -> None:
    """Read a file of settings, and show them."""
    (folder() / "ibidem.toml").write_bytes(data)
    settings_rows(load({}, folder()))


def environment(data: bytes) -> None:
    """Read `.env`, and show the settings."""
    folder_there = folder() / "env"
    folder_there.mkdir(exist_ok=True)
    (folder_there / ".env").write_bytes(data)
    settings_rows(load({}, folder_there))


def address(data: bytes) -> None:
    """Read an address of engine or broker, and show it."""
    text = as_any_text(data)
    redact(text)
    for read in (parse_address, lambda url: with_fields(url, "text=body"), lambda url: open_engine(url, "news")):
        try:
            read(text)
        except ENDS as error:
            check_message(str(error))
    settings_rows(Settings().changed(engine=text))


def fields(data: bytes) -> None:
    """Read the names that an index has for our fields, and look under them."""
    names = parse_fields(as_any_text(data))
    source: dict[str, Any] = orjson.loads(SOURCE)
    for path in (names.title, names.text, names.meta):
        read_path(source, path)
        remove_path(source, path)
        set_path(dict(source), path or "a", 1)
    documents.as_document("a", source, names)


def record(data: bytes) -> None:
    """Read a document as it comes out of the queue, and write it as servers store it."""
    read = parse(data)
    document = read_record(read, "a message")
    check_signing(document)


def check_signing(document: Document) -> None:
    """Sign a document and write it as a server stores it, in both layouts."""
    signatures = sign_one(document, None)
    full_record = Record(
        document, signatures, document.version or 0, digest(document, ""), pack(document, signatures, ("a",))
    )
    for layout in ("full", "lean"):
        documents.as_source(full_record, Fields(), layout, *stored_keys([(full_record.packed, full_record.long)]))


def source(data: bytes) -> None:
    """Read a document that another program wrote into an index."""
    read = parse(data)
    if not isinstance(read, dict):
        return
    documents.read_version(read)
    for names in (Fields(), FIELDS):
        document = documents.as_document("a", read, names)
        if not documents.text_fault(read, names):
            signed_beside(document, data)


def signed_beside(document: Document, raw: bytes) -> None:
    """Write signatures into a document's JSON; every other member of it stays as it is."""
    signatures = sign_one(document, None)
    full_record = Record(document, signatures, 1, "0", pack(document, signatures))
    text = raw.decode().strip()
    members_before = {name: text[slice(*span)] for name, span in documents.members(text)}
    (keys,) = stored_keys([(full_record.packed, full_record.long)])
    members_after = documents.with_signatures(raw, full_record, "full", keys).decode()
    folder_there = {name: members_after[slice(*span)] for name, span in documents.members(members_after)}
    assert folder_there.pop("ibidem")
    members_before.pop("ibidem", None)
    assert folder_there == members_before


def parse(data: bytes) -> Any:
    """Read JSON; what is none is nobody's document."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


@cache
def app() -> Celery:
    """Return the application over Redis, to which nothing connects."""
    return make_app(Settings(broker="redis://redis.example/0", index="fuzz"))


def laid() -> bytes:
    """Return a message as the submitter publishes it, as it lies in a list of Redis."""
    task = app().amqp.as_task_v2("an id", TASK, ["run", 0, [{"id": "a", "text": "x"}]])
    properties = {"delivery_tag": "tag", "delivery_info": {"exchange": "", "routing_key": "fuzz"}}
    message = {"body": orjson.dumps(task.body).decode(), "headers": task.headers, "properties": properties}
    return orjson.dumps(message | {"content-type": "application/json", "content-encoding": "utf-8"})


def message(data: bytes) -> None:
    """Read a message as Kombu and our consumer do."""
    with contextlib.suppress(*FOREIGN_ERRORS):
        check(virtual.Message(json.loads(data)), app().conf.ibidem_message_bytes)


def ledger(data: bytes) -> None:
    """Read records of every ledger, as somebody may have written them who has the right to."""
    read = parse(data)
    if isinstance(read, dict):
        for reader in (BatchResult.from_json, parse_run, Override.from_record, read_letter):
            try:
                reader(read)
            except ENDS:
                continue


LEDGER = (
    orjson.dumps(BatchResult(indexed=2, at=1.0).as_json()),
    orjson.dumps(RunRecord("r", ["a"], 1.0)),
    orjson.dumps(Override(("news", "a"), ("news", "b"), "not").as_record()),
    b'{"run":"r","refusal":{"where":"w","id":"a","field":"","why":"y"},"tries":1,"when":1.5,"record":{"id":"a"}}',
    b'{"name":"a","query":"wheat","filters":["source=AP"],"dedupe":{"dedupe_level":"near"}}',
    b'{"index":"news","id":"a","when":"1987","packed":"AA=="}',
)

TARGETS: Mapping[str, Target] = {
    "settings": Target(settings, (TOML,), (b"=", b"[a]", b"engine=", b"broker=", b"\n")),
    "environment": Target(
        environment, (b"IBIDEM_INDEX=news\nOTHER='x'\nIBIDEM_MAX_TEXT=1\n",), (b"IBIDEM_", b"=", b"'", b"${")
    ),
    "address": Target(address, ADDRESSES, (b"@", b"://", b"[", b"?api_key=", b"%40", b"//", b"#")),
    "fields": Target(
        fields, (b"title=headline,text=article.body,meta=", b"text=parts.body,date=."), (b".", b",text=", b"=")
    ),
    "record": Target(
        record, (RECORD,), (b"[[[[", b"null", b"1e400", b'"meta":', b"\\u0000"), (*ENDS, UnstorableRecord)
    ),
    "source": Target(
        source,
        (SOURCE, b'{"text": "a", "ibidem": null}'),
        (b'"ibidem":', b"1.50", b"[" * 40),
        (*ENDS, UnstorableRecord),
    ),
    "message": Target(message, (laid(),), (b'"headers":', b'"properties":{}', b"null", b'"body":1')),
    "ledger": Target(ledger, LEDGER, (b"null", b"[]", b'"replaced":', b"1e9")),
}
