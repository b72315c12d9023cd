"""Routes of `/ibidem/tags`: the ledger, new entries, the report by group; ledger and report as tables, too."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from ibidem.index import tag_report
from ibidem.index.tag_report import GroupsBy, TagReport, report_tags
from ibidem.index.tags import (
    COLUMNS,
    TagTarget,
    change_tag,
    find_duplicates,
    find_named,
    find_thread,
    ledger_rows,
    readable_tags,
)
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.tags import MAX_DOCUMENTS, MAX_TAG, USUAL, Action, Kind, Tags
from ibidem_engines.engine import Engine
from ibidem_gateway.dependencies import CallersEngine, WithCaller
from ibidem_gateway.document_routes import MAX_WORDS, answer, check_overrides, lock_index
from ibidem_gateway.openapi import Id, LevelQuery, NoParameters, StrictQuery
from ibidem_gateway.table import as_table
from ibidem_ingest.errors import UsageError

tag_router = APIRouter(prefix="/ibidem/tags", tags=["tags"])


class TagChange(StrictQuery):
    """Tags for documents, or for the group or thread of one."""

    tag: str = Field(max_length=2 * MAX_TAG, description=f"{', '.join(USUAL)}, or a word of your own.")
    ids: list[Id] = Field(min_length=1, max_length=MAX_DOCUMENTS, description="The documents, by their ids.")
    of: Kind = Field(
        default="document", description="document, or all duplicates (group) or mails (thread) of one document."
    )
    action: Action = Field(default="add", description="add, or remove: take the tag back.")
    seen: int | None = Field(
        default=None, ge=1, description="Number of documents that were shown; if it has changed, nothing is tagged."
    )
    reason: str = Field(default="", max_length=MAX_WORDS)
    author: str = Field(
        default="", max_length=200, description="Author; for a caller with credentials, the user's name."
    )

    def target(self, engine: Engine) -> TagTarget:
        """Return the documents to tag."""
        target = find_target(engine, self.ids, self.of)
        if self.seen is not None:
            target.check_count(self.seen)
        return target


def find_target(engine: Engine, ids: list[str], kind: Kind, policy: Policy | None = None) -> TagTarget:
    """Return the documents to tag in one step."""
    if kind == "document":
        return find_named(engine, ids)
    if len(ids) != 1:
        raise UsageError(f"a {kind} was requested for {len(ids)} documents", f"name one document of the {kind}")
    if kind == "group":
        return find_duplicates(engine, ids[0], policy)
    with lock_index():
        return find_thread(engine, ids[0])


class ReportQuery(LevelQuery):
    """The parameters of the report by group."""

    by: GroupsBy = Field(
        default="groups",
        description="how documents are grouped: for this report, by stored groups, or by mail threads.",
    )

    def report(self, engine: Engine) -> TagReport:
        """Build the report."""
        return make_report(engine, readable_tags(engine), self.policy(engine), self.by)


def make_report(engine: Engine, tags: Tags, policy: Policy | None = None, by: GroupsBy = "groups") -> TagReport:
    """Build the report; one caller at a time, since it may take seconds."""
    with lock_index():
        return report_tags(engine, tags, policy, by=by)


ReportParameters = Annotated[ReportQuery, Query()]
Ending = Literal["csv", "jsonl"]
# The answer of an export, as the description of the API has it.
TABLE: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}, "application/x-ndjson": {}}}}


@tag_router.get("")
def entries(engine: CallersEngine, _: NoParameters) -> Response:
    """List the entries on documents that the caller may read, in order of time."""
    return answer({"entries": [entry.as_record() for entry in readable_tags(engine).entries]})


@tag_router.post("", dependencies=[Depends(check_overrides)], status_code=201)
def change(body: TagChange, engine: CallersEngine, caller: WithCaller) -> Response:
    """Add or take back a tag in one new entry; existing entries are never changed."""
    entry = change_tag(
        engine,
        body.target(engine),
        body.tag,
        action=body.action,
        author=caller.name or body.author,
        reason=body.reason,
    )
    return answer({"entries": [entry.as_record()]}, 201)


@tag_router.get("/report")
def report(engine: CallersEngine, parameters: ReportParameters) -> Response:
    """Show the groups in which documents were tagged differently, and those in which some are not tagged yet."""
    return answer(parameters.report(engine).as_json())


@tag_router.get("/ledger.{ending}", response_class=Response, responses=TABLE)
def export_ledger(ending: Ending, engine: CallersEngine, _: NoParameters) -> Response:
    """Export the ledger as a table: a row for each document of each entry."""
    return as_table("tags", ending, ledger_rows(engine, readable_tags(engine)), COLUMNS)


@tag_router.get("/report.{ending}", response_class=Response, responses=TABLE)
def export_report(ending: Ending, engine: CallersEngine, parameters: ReportParameters) -> Response:
    """Export the report as a table: a row for each document of each group."""
    return as_table("tag-report", ending, parameters.report(engine).rows(), tag_report.COLUMNS)
