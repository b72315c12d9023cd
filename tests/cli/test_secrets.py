"""Secrets: one that was put into a setting is in no output, error, log, page or metric of ours."""

from base64 import b64decode
from collections.abc import Sequence

import pytest

from servers.fake_server import Answer, Request, between
from support.command_line import Run

SECRET = "Qx7s3cr3t"  # noqa: S105 - a word to be looked for
NOWHERE = "127.0.0.1:1"  # nothing answers there

COMMANDS = (
    ("doctor",),
    ("doctor", "--json"),
    ("status",),
    ("search", "rent"),
    ("ingest", "docs.jsonl"),
    ("status", "--dead"),
    ("worker",),
)
# Settings that cannot be right.
WRONG = (
    {"IBIDEM_ENGINE": f"opensearch+http://{NOWHERE}/?apikey={SECRET}"},
    {"IBIDEM_ENGINE": f"opensearch+http://{NOWHERE}/?%61pi_key={SECRET}&layout=x"},
    {"IBIDEM_ENGINE": f"elasticsearch+https://me:p/{SECRET}@{NOWHERE}"},
    {"IBIDEM_ENGINE": f"opensearch+http://me:{SECRET}"},
    {"IBIDEM_ENGINE": f"mysql://me:{SECRET}@host"},
    {"IBIDEM_ENGINE": f"sqlite:///me:{SECRET}@host"},
    {"IBIDEM_BROKER": f"amqp:/me:{SECRET}@{NOWHERE}"},
    {"IBIDEM_BROKER": f"redis://:p/{SECRET}@{NOWHERE}"},
    {"IBIDEM_BROKER": f"amqp://me:{SECRET}@[::1"},
    {"IBIDEM_BROKER": SECRET},
    {"IBIDEM_BROKER": f"redis://{NOWHERE}/0?password={SECRET}"},
    {"IBIDEM_BROKER": f"amqps://{NOWHERE}//?ssl_password=x&{SECRET}=y"},
    {"IBIDEM_TABLES": f"redis://:{SECRET}@host"},
    {"IBIDEM_INDEX": f"amqp://me:{SECRET}@host"},
    {"IBIDEM_FIELDS": f"amqp://me:{SECRET}@host"},
    {"IBIDEM_DISTINCT": f"amqp://me:{SECRET}@host"},
    {"IBIDEM_GATEWAY_HOSTS": f"amqp://me:{SECRET}@host"},
    {"IBIDEM_MAX_TEXT": f"amqp://me:{SECRET}@host"},
)

# Settings with a secret, of brokers that do not answer.
AWAY = (
    {"IBIDEM_BROKER": f"redis://{SECRET}@{NOWHERE}"},
    {"IBIDEM_BROKER": f"rediss://{NOWHERE}/0?ssl_keyfile={SECRET}"},
    {"IBIDEM_BROKER": f"amqps://me@{NOWHERE}//?ssl_password={SECRET}"},
    {"IBIDEM_BROKER": f"amqp://{SECRET}:x@{NOWHERE}//"},
)


FEW = (("doctor",), ("doctor", "--json"), ("ingest", "docs.jsonl"))


def check_silent(run: Run, commands: Sequence[tuple[str, ...]], codes: Sequence[int] = (1,)) -> None:
    """Check that commands fail, and show no secret."""
    for command in commands:
        code, out, err = run(*command)
        assert code in codes, command
        assert SECRET not in out + err, command


@pytest.mark.slow
@pytest.mark.parametrize("environment", [*WRONG, *AWAY], ids=str)
def test_no_command_shows_a_secret_of_settings_that_are_wrong(
    run: Run, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if environment in AWAY:
        check_silent(run, FEW)
    else:
        check_silent(run, COMMANDS, (1, 2))


def repeated(request: Request) -> Answer:
    """Refuse a request, and repeat how its sender has signed in, in every form."""
    authorization = {name.lower(): value for name, value in request.headers.items()}.get("authorization", "")
    read = b64decode(authorization.removeprefix("Basic ")).decode() if authorization.startswith("Basic ") else ""
    reason = f"unknown: {authorization} {read} " + f"{authorization.partition(' ')[2]}{read} " * 60
    return Answer(401, {"error": {"type": "security_exception", "reason": reason}, "status": 401})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["opensearch", "elasticsearch"])
@pytest.mark.parametrize("address", ["me:{}@", "{}@", "?api_key={}"])
def test_no_command_shows_a_secret_that_a_server_repeats(
    run: Run, monkeypatch: pytest.MonkeyPatch, kind: str, address: str
) -> None:
    address = address.format(SECRET)
    with between(plan=repeated) as server:
        at = f"127.0.0.1:{server.port}/{address}" if address.startswith("?") else f"{address}127.0.0.1:{server.port}"
        monkeypatch.setenv("IBIDEM_ENGINE", f"{kind}+http://{at}")
        check_silent(run, (*FEW, ("status",)))
        headers = [{name.lower(): value for name, value in each.headers.items()} for each in server.asked]
    expected = f"ApiKey {SECRET}" if address.startswith("?") else "Basic "
    assert headers
    assert all(each["authorization"].startswith(expected) for each in headers)
