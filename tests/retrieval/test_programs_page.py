"""The programs of `docs/tutorial-retrieval.md` speak as Dify, Open WebUI and Paperless-ngx document it."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from starlette.testclient import TestClient

import ibidem
from ibidem_ingest.document import Document

PAGE = Path(__file__).parents[2] / "docs" / "tutorial-retrieval.md"
KEY = {"Authorization": "Bearer secret"}


def program(name: str) -> dict[str, Any]:
    """Run a program of the page."""
    (source,) = re.findall(
        rf"^```python\n(# {name}\n.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    names: dict[str, Any] = {"__name__": name.removesuffix(".py")}
    exec(compile(source, name, "exec"), names)  # noqa: S102 - our own page
    return names


@pytest.fixture
def service(passages: str, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    for name, value in {"IBIDEM_ENGINE": passages, "IBIDEM_INDEX": "passages", "PASSAGES_KEY": "secret"}.items():
        monkeypatch.setenv(name, value)
    return TestClient(program("passages.py")["app"])


def ask_dify(service: TestClient, k: int, threshold: float) -> list[dict[str, Any]]:
    body = {
        "knowledge_id": "passages",
        "query": "rent",
        "retrieval_setting": {"top_k": k, "score_threshold": threshold},
    }
    answer = service.post("/retrieval", json=body, headers=KEY)
    assert answer.status_code == 200, answer.text
    records: list[dict[str, Any]] = answer.json()["records"]
    return records


def test_dify_gets_different_texts_with_scores_up_to_one(service: TestClient) -> None:
    records = ask_dify(service, 4, 0.0)
    assert len(records) == len({each["content"] for each in records}) == 4
    assert [each["score"] for each in records] == sorted((each["score"] for each in records), reverse=True)
    assert records[0]["score"] == 1.0
    assert all(isinstance(each["metadata"], dict) and each["title"] for each in records)
    assert sum(each["metadata"]["copies"] for each in records) == 1
    assert len(ask_dify(service, 4, 0.99)) < 4


def test_open_webui_gets_links_titles_and_snippets(service: TestClient) -> None:
    found = service.post("/search", json={"query": "rent", "count": 2}, headers=KEY).json()
    assert [sorted(each) for each in found] == [["link", "snippet", "title"]] * 2


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guess"}])
def test_a_wrong_key_finds_nothing(service: TestClient, headers: dict[str, str]) -> None:
    answer = service.post("/search", json={"query": "rent", "count": 2}, headers=headers)
    assert answer.status_code == 403


DOCUMENTS = [
    {"id": at, "title": f"Letter {at}", "content": f"word{at} rent", "created": "2024-05-01"} for at in (1, 2, 3)
]


class Paperless(BaseHTTPRequestHandler):
    """Two pages of documents, in the form of the API of Paperless-ngx."""

    def do_GET(self) -> None:
        assert self.headers["Authorization"] == "Token secret"
        is_second = "page=2" in self.path
        following = None if is_second else f"http://127.0.0.1:{self.server.server_address[1]}/api/documents/?page=2"
        page = {"count": 3, "next": following, "results": DOCUMENTS[2:] if is_second else DOCUMENTS[:2]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(page).encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def paperless() -> Iterator[str]:
    """The address of such a server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Paperless)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_all_pages_of_paperless_become_lines_that_ibidem_reads(
    paperless: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAPERLESS_URL", paperless)
    monkeypatch.setenv("PAPERLESS_TOKEN", "secret")
    program("paperless.py")
    read = [each for each in ibidem.read(["paperless.jsonl"]) if isinstance(each, Document)]
    assert [(each.id, each.title, each.text, str(each.date)[:10]) for each in read] == [
        (f"paperless-{each['id']}", each["title"], each["content"], each["created"]) for each in DOCUMENTS
    ]
