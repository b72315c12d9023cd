"""Log lines of a batch: its totals, its refusals, and the time of each stage."""

import logging

from ibidem_core.logs import Stages
from ibidem_workers.batch_result import BatchResult

_log = logging.getLogger(__name__)


def log_batch(result: BatchResult, stages: Stages, tries: int, rejections: int = 0) -> None:
    """Log the result of a batch; run and batch come from the log context."""
    if result.parts:
        event = {"tries": tries, "documents": result.parts}
        _log.warning("batch ended its workers and was sent again as single documents", extra=event)
        return
    for refusal in result.refusals:
        _log.info("document refused", extra={"document": refusal.id, "field": refusal.field, "why": refusal.why})
    if _log.isEnabledFor(logging.INFO):
        counts = {"tries": tries, "rejections": rejections}
        extra_counts = {name: count for name, count in counts.items() if count}
        _log.info("batch done", extra=_sums(result) | stages.ms() | extra_counts)


def _sums(result: BatchResult) -> dict[str, object]:
    return {
        "documents": result.documents,
        "indexed": result.indexed,
        "unchanged": result.unchanged,
        "stale": result.stale,
        "refused": len(result.refusals),
    }
