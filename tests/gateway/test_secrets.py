"""Secrets: one that was put into a setting is in no answer of the gateway."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from cli.test_secrets import AWAY, SECRET
from ibidem_core.settings import load
from ibidem_gateway.app import make_gateway


@pytest.mark.slow
@pytest.mark.parametrize("environment", AWAY, ids=str)
def test_the_gateway_shows_no_secret_in_any_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = load()
    assert SECRET not in repr(settings)
    with TestClient(make_gateway(settings), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        for path in ("/", "/?q=rent", "/ibidem/doctor", "/metrics", "/readyz", "/openapi.json", "/nothing", "/docs"):
            for accept in ("text/html", "application/json"):
                answer = client.get(path, headers={"accept": accept})
                assert SECRET not in answer.text + str(answer.headers), path
