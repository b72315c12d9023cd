"""Batch result: the outcome of each document of a batch; the results of a run add up to its totals."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeGuard

from ibidem_core.errors import DamagedRecord
from ibidem_core.records import REMOVE, parse_record
from ibidem_ingest.errors import Refusal


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Totals and refusals of one or several batches; indexed + unchanged + stale + refusals = their documents."""

    indexed: int = 0  # documents that were written
    unchanged: int = 0  # documents that were in the index already
    stale: int = 0  # documents with a newer version, or a newer deletion, in the index
    unsigned: int = 0  # documents without words, among the indexed and unchanged ones
    refusals: Sequence[Refusal] = field(default_factory=list)  # why each refused document was refused
    parts: int = 0  # into how many single documents the batch was sent again; their accounts count instead of this one
    replaced: int = 0  # how many of these replaced another version
    at: float = field(default_factory=time.time)  # when it was made, in seconds since 1970
    languages: Mapping[str, int] = field(default_factory=dict)  # documents that were signed, by language

    @property
    def documents(self) -> int:
        """Number of documents in the result."""
        return self.indexed + self.unchanged + self.stale + len(self.refusals)

    def __add__(self, other: "BatchResult") -> "BatchResult":
        """Return the sum of both; `NO_RESULT` is neutral."""
        return replace(
            self,
            indexed=self.indexed + other.indexed,
            unchanged=self.unchanged + other.unchanged,
            stale=self.stale + other.stale,
            unsigned=self.unsigned + other.unsigned,
            replaced=self.replaced + other.replaced,
            refusals=[*self.refusals, *other.refusals],
            at=max(self.at, other.at),
            languages=Counter(self.languages) + Counter(other.languages),
        )

    def as_json(self) -> dict[str, object]:
        """Return the stored record, which `from_json` parses."""
        return {
            "indexed": self.indexed,
            "unchanged": self.unchanged,
            "stale": self.stale,
            "unsigned": self.unsigned,
            "refusals": refusals_as_json(self.refusals),
            "parts": self.parts,
            "replaced": self.replaced,
            "at": self.at,
            "languages": dict(self.languages),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "BatchResult":
        """Parse a stored result; `BatchResult.from_json(one.as_json())` equals `one`.

        >>> one = BatchResult(indexed=2, refusals=[Refusal("a.jsonl:3", "a", "date", "no date")], at=0.0)
        >>> BatchResult.from_json(one.as_json()) == one
        True
        """
        return parse_record(cls, {**record, "refusals": _refusal_records(record.get("refusals"))})


NO_RESULT = BatchResult(at=0.0)


def refusals_as_json(refusals: Iterable[Refusal]) -> list[list[str]]:
    """Return refusals as short lists."""
    return [[refusal.where, refusal.id, refusal.field, refusal.why] for refusal in refusals]


def refusals_from_json(value: object) -> list[Refusal]:
    """Parse refusals from the lists of `refusals_as_json`."""
    return [parse_record(Refusal, record) for record in _refusal_records(value)]


def _refusal_records(lists: object) -> list[dict[str, object]]:
    """Convert short lists into records."""
    names = [member.name for member in fields(Refusal)]
    if not _are_lists(lists):
        raise DamagedRecord("refusals stored with the index are damaged: they are not lists", REMOVE)
    return [dict(zip(names, values, strict=False)) for values in lists]


def _are_lists(value: object) -> TypeGuard[list[list[object]]]:
    return isinstance(value, list) and all(isinstance(item, list) for item in value)
