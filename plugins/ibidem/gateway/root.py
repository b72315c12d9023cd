"""`/`: what clients of the engine ask first, and the page for whoever asks for one."""

from importlib.metadata import version

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from ibidem.gateway.documents import answer
from ibidem.gateway.given import CallersEngine, WithGiven
from ibidem.gateway.page.routes import home
from ibidem.gateway.page.state import shown
from ibidem.gateway.passing import pass_as_it_came
from ibidem.gateway.wishes import wants_page

router = APIRouter(tags=["search"])


@router.get("/")
@router.head("/", include_in_schema=False)
async def root(request: Request, given: WithGiven, engine: CallersEngine) -> Response:
    """Show the page to a browser; to a client tell what the engine says of itself, over SQLite what the gateway is."""
    if wants_page(request):
        return await run_in_threadpool(home, engine, given, shown(request.query_params))
    if given.upstream is None:
        told = {"number": version("ibidem"), "distribution": "ibidem"}
        return answer({"name": "ibidem", "version": told, "tagline": "an SQLite index: see /openapi.json"})
    return await pass_as_it_came(request, given.upstream, b"")
