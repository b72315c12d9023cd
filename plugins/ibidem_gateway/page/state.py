"""State of the page, all of it in the URL, and its rendering by templates."""

import re
from calendar import month_name
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any, Literal, get_args
from urllib.parse import urlencode

import xxhash
from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import ConfigDict, Field, ValidationError
from starlette.datastructures import QueryParams

from ibidem_dedupe.parameters import (
    LIST_LEVELS,
    MAX_WINDOW,
    MEMBERSHIPS,
    MODES,
    PRESETS,
    SCOPES,
    WAYS,
    DedupeRequest,
    pair_policy,
    parse_request,
)
from ibidem_dedupe.policy import Level, Policy
from ibidem_engines.query import Query as SearchQuery
from ibidem_engines.query import parse_query
from ibidem_engines.stored_groups import Order
from ibidem_gateway.dependencies import MAX_QUERY, Id, StrictQuery
from ibidem_gateway.upstream import HttpError
from ibidem_ingest.dates import iso_range, spelled_date
from ibidem_ingest.errors import UsageError

# Files that a browser may ask for, and what they are.
STATIC = {"page.css": "text/css", "page.js": "text/javascript"}


@cache
def static(name: str) -> bytes:
    """Return a static file from the folder of the templates."""
    return files("ibidem_gateway").joinpath("templates", name).read_bytes()


@cache
def static_address(name: str) -> str:
    """Return the URL of a file, with a hash of its contents, so that browsers may cache it for long."""
    return f"/ibidem/page/static/{xxhash.xxh3_64_hexdigest(static(name))[:10]}/{name}"


