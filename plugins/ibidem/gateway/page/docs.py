"""What can be asked over HTTP, as a page written from the OpenAPI document."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from fastapi import APIRouter, Request, Response

from ibidem.gateway.page.rendering import html

router = APIRouter(include_in_schema=False)

REFERENCE = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing that is sent.

    Args:
        name: Its name.
        place: Where it stands: path, query or body.
        required: Whether it has to be sent.
        about: What it means.
    """

    name: str
    place: str
    required: bool
    about: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One question.

    Args:
        methods: Of HTTP, by commas.
        path: As it is declared.
        about: What is answered.
        parameters: What is sent with it.
    """

    methods: str
    path: str
    about: str
    parameters: Sequence[Parameter]


@router.get("/docs")
def docs(request: Request) -> Response:
    """Show what can be asked."""
    return html("page_docs.html", operations=list(operations(request.app.openapi())))


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """Yield the questions of an OpenAPI document; those that differ in their method alone, once.

    Args:
        document: The document.
    """
    schemas = document["components"]["schemas"]
    for path, by_method in document["paths"].items():
        asked = [
            (str(each.get("description", "")), list(parameters(each, schemas)), method.upper())
            for method, each in by_method.items()
        ]
        for (about, sent), same in groupby(asked, lambda each: each[:2]):
            yield Operation(", ".join(sorted(method for *_, method in same)), path, about, sent)


def parameters(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[Parameter]:
    """Yield what is sent with a question: in its path, its query string and its body.

    Args:
        operation: As the document describes it.
        schemas: What the document's references stand for.
    """
    for each in operation.get("parameters", ()):
        about = each.get("description") or each.get("schema", {}).get("description", "")
        yield Parameter(each["name"], each["in"], bool(each.get("required")), about)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    described = schemas.get(body.get("$ref", "").removeprefix(REFERENCE), {})
    for name, each in described.get("properties", {}).items():
        yield Parameter(name, "body", name in described.get("required", ()), each.get("description", ""))
