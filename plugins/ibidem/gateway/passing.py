"""Requests that ask nothing of the dedupe layer: they go on to the engine as they came, and so does its answer."""

from fastapi import Request, Response

from ibidem.gateway.upstream import Reply, Upstream, forwarded


async def pass_on(request: Request, upstream: Upstream, content: bytes) -> Response:
    """Send a request on as it came, and return the answer as it is.

    Args:
        request: Method, path, query string and headers.
        upstream: The engine.
        content: The body's bytes.
    """
    target = request.scope["raw_path"].decode("ascii")
    if query := request.scope["query_string"].decode("ascii"):
        target = f"{target}?{query}"
    return as_response(await upstream.send(request.method, target, forwarded(request.headers), content or None))


def as_response(reply: Reply) -> Response:
    """Return an answer of the engine's as it is."""
    answer = Response(reply.body, reply.status)
    del answer.headers["content-length"]
    for name, value in reply.headers:
        answer.headers.append(name, value)
    answer.headers["content-length"] = str(len(reply.body))
    return answer
