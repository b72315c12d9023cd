"""Tags on the page: tags of the shown documents, forms that add them, the ledger, the report."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.datastructures import QueryParams

from ibidem.grouped_search.api import search_window
from ibidem.grouped_search.backend import Portion
from ibidem.index.documents import names as find_names
from ibidem.index.tags import TagState, TagTarget, change_tag, read_states, readable_tags
from ibidem_core.errors import EngineError
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.tags import KINDS, MAX_DOCUMENTS, TagEntry
from ibidem_engines.engine import Engine
from ibidem_engines.stored_tags import load_tags
from ibidem_gateway.dependencies import CallersEngine, GatewayContext, WithCaller, WithContext
from ibidem_gateway.document_routes import check_overrides
from ibidem_gateway.errors import HttpError, http_error
from ibidem_gateway.openapi import StrictQuery
from ibidem_gateway.page import entries
from ibidem_gateway.page.reading import has_stored_groups, list_request
from ibidem_gateway.page.rendering import html
from ibidem_gateway.page.state import PageState, read_form, read_query
from ibidem_gateway.page.state import field as read_field
from ibidem_gateway.tag_routes import find_target, make_report
from ibidem_gateway.upstream import Caller
from ibidem_ingest.errors import MissingDocument, UsageError

if TYPE_CHECKING:
    from ibidem.index.tag_report import GroupsBy

router = APIRouter(prefix="/ibidem/page", tags=["page"], include_in_schema=False)

PORTION = 500  # documents of a group that are read at once

SHOWN = 100  # entries of the ledger, and groups of the report, that the page shows; the exports have all

# What a form may be about: a group of a list, one of the whole index, a thread, a document, or an earlier entry.
TARGETS = ("list", *KINDS, "entry")


@dataclass(frozen=True, slots=True)
class PageTags:
    """Tags of the documents of a page."""

    states: Mapping[DocumentRef, TagState] = field(default_factory=dict)  # what holds of each that was tagged
    last: TagEntry | None = None  # the entry that was made last
    problem: str = ""  # why they cannot be read

    def of(self, index: str, id_: str) -> TagState | None:
        """Return the tags of a document; None if it was never tagged."""
        return self.states.get((index, id_))

    def is_begun(self, documents: Sequence[entries.PageEntry]) -> bool:
        """Return whether any of the documents was tagged, so that the others count as not yet tagged."""
        return any((each.index, each.id) in self.states for each in documents)

    def differ(self, documents: Sequence[entries.PageEntry]) -> bool:
        """Return whether any two of the documents have different tags."""
        states = [self.states[name] for each in documents if (name := (each.index, each.id)) in self.states]
        return len({state.tags for state in states if state.state == "tagged"}) > 1


def read_page_tags(engine: Engine, names: Collection[DocumentRef], new_entry: str = "") -> PageTags:
    """Read the tags of the documents of a page; without the right to read the ledger, there are none."""
    try:
        return PageTags(read_states(engine, names), find_entry(engine, new_entry))
    except EngineError as error:
        return PageTags(problem=http_error(error).reason)


def group_names(groups: Sequence[entries.PageGroup]) -> list[DocumentRef]:
    """Return index and id of the documents of a list."""
    return [(each.index, each.id) for group in groups for each in group.documents]


def own_name(engine: Engine, id_: str) -> DocumentRef:
    """Return index and id of a shown document."""
    return next(iter(find_names(engine, [id_])), (engine.index, id_))


def find_entry(engine: Engine, date: str) -> TagEntry | None:
    """Return the entry with a date, reduced to documents that the caller may read; None if there is none."""
    return next(iter(readable_tags(engine, date).entries), None) if date else None


class ShownTags(StrictQuery):
    """The URL parameters of the ledger and the report."""

    tagged: str = Field(default="", max_length=40, description="The date of the most recent entry.")


@router.get("/tags")
def ledger(engine: CallersEngine, context: WithContext, parameters: Annotated[ShownTags, Query()]) -> Response:
    """Show the entries, the latest first, and the groups in which documents were tagged differently."""
    tags = readable_tags(engine)
    by: GroupsBy = "stored" if has_stored_groups(engine, PageState().request()) else "groups"
    return html(
        "page_tags.html",
        made=tags.entries[: -SHOWN - 1 : -1],
        count=len(tags.entries),
        report=make_report(engine, tags, by=by) if tags.entries else None,
        by=by,
        shown=SHOWN,
        overrides=context.settings.gateway_overrides,
        tags=PageTags(last=find_entry(engine, parameters.tagged)),
    )


@router.post("/tags", dependencies=[Depends(check_overrides)])
async def change(request: Request, engine: CallersEngine, context: WithContext, caller: WithCaller) -> Response:
    """Add a tag from a form, in one entry; the origin of the form was checked before."""
    form = await read_form(request)
    entry = await run_in_threadpool(apply, form, engine, context, caller)
    return RedirectResponse(next_address(form, entry), 303)


def apply(form: Mapping[str, str], engine: Engine, context: GatewayContext, caller: Caller) -> TagEntry:
    """Run the action of a form: add a tag, or take an entry back."""
    author = caller.name or form.get("author", "")[:200]
    if form.get("of") == "entry":
        return take_back(engine, read_field(form, "date"), author)
    target = form_target(form, engine, context)
    return change_tag(engine, target, read_field(form, "tag"), author=author, reason=form.get("reason", "")[:2_000])


def take_back(engine: Engine, date: str, author: str) -> TagEntry:
    """Take back the tag of an entry from the documents that still have it from this entry."""
    entry = find_entry(engine, date)
    if entry is None or entry.action != "add":
        raise MissingDocument(f"no tag was given at {date!r}", "the page of tags lists all entries")
    readable = [each.name for each in entry.documents]
    tags = load_tags(engine, set(readable))
    names = [name for name in readable if any(each.date == date and tags.holds(each, name) for each in tags.entries)]
    if not names:
        raise UsageError("later entries have replaced this one", "there is nothing to take back")
    return change_tag(engine, TagTarget(names, entry.kind, entry.lead), entry.tag, action="remove", author=author)


def form_target(form: Mapping[str, str], engine: Engine, context: GatewayContext) -> TagTarget:
    """Return the documents of a form, as they were shown."""
    of = read_field(form, "of")
    if of == "list":
        target = find_listed(engine, context, form_list(form), read_field(form, "group"))
    elif kinds := [kind for kind in KINDS if kind == of]:
        target = find_target(engine, [read_field(form, "id")], kinds[0], form_list(form).policy())
    else:
        raise HttpError(
            400,
            "illegal_argument_exception",
            f"of={of!r} is not known",
            f"allowed: {', '.join(TARGETS)}",
        )
    if of in ("list", "group"):
        target.check_count(int(seen) if (seen := read_field(form, "seen")).isdecimal() else 0)
    return target


def form_list(form: Mapping[str, str]) -> PageState:
    """Return the list from which a form was sent, parsed from its query string."""
    return read_query(QueryParams(form.get("list", ""))).state()


def find_listed(engine: Engine, context: GatewayContext, state: PageState, group: str) -> TagTarget:
    """Return all documents that a list counts in one of its groups."""
    request = replace(list_request(engine, state), mode="indent", explain=False)
    names: dict[DocumentRef, None] = {}
    size = 1
    while len(names) < min(size, MAX_DOCUMENTS + 1):
        portion = Portion(group, max(0, len(names) - 1), PORTION)
        result = search_window(
            engine, state.query(), request, state.page, state.size,
            tables=context.current_tables(), order=state.sort, portion=portion,
        )  # fmt: skip
        hits = result.response["hits"]["hits"]
        before = len(names)
        names |= dict.fromkeys((hit["_index"], hit["_id"]) for hit in hits)
        if len(names) == before:
            break
        size = hits[0]["_dedupe"]["size"]
    if not names:
        raise HttpError(404, "resource_not_found_exception", f"no group {group!r} on this page", "search again")
    return TagTarget(list(names), "group", next(iter(names)))


def next_address(form: Mapping[str, str], entry: TagEntry) -> str:
    """Return the URL of the page that sent a form, with a message about the entry."""
    state, page, id_ = form_list(form), form.get("page", "tags"), form.get("id", "")
    if page in ("document", "inspect") and id_:
        return state.part(page, id=id_, tagged=entry.date)
    if page == "list":
        return state.with_message([("tagged", entry.date)], form.get("place", ""))
    return f"/ibidem/page/tags?{urlencode({'tagged': entry.date})}"
