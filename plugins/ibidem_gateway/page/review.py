"""Review queue: the near pairs of a list without a manual decision, the least certain first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.explanations import reason
from ibidem.grouped_search.window import Window
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_engines.engine import Engine
from ibidem_gateway.dependencies import CallersEngine, WithContext
from ibidem_gateway.page.decisions import last_decision
from ibidem_gateway.page.entries import diff
from ibidem_gateway.page.rendering import html
from ibidem_gateway.page.state import ListQuery
from ibidem_ingest.document import Document

MAX_SKIPPED = 10_000
OPENING = 600  # characters of each text that are shown; the page that compares two documents has the rest

router = APIRouter(prefix="/ibidem/page", tags=["page"], include_in_schema=False)


@dataclass(frozen=True, slots=True)
class NearPair:
    """A duplicate and its lead."""

    lead: int  # row of the lead
    row: int  # row of the duplicate
    evidence: Evidence  # why it is one


def find_undecided(window: Window) -> list[NearPair]:
    """Return the near pairs of a window without a manual decision, the least certain first."""
    pairs = []
    for row, lead in enumerate(window.grouping.lead.tolist()):
        if lead == row or (lead, row) in window.overrides.valid:
            continue
        evidence = window.evidence(row, lead)
        if evidence is not None and evidence.level == "near":
            pairs.append(NearPair(lead, row, evidence))
    return sorted(pairs, key=lambda pair: (pair.evidence.score, pair.row))


class QueuedPair(ListQuery):
    """A pair of the review queue."""

    skip: int = Field(default=0, ge=0, le=MAX_SKIPPED, description="Number of undecided pairs to skip.")


@router.get("/review")
def review(engine: CallersEngine, context: WithContext, parameters: Annotated[QueuedPair, Query()]) -> Response:
    """Show the next near pair of a list without a manual decision."""
    state = parameters.state()
    request = replace(
        state.request(), mode="indent", max_per_group=0, explain=False, scope="window", by="window", membership=""
    )
    tables = context.current_tables()
    result = search_window(engine, state.query(), request, 1, 1, tables=tables, order=state.sort)
    queue = find_undecided(result.window) if result.window is not None else []
    pair = queue[parameters.skip] if parameters.skip < len(queue) else None
    lead, duplicate = documents(engine, result.window, pair) if result.window is not None and pair else (None, None)
    return html(
        "page_review.html",
        state=state,
        skip=parameters.skip,
        left=len(queue),
        lead=lead,
        duplicate=duplicate,
        reason=reason(pair.evidence.why) if pair else "",
        differs=diff(lead.text, duplicate.text) if lead and duplicate else (),
        opening=OPENING,
        overrides=context.settings.gateway_overrides,
        decision=last_decision(engine, parameters),
    )


def documents(engine: Engine, window: Window, pair: NearPair) -> Sequence[Document | None]:
    """Read the two documents of a pair."""
    names = [window.name(pair.lead), window.name(pair.row)]
    documents = {(each.index, each.document.id): each.document for each in engine.fetch(names)}
    return [documents.get(name) for name in names]
