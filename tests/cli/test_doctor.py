"""`ibidem doctor`: every setting with its origin, and what answers."""

import json
import secrets
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from redis import Redis

from ibidem_core.settings import load
from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.connect import open_engine
from ibidem_ingest import distribution
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_workers.celery_app import make_app
from servers import redis as redis_server
from servers.fake_server import Answer as Said
from servers.fake_server import Request, between
from servers.indices import ask, remove_indices
from servers.process import Process
from support.command_line import Answer, Run
from support.rabbitmq_queues import delete_queues


def test_doctor_names_a_foreign_distribution_of_the_same_modules(answer: Answer, monkeypatch) -> None:
    (check,) = find_checks(answer, "ibidem")
    assert check["ok"]
    assert str(check["what"]).startswith("ibidem-search ")
    monkeypatch.setattr(distribution, "foreign_version", lambda: "1.0.2")
    (check,) = find_checks(answer, "ibidem")
    assert not check["ok"]
    assert "pip uninstall --yes ibidem ibidem-search" in str(check["remedy"])


def find_checks(answer: Answer, name: str) -> list[dict[str, object]]:
    return [check for check in answer("doctor")["checks"] if check["name"] == name]


@pytest.mark.server("redis")
def test_doctor_says_how_redis_loses_batches_and_what_mends_it(run: Run, answer: Answer, monkeypatch) -> None:
    server = Process("redis", redis_server.prepare)
    try:
        monkeypatch.setenv("IBIDEM_BROKER", server.wait())
        client = Redis.from_url(server.launch.url)
        client.config_set("maxmemory-policy", "allkeys-lru")
        checks = find_checks(answer, "redis")
        assert [check["remedy"] for check in checks] == ["set appendonly yes", "set maxmemory-policy noeviction"]
        assert [check["ok"] for check in checks] == [False, False]
        client.config_set("appendonly", "yes")
        client.config_set("maxmemory-policy", "noeviction")
        (check,) = find_checks(answer, "redis")
        assert (check["ok"], check["what"]) == (True, "it keeps messages until they are acknowledged")
        client.execute_command("ACL", "SETUSER", "default", "-config")
        (check,) = find_checks(answer, "redis")
        assert check["ok"]
        assert "cannot read" in str(check["what"])
        assert "appendonly yes, maxmemory-policy noeviction" in str(check["remedy"])
    finally:
        server.stop()


def test_doctor_counts_dead_letters(run: Run, answer: Answer) -> None:
    assert [check["what"] for check in find_checks(answer, "failed documents")] == ["0 documents could not be ingested"]
    with closing(open_engine(load().address, load().index)) as engine:
        engine.put_records("dead", {"a": {"why": "none"}})
    assert [check["what"] for check in find_checks(answer, "failed documents")] == ["1 document could not be ingested"]


class Misconfigured:
    """What a test gets wrong, undone in the end."""

    def __init__(self, request: pytest.FixtureRequest, patch: pytest.MonkeyPatch) -> None:
        self.request, self.patch, self.undone = request, patch, ExitStack()

    def set(self, **values: str) -> None:
        for name, value in values.items():
            self.patch.setenv(f"IBIDEM_{name.upper()}", value)

    def server(self, name: str) -> str:
        return str(self.request.getfixturevalue(name))

    def new_index(self) -> tuple[str, str]:
        """Name an index in OpenSearch that goes with the test."""
        address, name = self.server("opensearch"), f"doctor-{secrets.token_hex(4)}"
        self.undone.callback(remove_indices, address, name)
        self.set(engine=address, index=name)
        return address, name

    def index(self, settings: str) -> None:
        """Make an index and put settings on it."""
        address, name = self.new_index()
        with closing(open_engine(address, name)) as engine:
            engine.create()
        self.undone.callback(ask, address, "PUT", f"/{name}/_settings", '{"index.blocks.read_only_allow_delete": null}')
        ask(address, "PUT", f"/{name}/_settings", settings)

    def away(self) -> None:
        """Make an index whose shards are on no node."""
        address, name = self.new_index()
        body = {"settings": {"index.routing.allocation.require._name": "nowhere", "number_of_replicas": 0}}
        ask(address, "PUT", f"/{name}?wait_for_active_shards=0&timeout=1s", json.dumps(body))

    def between(self, answer: Said | None = None, tls: bool = False) -> None:
        plan = {} if answer is None else {"plan": lambda _: answer}
        server = self.undone.enter_context(between(tls=tls, **plan))
        self.set(engine=server.address("opensearch", "https" if tls else "http"))

    def rabbitmq(self, user: str = "guest:guest", path: str = "/") -> None:
        host = self.server("rabbitmq").rpartition("@")[2].partition("/")[0]
        self.set(broker=f"amqp://{user}@{host}/{path}")

    def queue_of_another_version(self) -> None:
        self.rabbitmq()
        self.set(index=f"doctor-{secrets.token_hex(4)}")
        settings = load()
        with make_app(settings).connection_for_write() as connection:
            connection.default_channel.queue_declare(settings.queue, durable=True, auto_delete=False)
        self.undone.callback(delete_queues, settings)

    def other_table(self) -> None:
        shutil.copytree(load().tables, "tables")
        self.set(tables="tables")
        Tables(Path("tables")).use(Table.build("en", 9_000, {"drains": 4.0, "repair": 9.0}, "another test"))

    def full_disk(self) -> None:
        disk = SimpleNamespace(total=100 * 10**9, free=3 * 10**9)
        self.patch.setattr(shutil, "disk_usage", lambda _: disk)

    def without(self, module: str) -> None:
        self.patch.setitem(sys.modules, module, None)


