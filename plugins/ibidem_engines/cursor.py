"""Cursor of a search: a text that lets the next page continue the same ranking.

A cursor holds what its ranking reads and where the next page begins, with digests of the index, the query and the
parameters that it belongs to. It is JSON behind an authentication code (HMAC with SHA-256, RFC 2104), in base64 for a
URL. The key is kept with the index: every process that searches it accepts the cursors of the others, and nobody else
can write one.
"""

import hmac
import secrets
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import orjson

from ibidem_ingest.errors import UsageError

KEY = "cursors/key"  # name of the record, among those of runs, that holds the key

VERSION = "c2"  # form of the parts; a cursor of another form is refused

_KEY_BYTES = 32
_CODE_BYTES = 32
_START_OVER = "leave it out to start a new list"


@dataclass(frozen=True, slots=True)
class ReadView:
    """Read view of a ranking: writes up to a sequence number, or a point in time; by default the current state."""

    newest: int | None = None  # highest number of a write that is read; None for no such limit
    point: str = ""  # id of a point in time of the server, or an empty string


NOW = ReadView()  # everything that is there when the search runs


@dataclass(frozen=True, slots=True)
class NextPage:
    """Start position of the next page of a collapsed ranking."""

    start: int  # how many groups come before it
    search_after: Sequence[object]  # the engine's sort values to go on from


@dataclass(frozen=True, slots=True)
class Cursor:
    """State that one page passes to the next."""

    view: ReadView = NOW  # what the ranking reads
    next_page: NextPage | None = None  # where the next page begins, for an engine that does not count that far


@dataclass(frozen=True, slots=True)
class CursorCodec:
    """Encodes and decodes the cursors of one list: an index, a query and parameters.

    >>> codec = CursorCodec(bytes(32), "news", "grain", "near")
    >>> codec.decode(codec.encode(Cursor(ReadView(17)))).view.newest
    17
    """

    key: bytes = field(repr=False)  # the key of the index; empty if none is kept, and then there are no cursors
    index: str  # name of the index, or names
    query: str  # digest of the query
    parameters: str  # digest of what else decides on groups and their order

    def encode(self, cursor: Cursor) -> str:
        """Encode a cursor as text for a URL; empty without a key."""
        if not self.key:
            return ""
        page = cursor.next_page
        following = None if page is None else [page.start, page.search_after]
        body = orjson.dumps([VERSION, *self._digests(), cursor.view.newest, cursor.view.point, following])
        return urlsafe_b64encode(self._code(body) + body).decode().rstrip("=")

    def decode(self, text: str) -> Cursor:
        """Decode a cursor; an empty text means the first page."""
        if not text:
            return Cursor()
        if not self.key:
            raise UsageError(
                f"dedupe_cursor cannot be checked: index {self.index!r} has no signing key for cursors",
                f"{_START_OVER}; ibidem ingest and ibidem backfill create the key",
            )
        parts, digests = self._authentic_parts(text), self._digests()
        if parts[:2] != [VERSION, digests[0]]:
            raise UsageError("dedupe_cursor belongs to another index, or another version of ibidem", _START_OVER)
        if parts[2:4] != digests[1:]:
            raise UsageError("dedupe_cursor belongs to another query, level, window or preset", _START_OVER)
        newest, point, following = parts[4:]
        return Cursor(ReadView(newest, point), None if following is None else NextPage(*following))

    def _authentic_parts(self, text: str) -> list[Any]:
        """Decode a cursor after its signature was verified."""
        try:
            content = b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        except ValueError as error:
            raise _forged() from error
        code, body = content[:_CODE_BYTES], content[_CODE_BYTES:]
        if not hmac.compare_digest(code, self._code(body)):
            raise _forged()
        parts: list[Any] = orjson.loads(body)
        return parts

    def _code(self, body: bytes) -> bytes:
        return hmac.digest(self.key, body, "sha256")

    def _digests(self) -> list[str]:
        """Return digests of index names, query and parameters; digests, since there may be thousands of names."""
        return [_digest(part) for part in (self.index, self.query, self.parameters)]


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _forged() -> UsageError:
    return UsageError(
        "dedupe_cursor is not valid: no search of this index has issued it",
        "use `dedupe.cursor` of an answer unchanged, or leave it out to start a new list",
    )


def new_key() -> dict[str, object]:
    return {"key": secrets.token_hex(_KEY_BYTES)}


def read_key(record: object) -> bytes:
    """Read the key from its record; empty if it is missing or damaged.

    >>> read_key(None), len(read_key(new_key())), read_key({"key": "short"})
    (b'', 32, b'')
    """
    try:
        key = bytes.fromhex(str(record.get("key", ""))) if isinstance(record, dict) else b""
    except ValueError:
        return b""
    return key if len(key) == _KEY_BYTES else b""
