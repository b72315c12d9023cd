"""Parameters of a query string as models: an unknown one is refused, and the documentation lists the right ones."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, create_model

from ibidem.dedupe.parameters import DEEPEST, PARAMETERS, Mode, Parameter
from ibidem.dedupe.request import DedupeRequest, parse_request
from ibidem_engines.query import QUERY_HELP
from ibidem_ingest.decision import Policy
from ibidem_ingest.document import MAX_ID_BYTES

LONGEST_QUERY = 10_000


class Known(BaseModel):
    """A query string in which nothing unknown stands."""

    model_config = ConfigDict(extra="forbid")


Id = Annotated[str, Field(description="A document's id.", min_length=1, max_length=MAX_ID_BYTES)]


def described(parameter: Parameter) -> Any:
    """Return a parameter of the dedupe layer as a field: any text or nothing, since the table reads it."""
    about = f"{parameter.about}: {parameter.values} (default: {parameter.default})"
    return str | None, Field(default=None, description=about, max_length=20_000)


Deduped: type[Known] = create_model(
    "Deduped", __base__=Known, **{name: described(each) for name, each in PARAMETERS.items()}
)


class Searched(Deduped):  # type: ignore[misc, valid-type] # made from the table above
    """What is searched, and how it is grouped."""

    q: str = Field(description=QUERY_HELP, max_length=LONGEST_QUERY)
    filter: list[str] = Field(default=[], description="FIELD=VALUE: source, language, date, id or meta.NAME.")
    page: int = Field(default=1, ge=1, le=DEEPEST, description="Which page.")
    size: int = Field(default=10, ge=1, le=1_000, description="Groups on a page.")

    def request(self, mode: Mode) -> DedupeRequest:
        """Return what is asked of the dedupe layer."""
        return parse_request({name: getattr(self, name) for name in PARAMETERS}, mode=mode)


class Levelled(Known):
    """How much alike two documents have to be."""

    dedupe_level: str | None = described(PARAMETERS["dedupe_level"])[1]

    def policy(self) -> Policy:
        """Return the decision for a pair."""
        return parse_request({"dedupe_level": self.dedupe_level}).policy


class Pair(Known):
    """Two documents."""

    a: Id
    b: Id


class Nothing(Known):
    """No parameter at all."""


SearchParameters = Annotated[Searched, Query()]
LevelParameters = Annotated[Levelled, Query()]
PairParameters = Annotated[Pair, Query()]
NoParameters = Annotated[Nothing, Query()]
