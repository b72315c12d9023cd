"""Errors of search engines (the tree is drawn in `ibidem_ingest.errors`), and retries while one is away."""

import logging
import time
from collections.abc import Callable
from random import uniform
from typing import TypeVar

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


FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds; pauses are random, and may be twice as long each time
WARN_AT = 5  # attempt after which a warning is logged: about two seconds have passed

HEEDS_AFTER = 0.5  # seconds after which a waiting worker looks whether it was asked to end

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)


def retry_unavailable(
    call: Callable[[], Answer],
    seconds: float,
    has_ended: Callable[[], bool] = lambda: False,
    pause: Callable[[float], None] = time.sleep,
) -> Answer:
    """Call until the engine or broker responds, with pauses that add up to so many seconds at most."""
    waited, longest = 0.0, FIRST_PAUSE
    attempt = 0
    while True:
        attempt += 1
        try:
            answer = call()
        except Unavailable as error:
            if waited >= seconds or has_ended():
                raise
            if attempt == WARN_AT:
                about = {"why": error.what, "seconds": seconds}
                _log.warning("waiting for a service that does not answer", extra=about)
        else:
            if attempt > WARN_AT:
                _log.warning("the service answers again", extra={"waited_s": round(waited, 1)})
            return answer
        rest = min(uniform(0, longest), seconds - waited)  # noqa: S311 - many that wait are not to call at once
        waited, longest = waited + rest, min(2 * longest, LONGEST_PAUSE)
        while rest > 0 and not has_ended():
            pause(min(rest, HEEDS_AFTER))
            rest -= HEEDS_AFTER
