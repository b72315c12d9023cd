"""Whether a request comes from somebody who reads pages, or from a program."""

from starlette.requests import Request

PAGE = "text/html"


def wants_page(request: Request) -> bool:
    """Tell whether a browser asks: it names HTML among what it accepts, clients of a search engine never do.

    Args:
        request: The request.
    """
    return PAGE in request.headers.get("accept", "")
