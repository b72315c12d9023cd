"""The table of least rights in docs/clusters.md: with a row's rights all works, and without any one of them not.

The servers of the tests have no security module, so a server in between refuses what an account may not do, by the
actions that the engines check: Elasticsearch's `read` is `indices:data/read/*`, its `manage` `indices:admin/*`.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import elasticsearch
import httpx2
import opensearchpy
import pytest

import ibidem
from gateway.gateway_server import run_gateway
from ibidem.cli import main
from ibidem_core.errors import EngineError
from ibidem_core.settings import Settings
from ibidem_engines.cluster.records import TEMPLATE
from ibidem_engines.engine import Beside
from ibidem_workers.backfill.run import follow
from servers.fake_server import Answer, Request, between
from servers.indices import ask, remove_indices
from support.wrapped_clients import CLIENTS

PAGE = Path(__file__).parents[3] / "docs" / "clusters.md"
FORBIDDEN = Answer(403, {"error": {"type": "security_exception", "reason": "not for you"}, "status": 403})
MAPPING = {"properties": {"title": {"type": "text"}, "text": {"type": "text"}}}
FIELDS = "meta="
ROOF = "The roof of the house drains badly and must be repaired before the winter comes"
TEXTS = {"a": ROOF, "b": ROOF, "c": ROOF, "d": "Another roof that has nothing to do with it"}

# What is asked of an index, by method and the part of the path after its name; all other paths are the cluster's.
INDEX = {
    "GET": "view_index_metadata",
    "GET _mapping": "view_index_metadata",
    "GET _settings": "view_index_metadata",
    "GET _alias": "view_index_metadata",
    "GET _stats": "monitor",
    "GET _recovery": "monitor",
    "POST _refresh": "maintenance",
    "POST _bulk": "write",
    "PUT": "create_index",
    "PUT _mapping": "manage",
    "PUT _settings": "manage",
    "DELETE": "delete_index",
    **{f"POST {name}": "read" for name in ("_search", "_msearch", "_mget", "_count", "_pit")},
}
CLUSTER = {"GET": "monitor", "PUT": "manage_index_templates"}

NAMED = {
    "_bulk": r'"_index": ?"([^"]+)"',
    "_mget": r'"_index": ?"([^"]+)"',
    "_msearch": r'"index": ?(?:"(?!asc")([^"]+)"|\[([^]]+)\])',
}
Right = tuple[str, str]  # the place, as the head of a column has it, and the name of a right


def rights_for(request: Request) -> Iterator[Right]:
    """Yield each index that a request is about, or the cluster, with the right that it needs."""
    names, _, action = request.path.partition("?")[0].strip("/").partition("/")
    if names in NAMED:
        for found in re.finditer(NAMED[names], request.body.decode()):
            several = found[found.lastindex or 1].replace('"', "").split(",")
            yield from ((name, INDEX[f"POST {names}"]) for name in several)
    elif names == "_search" or (names == "_pit" and request.method == "DELETE"):  # of a point in time, which is a key
        return
    elif names.startswith("_") or not names:
        yield "cluster", CLUSTER.get(request.method, f"{request.method} {names}")
    else:
        verb = f"{request.method} {action.partition('/')[0]}".strip()
        right = INDEX.get(verb, verb)
        yield from ((name, right) for name in names.replace("%2C", ",").split(","))


@dataclass(frozen=True)
class Stage:
    """An index of others, and the address at which an account works on it."""

    kind: str
    server: str  # the engine, for whom all is allowed
    settings: Settings  # with the address of the server in between

    def ask(self, path: str, body: object = None, method: str = "PUT") -> None:
        ask(self.server, method, f"/{self.settings.index}{path}", body and json.dumps(body))

    def fill(self, *, sign: bool = True, beside: bool = False) -> None:
        self.ask("", {"mappings": MAPPING})
        for name, text in TEXTS.items():
            self.ask(f"/_doc/{name}?refresh=true", {"title": "Roof", "text": text})
        if sign:
            whole = replace(self, settings=self.settings.changed(engine=self.server))
            assert command(whole, "backfill", *(["--beside"] if beside else [])) == 0
            assert command(whole, "overrides", "add", "a", "c") == 0
            assert command(whole, "regroup", "--all") == 0

    def having(self, part: str) -> set[str]:
        """Return the documents that have a field of ibidem, in their index or in the one beside it."""
        self.ask("/_refresh", method="POST")
        body = json.dumps({"query": {"exists": {"field": f"ibidem.{part}"}}})
        names = f"{self.settings.index},.ibidem-{self.settings.index}-signatures"
        hits = ask(self.server, "POST", f"/{names}/_search?ignore_unavailable=true", body)["hits"]["hits"]
        return {hit["_id"].rpartition("/")[2] for hit in hits}


def command(stage: Stage, *arguments: str) -> int:
    """Run a command; returns its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("engine", "index", "fields", "tables"):
            patch.setenv(f"IBIDEM_{name.upper()}", str(getattr(stage.settings, name)))
        patch.setenv("IBIDEM_CONCURRENCY", "1")
        with pytest.raises(SystemExit) as end:
            main([*arguments, "--json"])
    return int(end.value.code or 0)


def dry_run(stage: Stage) -> object:
    stage.fill(sign=False)
    return command(stage, "backfill", "--dry-run")


def backfill(stage: Stage, *options: str) -> object:
    stage.fill(sign=False)
    return command(stage, "backfill", *options), stage.having("content")


