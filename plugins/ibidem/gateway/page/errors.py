"""What went wrong, as a page that says what to do about it."""

from collections.abc import Mapping

from fastapi import Response

from ibidem.gateway.page.rendering import html
from ibidem.gateway.refusals import AGAIN, Answered

TITLES: Mapping[int, str] = {
    400: "That was not understood",
    401: "Who are you?",
    403: "That is not allowed",
    404: "There is no such thing",
    413: "That is too long",
    429: "Too many at once",
    503: "The search engine does not answer",
    504: "That took too long",
}
OTHER = "Something went wrong"


def as_page(wrong: Answered) -> Response:
    """Make the answer that a person understands.

    Args:
        wrong: What went wrong.
    """
    title = TITLES.get(wrong.status, OTHER)
    answer = html("page_error.html", wrong.status, title=title, reason=wrong.reason, remedy=wrong.remedy)
    answer.headers.update(AGAIN.get(wrong.status, {}))
    return answer
