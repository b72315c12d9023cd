"""Errors of search engines (the tree is drawn in `ibidem_ingest.errors`), and retries while one is away.

Records next to an index are validated when parsed, since other programs may have written them.
"""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError
from tenacity import RetryCallState, Retrying, retry_if_exception_type, wait_random_exponential

from ibidem_ingest.errors import IbidemError


class EngineError(IbidemError):
    """A search engine failed."""


class Unavailable(EngineError):
    """A temporary failure: busy, starting, locked, unreachable. Retried with backoff."""


class Permanent(EngineError):
    """A permanent failure: wrong address, wrong schema, full disk, refused query. Never retried."""


class NoIndex(Permanent):
    """The index does not exist."""


class DamagedRecord(Permanent):
    """A record next to the index is damaged."""


BACKOFF = wait_random_exponential(multiplier=0.1, max=5.0)
WARN_AT = 5  # attempt after which a warning is logged: about two seconds have passed

HEEDS_AFTER = 0.5  # seconds after which a waiting worker looks whether it was asked to end

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)


def retry_unavailable(
    call: Callable[[], Answer], seconds: float, has_ended: Callable[[], bool] = lambda: False
) -> Answer:
    """Call until the engine or broker responds, with random pauses that grow to 5 s at most."""

    def warn(state: RetryCallState) -> None:
        """Log a warning when the retries begin to take long."""
        error = state.outcome.exception() if state.outcome else None
        if state.attempt_number == WARN_AT and isinstance(error, Unavailable):
            _log.warning("waiting for a service that does not answer", extra={"why": error.what, "seconds": seconds})

    retrying = Retrying(
        retry=retry_if_exception_type(Unavailable),
        stop=lambda state: state.idle_for >= seconds or has_ended(),
        wait=lambda state: min(BACKOFF(state), seconds - state.idle_for),
        sleep=lambda pause_s: _pause(pause_s, has_ended),
        before_sleep=warn,
        reraise=True,
    )
    answer = retrying(call)
    if retrying.statistics["attempt_number"] > WARN_AT:
        _log.warning("the service answers again", extra={"waited_s": round(retrying.statistics["idle_for"], 1)})
    return answer


def _pause(pause_s: float, has_ended: Callable[[], bool]) -> None:
    while pause_s > 0 and not has_ended():
        time.sleep(min(pause_s, HEEDS_AFTER))
        pause_s -= HEEDS_AFTER


Kind = TypeVar("Kind")

REMOVE = "another program has changed it; correct it, or remove it"  # remedy for a damaged record


def parse_record(kind: type[Kind], values: Mapping[str, object]) -> Kind:
    """Parse a record."""
    if kind not in _ADAPTERS:  # creating a validator takes longer than parsing
        _ADAPTERS[kind] = TypeAdapter(kind)
    try:
        read: Kind = _ADAPTERS[kind].validate_json(orjson.dumps(values), strict=True)
    except (ValidationError, TypeError) as error:
        raise DamagedRecord(
            f"a record of kind {kind.__name__} stored with the index is damaged: {_describe(error)}", REMOVE
        ) from error
    return read


def _describe(error: ValidationError | TypeError) -> str:
    """Return the invalid field."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}
