"""Templates and the files beside them: every value is escaped, and nothing comes from elsewhere."""

from functools import cache
from importlib.resources import files
from typing import Any

import xxhash
from fastapi import Response
from fastapi.responses import HTMLResponse

from ibidem.shared_page import environment

STATIC = {"page.css": "text/css", "page.js": "text/javascript", "shared.css": "text/css"}
"""Files that a browser may ask for, and what they are."""

A_YEAR = "public, max-age=31536000, immutable"


@cache
def static(name: str) -> bytes:
    """Return a file that stands beside the templates.

    Args:
        name: One of `STATIC`.
    """
    return files("ibidem").joinpath("templates", name).read_bytes()


@cache
def static_address(name: str) -> str:
    """Return where a browser finds a file: its address changes with its contents, so that it may be kept for long."""
    return f"/ibidem/page/static/{xxhash.xxh3_64_hexdigest(static(name))[:10]}/{name}"


def html(template: str, status: int = 200, /, **values: Any) -> Response:
    """Fill a template.

    Args:
        template: Its name.
        status: HTTP status of the answer.
        values: What it shows.
    """
    text = environment().get_template(template).render(static=static_address, **values)
    return HTMLResponse(text, status, headers={"cache-control": "private, no-store", "vary": "accept"})
