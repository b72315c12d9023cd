"""Block of a run's batches, whose results are read in one request."""

from dataclasses import dataclass, field

from ibidem_core.errors import DamagedRecord
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import check_entry
from ibidem_workers.batch_result import NO_RESULT, BatchResult
from ibidem_workers.batches import MAX_DOCUMENTS, batch_key

BLOCK = 100  # batches of a block: one that is accounted for is not read again

KEYS_AT_ONCE = 1_000  # accounts that one request asks for


def _read_account(entry: object) -> BatchResult:
    """Read the result of a batch; if damaged, the batch counts as done, and its documents stay pending."""
    try:
        return check_entry(entry, BatchResult.from_json)
    except DamagedRecord:
        return NO_RESULT


@dataclass(slots=True)
class Block:
    """The results of a hundred batches, read by key, which needs no refresh."""

    missing: set[str]  # keys of batches, and of single documents sent again, that have no account yet
    batches: set[str] = field(default_factory=set)  # keys of the batches that have one
    sums: BatchResult = NO_RESULT  # sum of the results

    @classmethod
    def of(cls, run: str, number: int) -> "Block":
        """Return a block of a run in which no batch has a result yet."""
        return cls({batch_key(run, batch) for batch in range(number * BLOCK, (number + 1) * BLOCK)})

    def read(self, engine: Engine) -> None:
        """Read the missing results, and those of single documents that they refer to."""
        asked: set[str] = set()
        while keys := sorted(self.missing - asked)[:KEYS_AT_ONCE]:
            entries = engine.get_records_by_key("runs", keys)
            asked.update(keys)
            for key in keys:
                if key in entries:
                    self._add(key, _read_account(entries[key]))

    def _add(self, key: str, result: BatchResult) -> None:
        self.missing.remove(key)
        self.sums += result
        if not _is_part(key):
            self.batches.add(key)
            self.missing |= {f"{key}/{part:06d}" for part in range(min(result.parts, MAX_DOCUMENTS))}

    def complete(self) -> int:
        """Count the batches whose results are complete."""
        return len(self.batches - {key.rpartition("/")[0] for key in self.missing if _is_part(key)})


def _is_part(key: str) -> bool:
    """Return whether a key belongs to a single document of a batch."""
    return key.count("/") > 1