@pytest.fixture
def misconfigured(request: pytest.FixtureRequest, run: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Misconfigured]:
    setup = Misconfigured(request, monkeypatch)
    monkeypatch.setattr(ClusterClient, "wait", lambda *_: None)  # who is away is asked again at once
    monkeypatch.setattr("kombu.utils.functional.sleep", lambda _: None)
    with setup.undone:
        yield setup


Mistake = dict[str, str] | Callable[[Misconfigured], object]  # settings, or whatever else is done


def case(name: str, mistake: Mistake, check: str, *words: str, server: str = "") -> object:
    return pytest.param(mistake, check, words, id=name, marks=[pytest.mark.server(server)] if server else [])


DENIED = Said(401, {"error": {"type": "security_exception", "reason": "who are you?"}, "status": 401})
FORBIDDEN = Said(403, {"error": {"type": "security_exception", "reason": "not for you"}, "status": 403})
FLOOD = '{"index.blocks.read_only_allow_delete": true}'
SHUT = "opensearch+http://127.0.0.1:1"
TEXT = {"type": "text"}


@pytest.mark.parametrize(
    ("mistake", "check", "words"),
    [
        case("a wrong value", {"tries": "0"}, "settings", "IBIDEM_TRIES", "How often"),
        case("an unknown setting", {"indx": "news"}, "settings", "IBIDEM_INDX", "IBIDEM_INDEX"),
        case("a wrong level of logs", {"log": "loud"}, "settings", "IBIDEM_LOG", "'warning'"),
        case("no such engine", {"engine": "mysql://x"}, "settings", "IBIDEM_ENGINE", "opensearch"),
        case("nobody there", {"engine": SHUT}, "engine", "does not answer", "IBIDEM_ENGINE"),
        case("no CA file", {"engine": "opensearch+https://127.0.0.1:1/?ca=no.pem"}, "engine", "no.pem"),
        case("a wrong certificate", lambda on: on.between(tls=True), "engine", "certificate", "?ca=FILE"),
        case("a wrong password", lambda on: on.between(DENIED), "engine", "user and password", "IBIDEM_ENGINE"),
        case("a user without rights", lambda on: on.between(FORBIDDEN), "engine", "is not permitted", "give the user"),
        case("a page instead", lambda on: on.between(Said(200, b"<html>")), "engine", "not JSON", "check that"),
        case("no database", {"engine": "sqlite:///docs.jsonl"}, "engine", "name another file in IBIDEM_ENGINE"),
        case("a file as a folder", {"engine": "sqlite:///docs.jsonl/x"}, "folder", "not a folder", "IBIDEM_ENGINE"),
        case("a full disk", lambda on: on.full_disk(), "disk", "3.0 of 100.0 GB", "free some space"),
        case("a flooded disk", lambda on: on.index(FLOOD), "blocks", "flood stage", "free space", server="opensearch"),
        case("a red index", lambda on: on.away(), "shards", "is red", "bring back", server="opensearch"),
        case("another table", lambda on: on.other_table(), "tables", "another idf table", "ibidem backfill"),
        case("no table", {"tables": "no-tables"}, "tables", "another idf table", "ibidem backfill"),
        case("tables in a file", {"tables": "docs.jsonl/t"}, "tables folder", "not a folder", "IBIDEM_TABLES"),
        case("no broker", {"broker": "amqp://a:b@127.0.0.1:1//"}, "broker", "not answer", "IBIDEM_BROKER"),
        case("no Redis", {"broker": "redis://127.0.0.1:1/0"}, "broker", "not answer", "IBIDEM_BROKER"),
        *(
            case(name, mistake, "broker", *words, server="rabbitmq")
            for name, mistake, *words in (
                ("a stranger", lambda on: on.rabbitmq("guest:no"), "user and password", "IBIDEM_BROKER"),
                ("no virtual host", lambda on: on.rabbitmq(path="none"), "virtual host", "NAME"),
                ("another's queue", lambda on: on.queue_of_another_version(), "other arguments", "delete_queue"),
            )
        ),
        case("no reader of HTML", lambda on: on.without("trafilatura"), "reader for html", "ibidem-search[readers]"),
    ],
)
def test_doctor_names_what_is_wrong_and_what_mends_it(
    misconfigured: Misconfigured, run: Run, mistake: Mistake, check: str, words: tuple[str, ...]
) -> None:
    misconfigured.set(**mistake) if isinstance(mistake, dict) else mistake(misconfigured)
    code, out, _ = run("doctor", "--json")
    failures = [row for row in json.loads(out)["checks"] if not row["ok"]]
    assert code == 1
    text = " ".join(f"{row['what']} {row['remedy']}" for row in failures if row["name"] == check)
    assert all(part in text for part in words), failures
    assert all(row["remedy"] for row in failures)


