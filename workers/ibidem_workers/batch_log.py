"""Log lines of a batch: its totals, its refusals, and the time of each stage."""

import logging

from ibidem_core.logs import Stages
from ibidem_workers.batch_result import BatchResult

_log = logging.getLogger(__name__)


def log_batch(account: BatchResult, stages: Stages, tries: int, rejections: int = 0) -> None:
    """Log the result of a batch; run and batch come from the log context.

    Args:
        account: Result of its documents.
        stages: How long each stage took.
        tries: How often it had ended its worker before.
        rejections: How often the server refused a request as busy.
    """
    if account.parts:
        event = {"tries": tries, "documents": account.parts}
        _log.warning("batch ended its workers and was sent again as single documents", extra=event)
        return
    for refusal in account.refusals:
        _log.info("document refused", extra={"document": refusal.id, "field": refusal.field, "why": refusal.why})
    if _log.isEnabledFor(logging.INFO):
        counts = {"tries": tries, "rejections": rejections}
        extra_counts = {name: count for name, count in counts.items() if count}
        _log.info("batch done", extra=_sums(account) | stages.ms() | extra_counts)


def _sums(account: BatchResult) -> dict[str, object]:
    return {
        "documents": account.documents,
        "indexed": account.indexed,
        "unchanged": account.unchanged,
        "stale": account.stale,
        "refused": len(account.refusals),
    }
