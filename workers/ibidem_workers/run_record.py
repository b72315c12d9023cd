"""The record of one run: what was read and handed to the queue, as it is noted beside the index."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Literal
from uuid import uuid4

from ibidem_engines.noted import as_noted

State = Literal["reading", "submitted", "interrupted"]

HEADS = "run/"
"""Before the keys of the records themselves, so that all runs can be listed without their batches."""


@dataclass(slots=True)
class RunRecord:
    """What the submitter knows of a run; the accounts of its batches stand beside it.

    Args:
        run: The run's name.
        paths: What was read.
        started: When reading began, in seconds since 1970.
        state: Whether it is being read, was read whole, or was broken off.
        documents: Documents that were handed to the queue.
        batches: Batches that were.
        refused: Documents that could not be read.
        repeated: How often an id came that had come before in this run.
        repeated_ids: Some of these ids.
        meta_fields: Fields that were not known and went into `meta`.
        passed_over: Files in folders that no reader takes, by suffix: how many.
        holder: The process that reads; empty where an earlier version noted the run.
    """

    run: str
    paths: list[str]
    started: float
    state: State = "reading"
    documents: int = 0
    batches: int = 0
    refused: int = 0
    repeated: int = 0
    repeated_ids: list[str] = field(default_factory=list)
    meta_fields: list[str] = field(default_factory=list)
    passed_over: dict[str, int] = field(default_factory=dict)
    holder: str = ""

    @property
    def key(self) -> str:
        """Its key in the ledger."""
        return HEADS + self.run

    def as_json(self) -> dict[str, object]:
        """Return the record that `from_json` reads."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> "RunRecord":
        """Read a noted record.

        Raises:
            Damaged: It is no such record.

        >>> one = RunRecord("r", ["news.jsonl"], 0.0)
        >>> RunRecord.from_json(one.as_json()) == one
        True
        """
        return as_noted(cls, record)


def refusals_key(run: str, slice_number: int) -> str:
    """Return the key of a slice of what could not be read."""
    return f"{run}/refused/{slice_number:06d}"


def new_run() -> str:
    """Return a name for a run: the time, which sorts, and four digits that keep two of one second apart."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{uuid4().hex[:4]}"
