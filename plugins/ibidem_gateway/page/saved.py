"""Saved searches on the page, each with the new documents since it was last viewed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from starlette.datastructures import QueryParams

from ibidem.index.alerts import Alert, alerts, find_alert, find_new, remove, run, save
from ibidem_engines.engine import Engine
from ibidem_gateway.dependencies import CallersEngine, WithContext
from ibidem_gateway.document_routes import check_overrides
from ibidem_gateway.errors import HttpError
from ibidem_gateway.openapi import NoParameters
from ibidem_gateway.page.rendering import html
from ibidem_gateway.page.state import PageState, field, read_form, read_query
from ibidem_ingest.document import Document

ADDRESS = "/ibidem/page/saved"
MAX_SEARCHES = 50  # saved searches that are looked into for one page

SHOWN = 10  # new documents of each that are listed

# Parameters of a saved search, by their names on the page.
DEDUPE = {
    "dedupe_level": "level",
    "dedupe_similarity": "similarity",
    "dedupe_window_days": "days",
    "dedupe_preset": "preset",
}

router = APIRouter(prefix="/ibidem/page", tags=["page"], include_in_schema=False)


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A saved search."""

    alert: Alert  # the search
    new: Sequence[Document] | None  # new documents since it was last viewed; None if not determined

    @property
    def path_part(self) -> str:
        """Name of the search as a part of a path."""
        return quote(self.alert.name, safe="")

    @property
    def state(self) -> PageState:
        """State of the list that runs the saved search."""
        return alert_page_state(self.alert)


def alert_page_state(alert: Alert) -> PageState:
    """Return the list with all results of a saved search.

    >>> alert_page_state(Alert("a", "rent", ("source=AP",), (("dedupe_level", "identical"),))).address()
    '/?q=rent&level=identical&source=AP'
    """
    several: dict[str, list[str]] = {"source": [], "language": [], "date": []}
    for condition in alert.filters:
        name, _, value = condition.partition("=")
        several.get(name, []).append(value)
    dedupe: dict[str, Any] = {DEDUPE[name]: value for name, value in alert.dedupe if name in DEDUPE}
    dedupe["level"] = dedupe.get("level", "").replace("near", "")
    return PageState(
        q=alert.query,
        source=tuple(several["source"]),
        language=tuple(several["language"]),
        date=next(iter(several["date"]), ""),
        **dedupe,
    )


def make_alert(name: str, state: PageState) -> Alert:
    """Convert a list into a saved search."""
    dedupe = ((parameter, str(getattr(state, field_name))) for parameter, field_name in DEDUPE.items())
    return Alert(name, state.q, tuple(state.filters()), tuple((key, value) for key, value in dedupe if value))


@router.get("/saved")
def list_saved(engine: CallersEngine, context: WithContext, _: NoParameters) -> Response:
    """List the saved searches, each with its new documents."""
    searches = [
        SavedSearch(alert, find_new(engine, alert) if number < MAX_SEARCHES else None)
        for number, alert in enumerate(alerts(engine))
    ]
    return html("page_saved.html", saved=searches, shown=SHOWN, overrides=context.settings.gateway_overrides)


@router.post("/saved", dependencies=[Depends(check_overrides)])
async def change(request: Request, engine: CallersEngine) -> Response:
    """Save a search, mark its new documents as seen, or remove it, from a form whose origin was checked before."""
    form = await read_form(request)
    await run_in_threadpool(apply_action, engine, field(form, "action"), field(form, "name"), form.get("list", ""))
    return RedirectResponse(ADDRESS, 303)


def apply_action(engine: Engine, action: str, name: str, query_string: str) -> None:
    """Run the action of a form."""
    if action == "save":
        alert = make_alert(name, read_query(QueryParams(query_string)).state())
        save(engine, alert)
        run(engine, alert)
    elif action == "seen":
        run(engine, find_alert(engine, name))
    elif action == "remove":
        remove(engine, name)
    else:
        raise HttpError(
            400, "illegal_argument_exception", f"action {action!r} is not known", "allowed: save, seen, remove"
        )