def follower(stage: Stage, beside: Beside = "") -> object:
    stage.fill(beside=bool(beside))
    looks = iter(range(100))

    def has_ended(seconds: float) -> bool:
        if not seconds:
            return False
        if next(looks) == 0:
            stage.ask("/_doc/e?refresh=true", {"title": "Roof", "text": ROOF})
        return next(looks) > 40 or (stage.having("group") >= {*TEXTS, "e"} and grouped(stage, stage.server)[0] == 5)

    follow(stage.settings, has_ended, beside=beside)
    return grouped(stage, stage.server), stage.having("lead")


def run_signed(stage: Stage, *arguments: str) -> object:
    stage.fill()
    return command(stage, *arguments)


def strip(stage: Stage) -> object:
    stage.fill()
    return command(stage, "strip"), stage.having("content")


def search(stage: Stage, *, is_beside: bool = False) -> object:
    stage.fill(beside=is_beside)
    return grouped(stage, stage.settings.engine)


def grouped(stage: Stage, address: str) -> tuple[int, str, object]:
    """Search with a client; returns how many documents match, how they are grouped, and how many groups there are."""
    client = CLIENTS[stage.kind][0](address.partition("+")[2])
    try:
        body = {"query": {"match": {"text": "roof"}}}
        found = ibidem.search(client, index=stage.settings.index, body=body, dedupe="collapse")
    finally:
        client.close()
    return found["hits"]["total"]["value"], found["dedupe"]["by"], found["dedupe"]["groups"]


def gateway(stage: Stage, *, is_beside: bool = False) -> object:
    stage.fill(beside=is_beside)
    with run_gateway(stage.settings) as url:
        path = f"/{stage.settings.index}/_search"
        found = httpx2.get(f"{url}{path}", params={"q": "text:roof", "dedupe": "collapse"}, timeout=60)
        page = httpx2.get(f"{url}/", params={"q": "roof"}, headers={"accept": "text/html"}, timeout=60)
    return found.status_code, found.json().get("dedupe", {}).get("groups"), page.status_code


ROLES: dict[str, Callable[[Stage], object]] = {
    "`ibidem backfill --dry-run`": dry_run,
    "`ibidem backfill`": backfill,
    "`ibidem backfill --beside`": lambda stage: backfill(stage, "--beside"),
    "`ibidem backfill --follow`": follower,
    "`ibidem backfill --beside --follow`": partial(follower, beside="index"),
    "`ibidem regroup`": lambda stage: run_signed(stage, "regroup", "--all"),
    "`ibidem overrides add`": lambda stage: run_signed(stage, "overrides", "add", "a", "b"),
    "`ibidem strip`": strip,
    "searches of wrapped clients": search,
    "callers of the gateway": gateway,
    "searches of clients, beside": partial(search, is_beside=True),
    "callers of the gateway, beside": partial(gateway, is_beside=True),
}


def table() -> dict[str, frozenset[Right]]:
    """Read the rights of each row."""
    rows = PAGE.read_text(encoding="utf-8").partition("## Least rights")[2].partition("\n## ")[0].splitlines()
    head, _, *body = ([cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("|"))
    return {
        who: frozenset(
            (place.strip("`"), right)
            for place, cell in zip(head[1:], cells, strict=True)
            for right in re.findall(r"`(\w+)`", cell)
        )
        for who, *cells in body
    }


@dataclass(frozen=True)
class Trial:
    """What somebody does in an engine, with some rights or with all."""

    kind: str
    address: str
    tables: Path
    who: str

    def result(self, rights: frozenset[Right] | None = None) -> object:
        index = f"rights-{secrets.token_hex(4)}"

        def plan(request: Request) -> Answer | None:
            asked = {(name.replace(index, "INDEX"), right) for name, right in self.needed(request)}
            return None if rights is None or asked <= rights else FORBIDDEN

        try:
            with between(self.address, plan) as server:
                engine = server.address(self.kind)
                settings = Settings(engine=engine, index=index, fields=FIELDS, tables=self.tables, patience=1)
                return ROLES[self.who](Stage(self.kind, self.address, settings))
        except (EngineError, elasticsearch.ApiError, opensearchpy.TransportError) as error:
            return type(error)
        finally:
            remove_indices(self.address, index)

    def needed(self, request: Request) -> Iterator[Right]:
        """Yield the rights that a request needs; a write to an index that is not there creates it."""
        for name, right in rights_for(request):
            yield name, right
            if right == "write" and not ask(self.address, "GET", f"/{name}?ignore_unavailable=true"):
                yield name, "create_index"


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.server(name)) for name in CLIENTS])
def trial(request: pytest.FixtureRequest, who: str, tables_folder: Path) -> Trial:
    return Trial(request.param, request.getfixturevalue(request.param), tables_folder, who)


@pytest.mark.parametrize("who", ROLES)
def test_the_rights_of_a_row_suffice(trial: Trial, who: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert trial.result(table()[who]) == trial.result()


@pytest.mark.parametrize("who", ROLES)
def test_no_right_of_a_row_is_too_much(trial: Trial, who: str, capsys: pytest.CaptureFixture[str]) -> None:
    needed, best = table()[who], trial.result()

    def suffices(rights: frozenset[Right]) -> bool:
        """Try in a cluster that has not seen ibidem before."""
        with suppress(RuntimeError):
            ask(trial.address, "DELETE", f"/_index_template/{TEMPLATE}")
        return trial.result(rights) == best

    assert [right for right in sorted(needed) if suffices(needed - {right})] == []
