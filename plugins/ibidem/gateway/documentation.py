"""The OpenAPI document: what can be asked, and what is answered to it."""

from typing import Any

from fastapi import FastAPI

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
"""An error as OpenSearch and Elasticsearch write theirs."""

WRONG = {
    "400": "What was sent is not understood; the reason says what would be right.",
    "401": "The engine does not know who asks.",
    "403": "The engine, or the settings, do not allow it.",
    "404": "No such index or document.",
    "406": "The body is in a form that is not taken.",
    "408": "The request did not arrive in time.",
    "413": "The body is too long.",
    "415": "The body is packed in a way that is not taken.",
    "421": "The gateway is not called by this name.",
    "429": "Too many requests at once; come again.",
    "500": "A fault.",
    "501": "An SQLite index has no such query language.",
    "502": "The engine's answer cannot be read.",
    "503": "The engine does not answer.",
    "504": "The engine did not answer in time.",
}


def documented(app: FastAPI) -> None:
    """Let an application describe the errors that every route may answer, in the one form that they have.

    Args:
        app: The application, its routes added.
    """
    described = app.openapi

    def openapi() -> dict[str, Any]:
        document = described()
        document.setdefault("components", {}).setdefault("schemas", {})["Error"] = ERROR
        for operations in document["paths"].values():
            for operation in operations.values():
                add_errors(operation["responses"])
        return document

    app.openapi = openapi  # type: ignore[method-assign] # the framework's own way to change the document


def add_errors(responses: dict[str, Any]) -> None:
    """Describe every error, and leave out the framework's own form of one.

    Args:
        responses: Those of an operation, by status.
    """
    responses.pop("422", None)
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for status, what in WRONG.items():
        responses.setdefault(status, {"description": what, "content": content})
