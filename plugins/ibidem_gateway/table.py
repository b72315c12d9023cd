"""Response with a table to download, as CSV or JSON Lines."""

from collections.abc import Iterable, Sequence

from fastapi import Response

from ibidem.comparison.result_list import COLUMNS, FORMATS, Row
from ibidem_gateway.errors import HttpError


def as_table(name: str, ending: str, rows: Iterable[Row], columns: Sequence[str] = COLUMNS) -> Response:
    """Return a response with rows as a table to download."""
    if ending not in FORMATS:
        raise HttpError(
            404, "resource_not_found_exception", f"no export as {ending!r}", f"allowed: {', '.join(FORMATS)}"
        )
    media, write = FORMATS[ending]
    headers = {"content-disposition": f'attachment; filename="{name}.{ending}"', "cache-control": "private, no-store"}
    return Response(write(rows, columns), media_type=media, headers=headers)
