"""Trial of a backfill: signs and settles a sample in a temporary index, and measures the time."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ibidem_core.settings import Settings
from ibidem_engines.engine import Engine, ReindexSource, ReindexTarget, WriteStatus
from ibidem_engines.stored_groups import Name
from ibidem_ingest.errors import UsageError
from ibidem_workers.backfill.pool import FEW, processes_for
from ibidem_workers.backfill.run import Backfill, open_for_backfill, start_in_place
from ibidem_workers.groups.service import settle_all

SAMPLE = FEW  # documents that are tried: as few as are signed in the way that a large index is

PORTION = 250  # documents that are copied at once


@dataclass(frozen=True, slots=True)
class Rates:
    """Measured rates of a backfill."""

    documents: int  # how many were tried
    start: float  # fixed seconds, independent of the number of documents: ledgers, processes
    signing: float  # seconds for each document to be read, signed and written
    settling: float  # seconds for each document to be put into its group

    def seconds(self, documents: int) -> float:
        """Return the estimated seconds of a backfill of a number of documents.

        >>> Rates(100, 2.0, 0.003, 0.001).seconds(1_000)
        6.0
        """
        return self.start + documents * (self.signing + self.settling)


def measure_rates(source: ReindexSource, settings: Settings, names: Sequence[Name]) -> Rates:
    """Copy a sample into a temporary index, sign it as `ibidem backfill` does, and measure the time.

    Final pipelines of the index are left out, since they may do more than change documents.
    """
    (index, count), *_ = Counter(each.index for each in names).most_common(1)
    own, size = [each for each in names if each.index == index], min(count, SAMPLE)
    with source.open_trial(index) as trial:
        copied = _copy(source, trial.target, [own[at * count // size] for at in range(size)])
        if not copied:
            raise UsageError("no document could be copied into a trial index", "look at one with: ibidem doctor")
        changes = {"index": trial.name} | ({"engine": trial.engine} if trial.engine else {})
        return _time_backfill(settings.changed(**changes), copied)


def _copy(source: ReindexSource, target: ReindexTarget, names: Sequence[Name]) -> int:
    """Copy documents without signatures; returns how many were written."""
    copied = 0
    for position in range(0, len(names), PORTION):
        originals = source.read(names[position : position + PORTION], raw=True)
        outcomes = target.take([(source.strip_document(each), None) for each in originals])
        copied += sum(outcome.status is WriteStatus.INDEXED for outcome in outcomes)
    return copied


def _time_backfill(settings: Settings, documents: int) -> Rates:
    """Sign and settle an index as `backfill_in_place` does, without other workers."""
    began = time.perf_counter()
    with open_for_backfill(settings) as (engine, source):
        backfill = start_in_place(engine, source, settings, lambda *_: None)
        engine.group_set()
        backfill.run()
        signed = time.perf_counter()
        settling = _time_settling(engine)
        at_rest = _time_settling(engine)
    signing = _elapsed(backfill, processes_for(documents, settings))
    start = max(0.0, signed - began - signing) + at_rest
    return Rates(documents, start, signing / documents, max(0.0, settling - at_rest) / documents)


def _time_settling(engine: Engine) -> float:
    began = time.perf_counter()
    settle_all(engine)
    return time.perf_counter() - began


def _elapsed(backfill: Backfill, processes: int) -> float:
    """Return the total time of pages that several processes signed at once."""
    return sum(backfill.page_seconds) / max(1, min(processes, len(backfill.page_seconds)))
