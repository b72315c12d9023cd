"""Page of `ibidem tune --ask --page`: shows one pair after another, and records each answer.

It is served on the loopback address alone, below a path that only the person who started it was told, until the last
pair is judged or the person stops.
"""

import secrets
import socket
from collections.abc import Callable
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Form, Response
from fastapi.responses import RedirectResponse

from ibidem.evaluation.interview import Interview, Key
from ibidem.gateway.page.entries import diff
from ibidem.gateway.page.rendering import html

LOOPBACK = "127.0.0.1"

OPENING = 2_000  # characters of each text that are shown, below the words that differ

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"
)


def make_interview(interview: Interview, path: str, end: Callable[[], None]) -> FastAPI:
    """Create the application that shows the pairs of an interview."""
    app = FastAPI(openapi_url=None)

    # Both routes are coroutines: they take turns in one thread, which an SQLite engine belongs to.
    @app.get(f"/{path}/")
    async def show() -> Response:
        """Show the next pair."""
        question = interview.question()
        if question is None:
            end()
        differs = diff(*(each.text for each in question.documents)) if question else ()
        response = html("page_interview.html", question=question, differs=differs, opening=OPENING)
        response.headers["content-security-policy"] = POLICY
        return response

    @app.post(f"/{path}/")
    async def answer(number: Annotated[int, Form()], key: Annotated[Key, Form()]) -> Response:
        """Record an answer; an answer that is sent twice counts once."""
        question = interview.question()
        if question is not None and question.number == number:
            interview.answer(number, key)
        return RedirectResponse(f"/{path}/", 303)

    return app


def hold_interview(interview: Interview, ready: Callable[[str], None]) -> None:
    """Serve the pages of an interview until no question is left."""
    path = secrets.token_urlsafe(16)

    def end() -> None:
        """Shut down after the last page was sent."""
        server.should_exit = True

    server = uvicorn.Server(uvicorn.Config(make_interview(interview, path, end), log_level="warning"))
    with socket.create_server((LOOPBACK, 0)) as listening:
        ready(f"http://{LOOPBACK}:{listening.getsockname()[1]}/{path}/")
        server.run([listening])
