"""What an index, its ledgers and a queue hold: released layouts, the form of keys, and the fields of each record."""

import base64
import json
import re
from contextlib import closing
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis import Redis

import ibidem
from contracts.command import Command, get, leases
from contracts.golden import Golden
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import decompress
from ibidem_workers.celery_app import make_app, send
from ibidem_workers.tasks import Delivery, WorkerContext, sign_and_write
from servers.indices import remove_indices

STEPS = (
    "ingest documents.jsonl",
    "overrides add lease draft --author Ada --reason courts",
    "delete letter --yes",
    "ingest documents.jsonl",
)
# A page of a backfill that was killed with it in hand, as it was noted.
PAGE = {"number": 0, "after": -1, "upto": 99, "documents": 5}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, Any]]:
    """Every record of an index with a bit of everything: ledger, form of the key, entry."""
    command = leases(tmp_path_factory.mktemp("leases"))
    for typed in STEPS:
        assert command.run(*typed.split()).code in {0, 3}
    send_too_long(command)
    rows = command.rows('select ledger, key, entry from "ibidem.ibidem.ledger" order by ledger, key')
    return [(ledger, form(key), json.loads(entry)) for ledger, key, entry in rows]


def send_too_long(command: Command) -> None:
    """Let a worker refuse a document that the one who sent it took."""
    settings = Settings(max_text=5, tables=command.folder / "tables")
    with closing(open_engine(f"sqlite:////{command.database}", "ibidem")) as engine:
        context = WorkerContext(engine, Tables(settings.tables), settings)
        sent = [{"id": "long", "text": "far too long a text", "version": 1}]
        sign_and_write(context, Delivery("20260101-000000-0000aaaa", 0, sent, died=True))


def form(key: str) -> str:
    """Replace what differs from run to run in a key."""
    key = re.sub(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b", "RUN", key)
    key = re.sub(r"20\d\d-\d\d-\d\dT[\d:.]+\+00:00", "TIME", key)
    return re.sub(r"\b[0-9a-f]{8,}\b", lambda match: "HEX" if re.search("[a-f]", match[0]) else match[0], key)


def fields(value: Any) -> Any:
    """Replace values by the names of their types; the fields of a record stay."""
    if isinstance(value, dict):
        return {name: fields(each) for name, each in value.items()}
    if isinstance(value, list):
        return [fields(value[0])] if value and isinstance(value[0], dict | list) else [fields(each) for each in value]
    return type(value).__name__


@pytest.mark.parametrize("ledger", ["runs", "groups", "dead", "tombstones", "deleted", "overrides"])
def test_the_records_of_a_ledger_have_these_keys_and_fields(records: list[tuple[str, str, Any]], ledger: str) -> None:
    shapes: dict[str, Any] = {}
    for key, entry in ((key, entry) for name, key, entry in records if name == ledger):
        shape = shapes.setdefault(key, {})
        shape |= {name: fields(each) for name, each in entry.items() if each or name not in shape}
    Golden.check(f"records/{ledger}.json", json.dumps(shapes, indent=1))


def test_there_are_these_ledgers_and_no_others(records: list[tuple[str, str, Any]]) -> None:
    Golden.check_names("records/ledgers", (ledger for ledger, _, _ in records))


@pytest.mark.server("opensearch")
def test_a_backfill_goes_on_from_the_page_that_a_killed_one_had_in_hand(tmp_path: Path, opensearch: str) -> None:
    command, index = leases(tmp_path), f"leases-{uuid4().hex}"
    command.settings.update({"IBIDEM_ENGINE": opensearch, "IBIDEM_INDEX": index})
    try:
        command.run("ingest", "documents.jsonl")
        command.run("backfill")
        with closing(open_engine(opensearch, index)) as engine:
            entry = engine.get_record("runs", "backfill/")
            Golden.check("records/backfill.json", json.dumps(fields(entry), indent=1).replace(index, "INDEX"))
            noted = entry | {"state": "open", "pages": [PAGE | {"part": f"{index}/0"}]}
            engine.put_records("runs", {"backfill/": noted})
        account = command.json("backfill")
    finally:
        remove_indices(opensearch, index)
    assert (account["exit"], account["json"]["read"]) == (0, 5), account


RANDOM = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{8}\b"), "RUN"),
    (re.compile(r"\bgen\d+@[^\s\"]+"), "PROCESS"),
    (re.compile(r"\b1[0-9]{15}\b"), "MICROSECONDS"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "HEX"),
)


def steady(text: str) -> str:
    """Replace what differs from message to message."""
    for pattern, replacement in RANDOM:
        text = pattern.sub(replacement, text)
    return text


@pytest.mark.server("redis")
def test_a_message_is_this_task_of_celery_with_these_headers_in_a_list_under_this_key(
    tmp_path: Path, redis: str
) -> None:
    index = f"queue-{uuid4().hex}"
    settings = Settings(broker=redis, index=index)
    send(make_app(settings), "20260101-000000-0000aaaa", 0, [{"id": "one", "text": "one short text", "version": 1}])
    client: Any = Redis.from_url(redis)
    key = f"ibidem:{settings.queue}"
    (data,) = client.lrange(key, 0, -1)
    client.delete(key, f"ibidem:_kombu.binding.{settings.queue}")
    message = json.loads(data)
    body = decompress(base64.b64decode(message["body"]), 1 << 20)
    shown = json.dumps(message | {"body": json.loads(body)}, indent=1).replace(index, "INDEX")
    Golden.check("queue/message.json", steady(f"{key.replace(index, 'INDEX')}\n{shown}"))


KINDS = ("opensearch", "elasticsearch")
VOLATILE = ("creation_date", "provided_name", "uuid", "version")
LINE = 'select name, sql from sqlite_master where sql is not null and name not like "%\\_%" escape "\\" order by name'


def test_a_released_layout_is_never_edited() -> None:
    layouts = [each for each in files("ibidem_mappings").iterdir() if each.name.endswith((".json", ".sql"))]
    assert layouts
    Golden.check_names("layouts/files", (f"{each.name} {sha256(each.read_bytes()).hexdigest()}" for each in layouts))


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    command = leases(tmp_path_factory.mktemp("leases"))
    command.run("ingest", "documents.jsonl")
    return command


def test_an_index_in_a_file_has_these_tables_and_says_what_it_is(command: Command) -> None:
    Golden.check("layouts/sqlite.sql", "\n".join(f"-- {name}\n{sql}" for name, sql in command.rows(LINE)))
    Golden.check("layouts/state.txt", "\n".join(map(str, command.rows('select * from "ibidem.ibidem.state"'))))


@pytest.mark.parametrize("kind", [pytest.param(name, marks=pytest.mark.server(name)) for name in KINDS])
def test_an_index_in_a_cluster_has_this_mapping(request: pytest.FixtureRequest, kind: str) -> None:
    address, index = request.getfixturevalue(kind), f"contracts-{uuid4().hex}"
    engine = ibidem.open_engine(address, index)
    engine.create()
    url = f"{address.partition('+')[2]}/{index}"
    definition: Any = json.loads(get(url))[index]
    engine.close()
    remove_indices(address, index)
    Golden.check_json(f"layouts/{kind}-mapping", definition["mappings"])
    steady = {name: value for name, value in definition["settings"]["index"].items() if name not in VOLATILE}
    Golden.check_json(f"layouts/{kind}-settings", steady)
