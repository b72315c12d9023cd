"""Manual decisions on the page: the list with titles, and the last decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from ibidem.index.documents import read_document, readable_overrides
from ibidem_dedupe.overrides import Override
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import load_overrides
from ibidem_gateway.dependencies import CallersEngine, WithContext
from ibidem_gateway.openapi import StrictQuery
from ibidem_gateway.page.rendering import html, printable
from ibidem_gateway.page.state import ListQuery
from ibidem_ingest.errors import MissingDocument

MAX_TITLES = 500  # decisions of which the titles are read; the later ones are named by id

router = APIRouter(prefix="/ibidem/page", tags=["page"], include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Titled:
    """A document of a decision."""

    id: str
    title: str  # its title, or its id


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision on two documents."""

    a: Titled
    b: Titled  # the other
    verdict: str  # `same` or `not`; `none`: it was taken back
    override: Override | None = None  # the decision as it is stored; None if it was taken back


class ShownDecisions(StrictQuery):
    """The address of the list of decisions."""

    said: str = Field(default="", description="The most recent decision.")
    about: list[str] = Field(default=[], max_length=2, description="The two documents of that decision.")


def last_decision(engine: Engine, parameters: ListQuery | ShownDecisions) -> Decision | None:
    """Return the last decision, as named by the URL; None if there is none."""
    if not parameters.said or len(parameters.about) != 2:
        return None
    try:
        a, b = (read_document(engine, each) for each in parameters.about)
    except MissingDocument:
        return None
    first, second = (Titled(each.id, printable(each.title or each.id)) for each in (a, b))
    return Decision(first, second, parameters.said)


def list_decisions(engine: Engine) -> Sequence[Decision]:
    """Return the decisions that a caller may read, with titles."""
    overrides = readable_overrides(engine, load_overrides(engine))
    names = [name for each in overrides[:MAX_TITLES] for name in (each.a, each.b)]
    found = engine.fetch(list(dict.fromkeys(names)))
    titles = {(each.index, each.document.id): printable(each.document.title or each.document.id) for each in found}
    return [
        Decision(
            Titled(each.a[1], titles.get(each.a, each.a[1])),
            Titled(each.b[1], titles.get(each.b, each.b[1])),
            each.verdict,
            each,
        )
        for each in overrides
    ]


@router.get("/overrides")
def overrides(engine: CallersEngine, context: WithContext, parameters: Annotated[ShownDecisions, Query()]) -> Response:
    """List manual decisions."""
    return html(
        "page_overrides.html",
        decisions=list_decisions(engine),
        overrides=context.settings.gateway_overrides,
        decision=last_decision(engine, parameters),
    )
