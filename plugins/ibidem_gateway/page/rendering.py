"""Render templates with every value escaped, and serve static files and the API documentation."""

import re
from calendar import month_name
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

import xxhash
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

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
