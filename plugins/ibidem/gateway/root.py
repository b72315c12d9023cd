"""`/`: what clients of the engine ask first."""

from importlib.metadata import version

from fastapi import APIRouter, Request, Response

from ibidem.gateway.documents import answer
from ibidem.gateway.given import WithGiven
from ibidem.gateway.passing import pass_on

router = APIRouter(tags=["search"])


@router.get("/")
@router.head("/", include_in_schema=False)
async def root(request: Request, given: WithGiven) -> Response:
    """Tell what the engine says of itself, as it says it; over SQLite, what the gateway is."""
    if given.upstream is None:
        told = {"number": version("ibidem"), "distribution": "ibidem"}
        return answer({"name": "ibidem", "version": told, "tagline": "an SQLite index: see /openapi.json"})
    return await pass_on(request, given.upstream, b"")