def test_doctor_names_an_index_of_another_schema_and_what_mends_it(run: Run, answer: Answer) -> None:
    with closing(sqlite3.connect(".ibidem/index.sqlite")) as database, database:
        database.execute("""update "ibidem.ibidem.state" set value = '0' where name = 'schema'""")
    (check,) = (check for check in answer("doctor")["checks"] if check["name"] == "schema")
    assert not check["ok"]
    assert "ibidem backfill" in check["remedy"]
    assert "NOT OK" in run("doctor")[1]
    assert run("search", "drains")[0] == 1
    assert "schema 0" in run("search", "drains")[2]


def without_mapping(request: Request) -> Said | None:
    return FORBIDDEN if request.method == "PUT" and request.path.endswith("/_mapping") else None


@pytest.mark.parametrize(
    ("kind", "layout"),
    [
        pytest.param("opensearch", "full", marks=pytest.mark.server("opensearch")),
        pytest.param("elasticsearch", "lean", marks=pytest.mark.server("elasticsearch")),
    ],
)
def test_an_index_of_its_template_needs_no_right_on_mappings(
    kind: str, layout: str, answer: Answer, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, name = request.getfixturevalue(kind), f"doctor-{secrets.token_hex(4)}"
    monkeypatch.setenv("IBIDEM_ENGINE", f"{address}?layout={layout}")
    printed = json.dumps(answer("doctor", "--template"))
    theirs = {"dynamic": False, "_meta": {"owner": "desk"}, "properties": {"title": TEXT, "body": TEXT}}
    used = {"index_patterns": [f"{name}*"], "composed_of": [name], "template": {"mappings": theirs}}
    try:
        ask(address, "PUT", f"/_component_template/{name}", printed)
        ask(address, "PUT", f"/_index_template/{name}", json.dumps(used))
        ask(address, "PUT", f"/{name}/_doc/a?refresh=true", json.dumps({"body": "The roof of the house drains badly."}))
        with between(address, without_mapping) as server:
            monkeypatch.setenv("IBIDEM_ENGINE", f"{server.address(kind)}?layout={layout}&fields=text=body,meta=")
            monkeypatch.setenv("IBIDEM_INDEX", name)
            assert answer("backfill")["indexed"] == 1
            assert [check["what"] for check in answer("doctor")["checks"] if not check["ok"]] == []
            Path("more.jsonl").write_text(json.dumps({"id": "b", "text": "The roof drains badly."}), encoding="utf-8")
            assert answer("ingest", "more.jsonl")["indexed"] == 1
        assert ask(address, "GET", f"/{name}/_mapping")[name]["mappings"]["_meta"]["owner"] == "desk"
    finally:
        remove_indices(address, name)
        ask(address, "DELETE", f"/_index_template/{name}")
        ask(address, "DELETE", f"/_component_template/{name}")
