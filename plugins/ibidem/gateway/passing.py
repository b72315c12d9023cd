"""Requests that ask nothing of the dedupe layer: they go on to the engine, and its answer comes back as it is.

Where all indexes are open, they go as they came, byte for byte. Else they are written again from what was read and
checked: the engine sees nothing that was not looked into.
"""

from urllib.parse import quote

from fastapi import Request, Response

from ibidem.gateway.bodies import written
from ibidem.gateway.indexes import all_open
from ibidem.gateway.native_lines import Several
from ibidem.gateway.native_request import NativeRequest
from ibidem.gateway.upstream import Reply, Upstream, forwarded, reshaped, target
from ibidem_workers.settings import Settings

JSON, LINES = "json", "x-ndjson"
"""The two forms of a body that is written here."""


async def pass_on(
    request: Request, upstream: Upstream, content: bytes, read: NativeRequest | Several, settings: Settings
) -> Response:
    """Send a request on that asks nothing of the dedupe layer, and return the answer as it is.

    Args:
        request: Method, path, query string and headers.
        upstream: The engine.
        content: The body's bytes.
        read: What was read of it all.
        settings: The settings in force.
    """
    if all_open(settings):
        return await pass_as_it_came(request, upstream, content)
    if isinstance(read, Several):
        path, form = read.path, LINES
        body: bytes | None = b"".join(line.content for line in read.lines)
    else:
        path, form = f"/{quote(read.indexes)}/{request.url.path.rpartition('/')[2]}", JSON
        body = written(read.body) if read.body else None
    headers = reshaped(request.headers, None if body is None else form)
    return as_response(await upstream.send(request.method, target(path, read.parameters), headers, body))


async def pass_as_it_came(request: Request, upstream: Upstream, content: bytes) -> Response:
    """Send a request on as it came, and return the answer as it is.

    Args:
        request: Method, path, query string and headers.
        upstream: The engine.
        content: The body's bytes.
    """
    path = request.scope["raw_path"].decode("ascii")
    if query := request.scope["query_string"].decode("ascii"):
        path = f"{path}?{query}"
    return as_response(await upstream.send(request.method, path, forwarded(request.headers), content or None))


def as_response(reply: Reply) -> Response:
    """Return an answer of the engine's as it is."""
    answer = Response(reply.body, reply.status)
    del answer.headers["content-length"]
    for name, value in reply.headers:
        answer.headers.append(name, value)
    answer.headers["content-length"] = str(len(reply.body))
    return answer
