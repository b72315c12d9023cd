"""Every request passes the limits of the middleware first."""

import asyncio
import logging
import threading
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from gateway.conftest import Serve
from ibidem.gateway.dependencies import GatewayContext
from ibidem.gateway.metrics import Metrics
from ibidem.gateway.middleware import POLICY, LimitsMiddleware
from ibidem.gateway.upstream import Engines
from ibidem_core.settings import Settings


def test_every_answer_forbids_browsers_to_load_or_guess(client: TestClient) -> None:
    for path in ("/healthz", "/nowhere", "/readyz"):
        headers = client.get(path).headers
        assert {name: headers[name] for name in POLICY} == POLICY
    assert "unsafe" not in POLICY["content-security-policy"]


def test_a_body_that_is_too_long_is_refused_with_the_setting_that_allows_more(serve: Serve) -> None:
    client = serve(gateway_body=1_000)
    answer = client.post("/healthz", content=b"x" * 1_001)
    assert answer.status_code == 413
    assert "IBIDEM_GATEWAY_BODY" in answer.json()["error"]["reason"]


def bounded(app: object, **changes: object) -> LimitsMiddleware:
    return LimitsMiddleware(
        app,  # type: ignore[arg-type]
        settings=Settings(**changes),  # type: ignore[arg-type]
        metrics=Metrics(),
        hosts=("*",),
        product={},
    )


CONTEXT = GatewayContext(Settings(), Engines(Settings()), None, Metrics())
APPLICATION = SimpleNamespace(state=SimpleNamespace(context=CONTEXT))


async def ask(app: LimitsMiddleware, path: str = "/", body: Sequence[bytes] = ()) -> list[Message]:
    """Send a request whose body comes in parts without a length, and return what was sent back."""
    headers: list[Message] = []
    parts = list(body)

    async def receive() -> Message:
        return {"type": "http.request", "body": parts.pop(0) if parts else b"", "more_body": bool(parts)}

    async def send(message: Message) -> None:
        headers.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": [(b"host", b"a")], "query_string": b""}
    scope["app"] = APPLICATION
    await app(scope, receive, send)
    return headers


async def reads_all(scope: Scope, receive: Receive, send: Send) -> None:
    while (await receive())["more_body"]:
        pass
    await PlainTextResponse("read")(scope, receive, send)


async def sleeps(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(60)


def test_a_body_that_hides_its_length_is_counted_as_it_comes() -> None:
    app = bounded(reads_all, gateway_body=1_000)
    assert asyncio.run(ask(app, body=[b"x" * 500] * 2))[0]["status"] == 200
    assert asyncio.run(ask(app, body=[b"x" * 500] * 3))[0]["status"] == 413


def test_an_answer_that_takes_too_long_is_given_up() -> None:
    assert asyncio.run(ask(bounded(sleeps, gateway_timeout=1)))[0]["status"] == 504


def test_work_that_cannot_be_stopped_keeps_nobody_waiting_and_its_place_until_it_ends() -> None:
    async def all_three() -> tuple[int, int, int]:
        leave = threading.Event()

        async def stubborn(scope: Scope, receive: Receive, send: Send) -> None:
            await run_in_threadpool(leave.wait, 30)
            await PlainTextResponse("too late")(scope, receive, send)

        app = bounded(stubborn, gateway_timeout=1, gateway_clients=1)
        late_answer = await ask(app)
        refusal = await ask(app)
        leave.set()
        while app._places.taken:
            await asyncio.sleep(0.01)
        return late_answer[0]["status"], len(late_answer), refusal[0]["status"]

    assert asyncio.run(all_three()) == (504, 2, 429)


def test_one_request_too_many_is_told_to_come_again_and_health_still_answers() -> None:
    async def ask_both() -> tuple[int, int, int]:
        entered = asyncio.Event()
        leave = asyncio.Event()

        async def waits(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["path"] != "/healthz":
                entered.set()
                await leave.wait()
            await Response()(scope, receive, send)

        app = bounded(waits, gateway_clients=1)
        first = asyncio.create_task(ask(app))
        await entered.wait()
        refusal, health = await ask(app), await ask(app, "/healthz")
        leave.set()
        return (await first)[0]["status"], refusal[0]["status"], health[0]["status"]

    assert asyncio.run(ask_both()) == (200, 429, 200)


@pytest.mark.parametrize("engine", ["elasticsearch+http://127.0.0.1:9", "opensearch+http://127.0.0.1:9"])
def test_the_product_header_is_sent_for_the_one_engine_whose_clients_insist_on_it(serve: Serve, engine: str) -> None:
    headers = serve(engine=engine).get("/healthz").headers
    assert headers.get("x-elastic-product") == ("Elasticsearch" if engine.startswith("elasticsearch") else None)


def test_an_answer_is_logged_with_its_stages_and_without_what_was_asked(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ibidem")
    client.get("/ibidem/search", params={"q": "drains"})
    client.get("/healthz")
    (line,) = (vars(each) for each in caplog.records if each.message == "answered")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/ibidem/search", 200)
    assert {"window_ms", "grouping_ms", "fetch_ms", "all_ms"} <= line.keys()
    assert not [value for value in line.values() if "drains" in str(value)]
