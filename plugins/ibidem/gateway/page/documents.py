"""A document's duplicates with the documents themselves, as the inspect page shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from ibidem.inspection import Duplicate, Inspection
from ibidem.linkedtext import readable
from ibidem.reasons import reason
from ibidem_engines.engine import Engine
from ibidem_ingest.document import Document

MOST = 200
"""Duplicates that the page shows."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A duplicate and its document.

    Args:
        found: What makes it one.
        document: The document.
        of: The id of the document that the page is about.
    """

    found: Duplicate
    document: Document
    of: str

    @property
    def title(self) -> str:
        """Its title, or its id."""
        return readable(self.document.title or self.document.id)

    @property
    def about(self) -> str:
        """Date and source."""
        return readable(" · ".join(part for part in (self.document.date, self.document.source) if part))

    @property
    def level(self) -> str:
        """At which level it is one."""
        return self.found.evidence.level

    @property
    def reason(self) -> str:
        """Why."""
        return reason(self.found.evidence.why)

    @property
    def named(self) -> str:
        """Its id as a part of an address."""
        return urlencode({"id": self.document.id})

    @property
    def pair(self) -> str:
        """Both as a part of an address."""
        return urlencode({"a": self.of, "b": self.document.id})


def copies_of(engine: Engine, found: Inspection) -> Sequence[Copy]:
    """Read the documents of duplicates, as many as are shown."""
    some = found.duplicates[:MOST]
    read = {(each.index, each.document.id): each.document for each in engine.fetch([(e.index, e.id) for e in some])}
    return [Copy(each, read[each.index, each.id], found.id) for each in some if (each.index, each.id) in read]