_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Remove control characters, which are not allowed in HTML.

    >>> printable("a\x00b\tc")
    'ab\tc'
    """
    return _CONTROL.sub("", text)


_DATE = re.compile(r"(\d{4})-(\d\d)(?:-(\d\d)(?:[T ](\d\d):?(\d\d)\S*?(Z|[+-]\d\d:?\d\d)?)?)?", re.ASCII)


def written_date(date: str) -> str:
    """Format a date as people write it; a year, or any other text, is unchanged.

    >>> [written_date(each) for each in ("1787-09-17", "1787-09", "1787", "2004-05-03T10:12:59Z", "soon")]
    ['17 September 1787', 'September 1787', '1787', '3 May 2004, 10:12 UTC', 'soon']
    """
    if (match := _DATE.fullmatch(date)) is None or not 1 <= int(match[2]) <= 12:
        return date
    year, month, day, hour, minute, zone = match.groups()
    time = f", {hour}:{minute}" if hour else ""
    zone = " UTC" if zone == "Z" else f" {zone}" if zone else ""
    return f"{int(day)} {month_name[int(month)]} {year}{time}{zone}" if day else f"{month_name[int(month)]} {year}"


@cache
def environment() -> Environment:
    """Return the template environment: values are escaped, and unknown names are errors."""
    environment = Environment(
        loader=PackageLoader("ibidem_gateway"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["date"] = written_date
    return environment


def html(template: str, status: int = 200, /, **values: Any) -> Response:
    text = environment().get_template(template).render(static=static_address, **values)
    return HTMLResponse(text, status, headers={"cache-control": "private, no-store", "vary": "accept"})


docs_router = APIRouter(include_in_schema=False)

REFERENCE = "#/components/schemas/"


# Name and place (path, query or body) of a parameter of a request, whether it has to be sent, and what it means.
PageParameter = tuple[str, str, bool, str]


@docs_router.get("/docs")
def docs(request: Request) -> Response:
    """Show the HTTP API."""
    return html("page_docs.html", operations=list(operations(request.app.openapi())))


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, list[PageParameter]]]:
    """Yield methods and path, description and parameters of each operation of an OpenAPI document."""
    schemas = document["components"]["schemas"]
    for path, by_method in document["paths"].items():
        operations = [
            (str(each.get("description", "")), list(parameters(each, schemas)), method.upper())
            for method, each in by_method.items()
        ]
        for (description, inputs), group in groupby(operations, lambda each: each[:2]):
            yield f"{', '.join(sorted(method for *_, method in group))} {path}", description, inputs


def parameters(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[PageParameter]:
    """Yield the parameters of an operation: path, query string and body."""
    for each in operation.get("parameters", ()):
        description = each.get("description") or each.get("schema", {}).get("description", "")
        yield each["name"], each["in"], bool(each.get("required")), description
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    described = schemas.get(body.get("$ref", "").removeprefix(REFERENCE), {})
    for name, each in described.get("properties", {}).items():
        yield name, "body", name in described.get("required", ()), each.get("description", "")


HOME = "/"
KEEPS = ("rank", "earliest", "latest", "longest")
ORDERS: tuple[Order, ...] = get_args(Order)
SIZES = (10, 25, 50)
# The groups of a list: of the best hits, as stored, or of the best hits with duplicates from elsewhere.
GROUPED = (*WAYS, *SCOPES[1:])
MAX_SOURCES = 20

PAPERS = "conrad2003"  # the rule of a paper, which is there to be compared with, not to be chosen by readers

Choice = tuple[str, str]  # a value, and how people call it

# The choices of a list, by their names in the address.
LABELS: Mapping[str, Sequence[Choice]] = {
    "dedupe": (("indent", "indented"), ("collapse", "collapsed"), ("off", "not grouped")),
    "level": (
        ("identical", "identical"),
        ("", "near"),
        ("partial", "partial"),
        ("thread", "threads of mails"),
        ("version", "versions of works"),
    ),
    "keep": (("rank", "best match"), ("earliest", "earliest"), ("latest", "latest"), ("longest", "longest")),
    "by": (
        ("", "all results where stored groups fit"),
        ("stored", "all results, as stored"),
        ("window", "top results"),
        ("matches", "top results, with duplicates among all results"),
        ("index", "top results, with duplicates in the whole index"),
    ),
    "sort": (("relevance", "relevance"), ("newest", "newest first"), ("oldest", "oldest first")),
    "preset": (("", "none"), *((name, name) for name in PRESETS if name != PAPERS)),
    "size": tuple((str(size), str(size)) for size in SIZES),
}


# The levels of a pair of documents.
PAIR_LEVELS = [choice for choice in LABELS["level"] if choice[0] not in MEMBERSHIPS]


class PageState(StrictQuery):
    """The query of a list, and its display options, in the order of the URL."""

    model_config = ConfigDict(frozen=True)

    q: str = Field(default="", max_length=MAX_QUERY, description="Words that must occur.")
    dedupe: str = Field(default="indent", description=f"{', '.join(MODES)}.")
    # Empty: `near`, or as groups are stored.
    level: str = Field(default="", description=f"{', '.join(LIST_LEVELS)}.")
    keep: str = Field(default="rank", max_length=2_000, description=f"{', '.join(KEEPS)}, source:A,B.")
    by: str = Field(default="", description=f"{', '.join(GROUPED)}.")  # empty: `auto`
    similarity: str = Field(default="", max_length=10, description="Minimum share of common text, in percent.")
    days: str = Field(default="", max_length=10, description="Maximum of days between two duplicates.")
    preset: str = Field(default="", description=f"{', '.join(PRESETS)}.")
    document: str = Field(default="", max_length=1_000, description="Field that names the document of a passage.")
    source: list[str] = Field(default=[], max_length=MAX_SOURCES, description="Only these sources.")
    language: list[str] = Field(default=[], max_length=MAX_SOURCES, description="Only these languages.")
    date: str = Field(default="", max_length=40, description="Only this date, or FROM..TO.")
    sort: Order = Field(default="relevance", description=f"{', '.join(ORDERS)}.")
    page: int = Field(default=1, ge=1, le=MAX_WINDOW, description="Which page.")
    size: int = Field(default=SIZES[0], ge=1, le=100, description="Groups on a page.")

    def request(self) -> DedupeRequest:
        parameters = {
            "dedupe": self.dedupe,
            "dedupe_level": self.level,
            "dedupe_keep": self.keep,
            "dedupe_by": self.by if self.by in WAYS else "",
            "dedupe_similarity": self.similarity,
            "dedupe_window_days": self.days,
            "dedupe_scope": self.by if self.by in SCOPES else "",
            "dedupe_preset": self.preset,
            "dedupe_document": self.document,
            "dedupe_explain": "true",
        }
        return parse_request({name: value for name, value in parameters.items() if value}, mode="indent").for_people()

    def query(self) -> SearchQuery:
        return parse_query(self.q, self.filters())

    def filters(self) -> list[str]:
        """Return the conditions, each as `FIELD=VALUE`.

        >>> PageState(source=["AP"], language=["de"], date="1987").filters()
        ['source=AP', 'language=de', 'date=1987']
        """
        several = [f"{name}={value}" for name in ("source", "language") for value in getattr(self, name)]
        return several + ([f"date={self.date}"] if self.date else [])

    def address(self, **changes: Any) -> str:
        """Return the URL of this state with changes, without default values.

        >>> PageState(q="grain").address(level="identical", page=2)
        '/?q=grain&level=identical&page=2'
        """
        return HOME + self.suffix(**changes)

    def policy(self, level: Level = "near") -> Policy:
        """Return the policy for the decision on a pair."""
        parameters = {
            "dedupe_level": "" if self.level in MEMBERSHIPS else self.level,
            "dedupe_similarity": self.similarity,
            "dedupe_preset": self.preset,
            "dedupe_window_days": self.days,
        }
        return pair_policy(parameters, level)

    def at(self, level: str) -> "PageState":
        """Return the same list with another level."""
        return self.model_copy(update={"level": level})

    @property
    def begin(self) -> str:
        """Start of the date range, in the format of the form."""
        return self.date.partition("..")[0]

    @property
    def end(self) -> str:
        """End of the date range, in the format of the form."""
        begin, dots, end = self.date.partition("..")
        return end if dots else begin

    def chosen_filters(self) -> list[Choice]:
        """Return each active filter with its label, and the URL of the list without this filter.

        >>> PageState(q="rent", source=["AP", "UPI"], date="1987").chosen_filters()[0]
        ('AP', '/?q=rent&source=UPI&date=1987')
        """
        values = [(name, value) for name in ("source", "language") for value in getattr(self, name)]
        dates = [(date_label(self.date), self.address(date=""))] if self.date else []
        return [(value, self.toggle(name, value)) for name, value in values] + dates

    def part(self, name: str, **extras: object) -> str:
        """Return the URL of another page about this list.

        >>> PageState(q="grain", page=2).part("document", id="a b")
        '/ibidem/page/document?q=grain&page=2&id=a+b'
        """
        pairs = "&".join(filter(None, (self.suffix(page=self.page)[1:], urlencode(extras))))
        return f"/ibidem/page/{name}?{pairs}"

    def suffix(self, **changes: Any) -> str:
        """Return the query string with its question mark; empty if there are no parameters."""
        state = self.model_copy(update={"page": 1} | changes)
        values = {name: getattr(state, name) for name in DEFAULTS}
        pairs = {name: value for name, value in values.items() if value not in ("", DEFAULTS[name])}
        return f"?{urlencode(pairs, doseq=True)}" if pairs else ""

    def toggle(self, name: str, value: str) -> str:
        """Return the URL of the list with a facet value added, or removed if it was set.

        >>> PageState(q="rent", source=["AP"]).toggle("source", "AP")
        '/?q=rent'
        """
        values: list[str] = getattr(self, name)
        subset = [each for each in values if each != value]
        return self.address(**{name: subset if value in values else [*values, value]})

    def further(self) -> int:
        """Count the non-default options under "More"."""
        return sum(getattr(self, name) != DEFAULTS[name] for name in FURTHER)

    def is_chosen(self, name: str, value: str) -> bool:
        """Return whether an option is selected."""
        return str(getattr(self, name)) == value


FURTHER = ("keep", "by", "similarity", "days", "preset", "document", "size")  # choices that are made less often

DEFAULTS: Mapping[str, object] = {name: each.default for name, each in PageState.model_fields.items()}


def date_label(date: str) -> str:
    """Format a date or a range as people write it.

    >>> date_label("1987-03"), date_label("1987-03..1988"), date_label("..1988")
    ('March 1987', 'from March 1987 to 1988', 'to 1988')
    """
    begin, dots, end = date.partition("..")
    named = [f"{name} {written_date(part)}" for name, part in (("from", begin), ("to", end)) if part]
    return " ".join(named) if dots else written_date(date)


class ListQuery(PageState):
    """The URL parameters of a list: its state, and what a form adds."""

    sort: Literal["", "relevance", "newest", "oldest"] = ""  # type: ignore[assignment] # empty: the default
    since: str = Field(default="", max_length=40, description="Only from this date on, in any common format.")
    until: str = Field(default="", max_length=40, description="Only up to this date.")
    within: str = Field(default="", max_length=MAX_QUERY, description="A query whose results are searched.")
    said: Literal["", "same", "not", "none"] = Field(default="", description="The most recent decision.")
    about: list[Id] = Field(default=[], max_length=2, description="The two documents of that decision.")

    def state(self) -> PageState:
        """Return the state described by the URL; empty values mean defaults."""
        values = {name: value for name in DEFAULTS if (value := getattr(self, name)) not in ("", [])}
        if "dedupe" in values and values["dedupe"] not in MODES:
            raise UsageError(f"dedupe={values['dedupe']!r} is not valid", f"allowed: {', '.join(MODES)}")
        if self.by and self.by not in GROUPED:
            raise UsageError(f"by={self.by!r} is not valid", f"allowed: {', '.join(GROUPED)}")
        q = self.q or self.within
        if self.q.strip() and self.within.strip() not in ("", self.q.strip()):
            q = f"({self.within.strip()}) ({self.q.strip()})"
        if self.since or self.until:
            since, until = spelled_date(self.since), spelled_date(self.until)
            date = since if since == until else f"{since}..{until}"
        else:
            date = iso_range(self.date)
        values |= {"level": "" if self.level == "near" else self.level, "date": date, "q": q}
        several = {name: list(dict.fromkeys(filter(None, getattr(self, name)))) for name in ("source", "language")}
        return PageState.model_construct(**(values | several))


def read_query(parameters: QueryParams) -> ListQuery:
    several = {name for name, field in ListQuery.model_fields.items() if field.default == []}
    values = {name: parameters.getlist(name) if name in several else parameters[name] for name in parameters}
    try:
        return ListQuery.model_validate(values)
    except ValidationError as error:
        raise RequestValidationError([each | {"loc": ("query", *each["loc"])} for each in error.errors()]) from error


def read_leniently(parameters: QueryParams) -> PageState:
    """Parse the valid parameters of a URL, for a page that reports the invalid ones."""
    for names in (DEFAULTS, ("q", "source", "language", "date"), ("q",)):
        try:
            return read_query(QueryParams([pair for pair in parameters.multi_items() if pair[0] in names])).state()
        except (RequestValidationError, UsageError):
            continue
    return PageState()


def field(form: Mapping[str, str], name: str) -> str:
    if not form.get(name):
        raise HttpError(400, f"the form has no {name!r}", f"send {name}")
    return form[name]
