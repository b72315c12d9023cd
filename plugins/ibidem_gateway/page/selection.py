"""Selected documents of a list: citations to print or copy, and a table to download."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field
from starlette.datastructures import QueryParams

from ibidem.comparison.result_list import FORMATS, Entry, row
from ibidem.index.documents import read_document
from ibidem_engines.engine import Engine
from ibidem_gateway.dependencies import CallersEngine
from ibidem_gateway.errors import HttpError
from ibidem_gateway.openapi import MAX_QUERY, Id, StrictQuery
from ibidem_gateway.page.citations import STYLES, cite
from ibidem_gateway.page.rendering import html
from ibidem_gateway.page.state import PageState, read_leniently
from ibidem_ingest.document import Document

MAX_SELECTION = 200  # documents that are selected at once

router = APIRouter(prefix="/ibidem/page", tags=["page"], include_in_schema=False)


class Selection(StrictQuery):
    """The URL parameters of a selection."""

    doc: list[Id] = Field(default=[], max_length=MAX_SELECTION, description="The documents, by their ids.")
    style: str = Field(default="plain", description=f"{', '.join(STYLES)}.")
    list: str = Field(default="", max_length=2 * MAX_QUERY, description="The list that they were selected from.")

    def state(self) -> PageState:
        """Return the list from which the documents were selected."""
        return read_leniently(QueryParams(self.list))


def read_selection(engine: Engine, parameters: Selection) -> Sequence[Document]:
    """Read the selected documents, without repeats."""
    if parameters.style not in STYLES:
        raise HttpError(
            400,
            "illegal_argument_exception",
            f"style={parameters.style!r} is not valid",
            f"allowed: {', '.join(STYLES)}",
        )
    return [read_document(engine, each) for each in dict.fromkeys(parameters.doc)]


@router.get("/selection")
def show(engine: CallersEngine, parameters: Annotated[Selection, Query()]) -> Response:
    """Show a citation of each selected document."""
    documents = read_selection(engine, parameters)
    return html(
        "page_selection.html",
        state=parameters.state(),
        list=parameters.list,
        style=parameters.style,
        styles=STYLES,
        documents=documents,
        lines=[cite(each, parameters.style) for each in documents],
        names=[("doc", each.id) for each in documents],
    )


@router.get("/selection.{ending}")
def export(ending: str, engine: CallersEngine, parameters: Annotated[Selection, Query()]) -> Response:
    """Export the selected documents as a table, or their citations as text."""
    documents = read_selection(engine, parameters)
    headers = {
        "content-disposition": f'attachment; filename="selection.{ending}"',
        "cache-control": "private, no-store",
    }
    if ending == "txt":
        lines = "".join(f"{cite(each, parameters.style)}\n" for each in documents)
        return Response(lines.encode(), media_type="text/plain; charset=utf-8", headers=headers)
    if ending not in FORMATS:
        raise HttpError(
            404, "resource_not_found_exception", f"no export as {ending!r}", f"allowed: txt, {', '.join(FORMATS)}"
        )
    media, write = FORMATS[ending]
    hits = [{"_id": each.id, "_source": each.as_record()} for each in documents]
    return Response(write(row(Entry(hit, hit)) for hit in hits), media_type=media, headers=headers)
