"""Result of a batch: the outcome of each of its documents, as stored; those of a run add up to its totals."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeGuard

from ibidem_engines.records import parse_record
from ibidem_ingest.errors import Refusal


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Sums and refusals of one batch, or of several; indexed + unchanged + stale + refusals = their documents.

    Args:
        indexed: Documents that were written.
        replaced: How many of these replaced what stood there.
        unchanged: Documents that were there as they are.
        stale: Documents of which a newer version was there, or a newer deletion.
        unsigned: Documents without words, among the indexed and unchanged ones.
        refusals: Why each refused document was refused.
        parts: Into how many single documents the batch was sent again; their accounts count instead of this one.
        at: When it was made, in seconds since 1970.
    """

    indexed: int = 0
    unchanged: int = 0
    stale: int = 0
    unsigned: int = 0
    refusals: Sequence[Refusal] = field(default_factory=list)
    parts: int = 0
    replaced: int = 0
    at: float = field(default_factory=time.time)

    @property
    def documents(self) -> int:
        """How many documents it accounts for."""
        return self.indexed + self.unchanged + self.stale + len(self.refusals)

    def __add__(self, other: "BatchResult") -> "BatchResult":
        """Return both in one; `NO_RESULT` adds nothing."""
        return replace(
            self,
            indexed=self.indexed + other.indexed,
            unchanged=self.unchanged + other.unchanged,
            stale=self.stale + other.stale,
            unsigned=self.unsigned + other.unsigned,
            replaced=self.replaced + other.replaced,
            refusals=[*self.refusals, *other.refusals],
            at=max(self.at, other.at),
        )

    def as_json(self) -> dict[str, object]:
        """Return the record that `from_json` reads."""
        return {
            "indexed": self.indexed,
            "unchanged": self.unchanged,
            "stale": self.stale,
            "unsigned": self.unsigned,
            "refusals": refusals_as_json(self.refusals),
            "parts": self.parts,
            "replaced": self.replaced,
            "at": self.at,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "BatchResult":
        """Read a stored result; `BatchResult.from_json(one.as_json())` equals `one`.

        Raises:
            Damaged: It is no such record.

        >>> one = BatchResult(indexed=2, refusals=[Refusal("a.jsonl:3", "a", "date", "no date")], at=0.0)
        >>> BatchResult.from_json(one.as_json()) == one
        True
        """
        return parse_record(cls, {**record, "refusals": _named(record.get("refusals"))})


NO_RESULT = BatchResult(at=0.0)


def refusals_as_json(refusals: Iterable[Refusal]) -> list[list[str]]:
    """Return refusals as short lists."""
    return [[one.where, one.id, one.field, one.why] for one in refusals]


def refusals_from_json(value: object) -> list[Refusal]:
    """Read what `refusals_as_json` gave.

    Raises:
        Damaged: It is no such list.
    """
    return [parse_record(Refusal, one) for one in _named(value)]


def _named(lists: object) -> list[dict[str, object]]:
    """Give the entries of short lists their names again."""
    names = [member.name for member in fields(Refusal)]
    return [dict(zip(names, one, strict=False)) for one in lists] if _are_lists(lists) else []


def _are_lists(value: object) -> TypeGuard[list[list[object]]]:
    return isinstance(value, list) and all(isinstance(one, list) for one in value)
