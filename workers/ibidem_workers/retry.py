"""Retry with jittered exponential backoff while the engine or broker is unavailable; a batch's delivery count stays."""

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from ibidem_engines.errors import Unavailable

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
TOLD_FROM = 1.0
"""Seconds of a pause from which on it is told that something is waited for."""

HEEDS_AFTER = 0.5
"""Seconds after which a waiting worker looks whether it was asked to end."""

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)


def retry_unavailable(
    call: Callable[[], Answer],
    seconds: float,
    ended: Callable[[], bool] = lambda: False,
    pause: Callable[[float], None] = time.sleep,
) -> Answer:
    """Call until it answers; between two calls wait twice as long as before, with a random share, 5 s at most.

    Args:
        call: What may raise `Unavailable`.
        seconds: How long to wait in all.
        ended: Tells whether the waiting is to be given up.
        pause: Waits for some seconds.

    Raises:
        Unavailable: It did not answer in that time, or the waiting was given up.
    """
    waited, step, told = 0.0, FIRST_PAUSE, False
    while True:
        try:
            answer = call()
        except Unavailable as error:
            if waited >= seconds or ended():
                raise
            if not told and step > TOLD_FROM:
                told = True
                _log.warning("waiting for what does not answer", extra={"why": error.what, "seconds": seconds})
        else:
            if told:
                _log.warning("it answers again", extra={"waited_s": round(waited, 1)})
            return answer
        rest = min(step * random.uniform(0.5, 1.0), seconds - waited)  # noqa: S311 - spreads the load, hides nothing
        waited, step = waited + rest, min(step * 2, LONGEST_PAUSE)
        while rest > 0 and not ended():
            pause(min(rest, HEEDS_AFTER))
            rest -= HEEDS_AFTER
