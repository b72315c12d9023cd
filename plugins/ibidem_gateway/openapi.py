"""OpenAPI document, and the models of query parameters."""

from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, ConfigDict, Field, create_model

from ibidem_dedupe.parameters import MAX_WINDOW, PAIR_LEVEL, PARAMETERS, Mode, Parameter
from ibidem_dedupe.policy import Level, Policy
from ibidem_dedupe.request import DedupeRequest, pair_policy, parse_request
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import lookup_presets
from ibidem_engines.query import QUERY_HELP
from ibidem_ingest.document import MAX_ID_BYTES

# An error as OpenSearch and Elasticsearch write theirs.
ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error", "status"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["type", "reason", "root_cause"],
            "properties": {
                "type": {"type": "string"},
                "reason": {"type": "string"},
                "root_cause": {"type": "array", "items": {"type": "object"}},
            },
        },
        "status": {"type": "integer"},
    },
}

WRONG = {
    "400": "The request is not valid; the reason says what is allowed.",
    "401": "The caller is not authenticated.",
    "403": "The engine or the settings do not permit it.",
    "404": "No such index or document.",
    "413": "The body is too long.",
    "415": "The content encoding is not supported.",
    "421": "The gateway does not answer for this host name.",
    "429": "Too many requests at once; try again.",
    "500": "A fault.",
    "501": "An SQLite index has no such query language.",
    "502": "The engine's answer cannot be read.",
    "503": "The engine does not answer.",
    "504": "The engine did not answer in time.",
}


def add_error_schema(app: FastAPI) -> None:
    """Add the errors that every route may return to the OpenAPI document, in one common schema."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        """Describe the routes, with the error schema and its statuses."""
        document = described()
        document.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR
        for operations in document["paths"].values():
            for operation in operations.values():
                add_errors(operation["responses"])
        return document

    app.openapi = openapi  # type: ignore[method-assign] # the framework's own way to change the document


def add_errors(responses: dict[str, Any]) -> None:
    """Describe every error, and remove the framework's own error schema."""
    responses.pop("422", None)
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for status, description in WRONG.items():
        responses.setdefault(status, {"description": description, "content": content})


MAX_QUERY = 10_000


class StrictQuery(BaseModel):
    """A query string without unknown parameters."""

    model_config = ConfigDict(extra="forbid")


Id = Annotated[str, Field(description="A document's id.", min_length=1, max_length=MAX_ID_BYTES)]


def to_field(parameter: Parameter) -> Any:
    """Return a dedupe parameter as an optional text field, since the parameter table validates it."""
    description = f"{parameter.about}: {parameter.values} (default: {parameter.default})"
    return str | None, Field(default=None, description=description, max_length=20_000)


Deduped: type[StrictQuery] = create_model(
    "Deduped", __base__=StrictQuery, **{name: to_field(each) for name, each in PARAMETERS.items()}
)


class SearchQuery(Deduped):  # type: ignore[misc, valid-type] # made from the table above
    """The parameters of a grouped search."""

    q: str = Field(description=QUERY_HELP, max_length=MAX_QUERY)
    filter: list[str] = Field(
        default=[],
        description="FIELD=VALUE: source, language, date, id, meta.NAME, thread, inclusive, work or current.",
    )
    page: int = Field(default=1, ge=1, le=MAX_WINDOW, description="Which page.")
    size: int = Field(default=10, ge=1, le=1_000, description="Groups on a page.")

    def request(self, mode: Mode, engine: Engine) -> DedupeRequest:
        """Return the dedupe request, which may use presets of the index."""
        presets = lookup_presets(engine, self.dedupe_preset)
        return parse_request({name: getattr(self, name) for name in PARAMETERS}, mode=mode, presets=presets)


class LevelQuery(StrictQuery):
    """The parameters of the decision on a pair."""

    dedupe_level: str | None = to_field(PAIR_LEVEL)[1]
    dedupe_similarity: str | None = to_field(PARAMETERS["dedupe_similarity"])[1]
    dedupe_preset: str | None = to_field(PARAMETERS["dedupe_preset"])[1]
    dedupe_window_days: str | None = to_field(PARAMETERS["dedupe_window_days"])[1]

    def policy(self, engine: Engine, level: Level = "near") -> Policy:
        """Return the policy for the decision on a pair."""
        parameters = {name: getattr(self, name) for name in LevelQuery.model_fields}
        return pair_policy(parameters, level, lookup_presets(engine, self.dedupe_preset))


class Pair(StrictQuery):
    """Two documents."""

    a: Id
    b: Id


class ComparedPair(Pair, LevelQuery):
    """Two documents, and the parameters of the decision on them."""


class Nothing(StrictQuery):
    """A query string without parameters."""


SearchParameters = Annotated[SearchQuery, Query()]
LevelParameters = Annotated[LevelQuery, Query()]
PairParameters = Annotated[Pair, Query()]
ComparedParameters = Annotated[ComparedPair, Query()]
NoParameters = Annotated[Nothing, Query()]
