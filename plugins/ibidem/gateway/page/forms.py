"""Forms of the page, as browsers send them."""

from collections.abc import Mapping
from urllib.parse import parse_qs

from fastapi import Request

from ibidem.gateway.errors import HttpError


async def read_form(request: Request) -> Mapping[str, str]:
    """Return the fields of a form; of one that was sent twice the last."""
    body = (await request.body()).decode("utf-8", "replace")
    return {name: values[-1] for name, values in parse_qs(body).items()}


def field(form: Mapping[str, str], name: str) -> str:
    """Return a field of a form.

    Raises:
        HttpError: It is missing.
    """
    if not form.get(name):
        raise HttpError(400, "illegal_argument_exception", f"the form has no {name!r}", f"send {name}")
    return form[name]
