"""What is logged of a batch: a line with its account and the time of each stage, and one for each refused document."""

import logging

from ibidem_workers.account import Account
from ibidem_workers.stages import Stages

_log = logging.getLogger(__name__)


def tell(account: Account, stages: Stages, tries: int) -> None:
    """Log what became of a batch; run and batch stand in every line that is logged meanwhile.

    Args:
        account: Of its documents.
        stages: How long each stage took.
        tries: How often it had ended its worker before.
    """
    if account.parts:
        told = {"tries": tries, "documents": account.parts}
        _log.warning("batch ended its workers and was sent again as single documents", extra=told)
        return
    for one in account.refusals:
        _log.info("document refused", extra={"document": one.id, "field": one.field, "why": one.why})
    if _log.isEnabledFor(logging.INFO):
        _log.info("batch done", extra=_sums(account) | stages.ms() | ({"tries": tries} if tries else {}))


def _sums(account: Account) -> dict[str, object]:
    return {
        "documents": account.documents,
        "indexed": account.indexed,
        "unchanged": account.unchanged,
        "stale": account.stale,
        "refused": len(account.refusals),
        "duplicates": len(account.duplicates),
    }
