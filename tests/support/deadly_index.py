"""An index one document of which ends every process that reads it.

Stands in a module that a process of its own can import: it gets the search path, not the tests that run.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ibidem_engines.engine import ReindexSource, SourceDocument
from ibidem_engines.stored_groups import Name
from ibidem_workers.backfill.batch import BackfillContext
from ibidem_workers.backfill.pool import SigningJob


@dataclass(frozen=True, slots=True)
class Deadly(SigningJob):
    """A place whose documents end the process that reads one of them."""

    def context(self) -> BackfillContext:
        context = SigningJob.context(self)
        return replace(context, source=DeadlySource(context.source))  # type: ignore[arg-type]


class DeadlySource:
    """An index one document of which ends the process that reads it."""

    def __init__(self, source: ReindexSource) -> None:
        self.source = source

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def read(self, names: Sequence[Name], *, raw: bool = False) -> list[SourceDocument]:
        if any(name.id == "d14" for name in names):
            os._exit(9)
        return self.source.read(names, raw=raw)
