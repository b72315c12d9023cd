"""The same id twice in one call: the newer version wins, else the later."""

from collections.abc import Sequence

from ibidem_engines.engine import Fate, Outcome, Record


def superseded(records: Sequence[Record]) -> dict[int, Outcome]:
    """Find the records of which the same call holds a newer version, or the same one later.

    Returns:
        Their outcomes by their place in the call.
    """
    best: dict[str, int] = {}
    outcomes: dict[int, Outcome] = {}
    for at, record in enumerate(records):
        rival = best.setdefault(record.document.id, at)
        winner, loser = (at, rival) if record.version >= records[rival].version else (rival, at)
        best[record.document.id] = winner
        if loser != winner:
            why = f"the same id comes again in this batch, with version {records[winner].version}"
            outcomes[loser] = Outcome(record.document.id, Fate.STALE, field="id", why=why)
    return outcomes
