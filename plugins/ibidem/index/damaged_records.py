"""Damaged records next to an index, each with its error."""

from collections.abc import Iterator
from functools import partial
from typing import get_args

from ibidem_core.errors import NoIndex
from ibidem_core.records import parse_record
from ibidem_dedupe.overrides import Override
from ibidem_engines.engine import Engine
from ibidem_engines.group_checkpoint import GroupCheckpoint
from ibidem_engines.ledger import DamagedEntry, DeletedDocument, Parse, Tombstone, find_damaged
from ibidem_engines.stored_groups import Ledger
from ibidem_engines.stored_presets import read_preset
from ibidem_workers.backfill import checkpoint as backfill
from ibidem_workers.batch_result import BatchResult
from ibidem_workers.dead_letters import read_letter
from ibidem_workers.runs import HEADS, RunRecord, read_refusals

# What reads a record of runs, by the beginning of its key; all others are accounts.
_RUNS: dict[str, Parse[object]] = {
    HEADS: RunRecord.from_json,
    backfill.KEYS: backfill.Checkpoint.from_json,
    "groups/": dict,
    "strip/": dict,
    "cursors/": dict,
}

_READERS: dict[Ledger, Parse[object]] = {
    "dead": read_letter,
    "tombstones": Tombstone.from_record,
    "deleted": partial(parse_record, DeletedDocument),
    "overrides": Override.from_record,
    "groups": GroupCheckpoint.from_record,
    "presets": read_preset,
}


def damaged_records(engine: Engine) -> Iterator[DamagedEntry]:
    """Yield the records next to an index that cannot be read."""
    for ledger in get_args(Ledger):
        try:
            yield from find_damaged(engine, ledger, partial(reader, ledger))
        except NoIndex:
            return


def reader(ledger: Ledger, key: str) -> Parse[object]:
    """Return the parser for a key's record."""
    if ledger == "runs":
        return next(
            (read for start, read in _RUNS.items() if key.startswith(start)),
            (read_refusals if "/refused/" in key else BatchResult.from_json),
        )
    return _READERS[ledger]
