"""Cursor of a search: a text that lets the next page continue the same ranking.

A cursor holds what its ranking reads and where the next page begins, with digests of the index, the query and the
parameters that it belongs to, as JSON in base64 for a URL. It is checked like any other parameter. It gives no rights:
whoever writes one sees what a search with the same account and filters finds.
"""

from base64 import b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any

import orjson
from pydantic import Field, TypeAdapter

from ibidem_ingest.errors import UsageError

VERSION = "c3"  # form of the parts; a cursor of another form is refused

_START_OVER = "leave it out to start a new list"

_Number = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_PARTS: TypeAdapter[tuple[str, str, str, str, int | None, str, tuple[int, list[Any]] | None]] = TypeAdapter(
    tuple[str, str, str, str, _Number | None, str, tuple[_Number, list[Any]] | None]
)


@dataclass(frozen=True, slots=True)
class ReadView:
    """Read view of a ranking: writes up to a sequence number, or a point in time; by default the current state."""

    newest: int | None = None  # highest number of a write that is read; None for no such limit
    point: str = ""  # id of a point in time of the server, or an empty string


NOW = ReadView()  # everything that is there when the search runs


@dataclass(frozen=True, slots=True)
class Place:
    """Start position of a page in a collapsed ranking."""

    start: int  # how many groups come before
    # Sort values that an earlier request gave to go on from; needed beyond the groups that an engine counts off.
    search_after: Sequence[object] | None = None


@dataclass(frozen=True, slots=True)
class Cursor:
    """State that one page passes to the next."""

    view: ReadView = NOW  # what the ranking reads
    next_page: Place | None = None  # where the next page begins, for an engine that does not count that far


@dataclass(frozen=True, slots=True)
class CursorCodec:
    """Encodes and decodes the cursors of one list: an index, a query and parameters.

    >>> codec = CursorCodec("news", "grain", "near")
    >>> codec.decode(codec.encode(Cursor(ReadView(17)))).view.newest
    17
    """

    index: str  # name of the index, or names
    query: str  # digest of the query
    parameters: str  # digest of what else decides on groups and their order

    def encode(self, cursor: Cursor) -> str:
        page = cursor.next_page
        following = None if page is None else [page.start, page.search_after]
        parts = [VERSION, *self._digests(), cursor.view.newest, cursor.view.point, following]
        return urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")

    def decode(self, text: str) -> Cursor:
        """Decode a cursor; an empty text means the first page."""
        if not text:
            return Cursor()
        try:
            content = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            version, *digests, newest, point, following = _PARTS.validate_json(content, strict=True)
        except ValueError as error:
            raise UsageError(
                "dedupe_cursor is not valid: no search of this index has issued it",
                "use `dedupe.cursor` of an answer unchanged, or leave it out to start a new list",
            ) from error
        index, *others = self._digests()
        if [version, digests[0]] != [VERSION, index]:
            raise UsageError("dedupe_cursor belongs to another index, or another version of ibidem", _START_OVER)
        if digests[1:] != others:
            raise UsageError("dedupe_cursor belongs to another query, level, window or preset", _START_OVER)
        return Cursor(ReadView(newest, point), None if following is None else Place(*following))

    def _digests(self) -> list[str]:
        """Return digests of index names, query and parameters; digests, since there may be thousands of names."""
        parts = (each.encode(errors="surrogatepass") for each in (self.index, self.query, self.parameters))
        return [blake2b(part, digest_size=16).hexdigest() for part in parts]
