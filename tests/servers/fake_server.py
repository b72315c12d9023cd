"""A small HTTP server in front of a search engine, or alone: a test's plan answers requests, or they are passed on."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# Certificate and key of a server on this machine that no authority signed; of no use outside these tests.
CERTIFICATE = Path(__file__).with_name("selfsigned.pem")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """A planned answer, sent instead of the real server's."""

    status: int  # HTTP status; 0 breaks the connection off
    body: object = None  # what is written as JSON; bytes go as they are
    # Whether the real server is given the request all the same, before the connection is broken off.
    passed: bool = False

    @property
    def data(self) -> bytes:
        """The body as it goes out."""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


# What is answered; or another request that the real server is given instead, or None for the very one.
Plan = Callable[[Request], Answer | Request | None]


@dataclass
class Between:
    """The server in between: its address, its received requests, and its plan."""

    port: int
    plan: Plan
    asked: list[Request] = field(default_factory=list)

    def address(self, kind: str, scheme: str = "http") -> str:
        """Give the engine's address of this server."""
        return f"{kind}+{scheme}://127.0.0.1:{self.port}"


def passes(_: Request) -> None:
    """The plan that changes nothing."""


@contextmanager
def between(target: str = "", plan: Plan = passes, *, tls: bool = False) -> Iterator[Between]:
    """Listen on a free port until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.state = Between(server.server_port, plan)  # type: ignore[attr-defined]
    server.target = target.partition("://")[2].partition("/")[0]  # type: ignore[attr-defined]
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.state  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def handle(self) -> None:
        """Take no notice of a client that breaks off, such as one that does not trust the certificate."""
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def answer(self) -> None:
        """Answer by the plan, or pass on."""
        state: Between = self.server.state  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        request = Request(self.command, self.path, dict(self.headers), body)
        state.asked.append(request)
        planned = state.plan(request)
        if isinstance(planned, Request):
            request, planned = planned, None
        if planned is None or planned.passed:
            status, headers, data = self.passed_on(request)
        else:
            status, headers, data = (planned.status, {"X-Elastic-Product": "Elasticsearch"}, planned.data)
        if planned is not None and not planned.status:
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def passed_on(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        """Give the request to the real server."""
        connection = HTTPConnection(self.server.target, timeout=60)  # type: ignore[attr-defined]
        kept_headers = {
            name: value for name, value in self.headers.items() if name.lower() in ("content-type", "accept")
        }
        connection.request(request.method, request.path, request.body or None, kept_headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        headers = {
            name: value
            for name, value in answer.headers.items()
            if name.lower() in ("content-type", "x-elastic-product")
        }
        return answer.status, {name.title(): value for name, value in headers.items()}, data

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer  # noqa: N815 (names of the library)
