"""The errors of every room, in one tree; a caller that catches `IbidemError` catches all of them.

IbidemError
├── UsageError          an option, setting or request that is not understood   (exit code 2)
│   └── Missing         a document that is named and is not there
├── Refused             a document that cannot be taken; others go on          (exit code 3)
├── TableError          an idf table that is missing, damaged or too small
└── EngineError         in `ibidem_engines.errors`: what a search engine answered
    ├── Unavailable     it may answer later: retried with backoff
    └── Permanent       it will answer the same again: never retried
        ├── NoIndex     the index is not there
        └── Damaged     a record next to the index is not what was written there
"""

from dataclasses import dataclass


class IbidemError(Exception):
    """Something that ibidem could not do: what happened and what to do about it.

    Args:
        what: One sentence that names the thing and its place.
        remedy: What would be right, as an instruction; may be empty when `what` says it.

    >>> str(IbidemError("no index 'news'", "create it with: ibidem ingest PATH"))
    "no index 'news'; create it with: ibidem ingest PATH"
    """

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        """Join what happened and what to do."""
        return f"{self.what}; {self.remedy}" if self.remedy else self.what


class UsageError(IbidemError):
    """An option, setting or request that is not understood."""


class Missing(UsageError):
    """A document that is named and is not there."""


class TableError(IbidemError):
    """An idf table that is missing, damaged or too small."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why one document was refused: a value that travels through queue and summary.

    Args:
        where: The place it was read from: `news.jsonl:17`, `scan.pdf`, `message 3f…`.
        id: The document's id, or an empty string when it has none.
        field: The field at fault, or an empty string when the whole is.
        why: What was found and what would be right.
    """

    where: str
    id: str
    field: str
    why: str

    def as_json(self) -> dict[str, str]:
        """Return the four parts under the names that `ibidem ingest --json` prints."""
        return {"where": self.where, "id": self.id, "field": self.field, "why": self.why}


class Refused(IbidemError):
    """A document that cannot be taken; the others go on.

    Args:
        refusal: Which document, which field, and why.
    """

    def __init__(self, refusal: Refusal) -> None:
        document = f"document {refusal.id!r}" if refusal.id else ""
        field = f"field {refusal.field!r}" if refusal.field else ""
        named = ", ".join(filter(None, (document, field)))
        super().__init__(": ".join(filter(None, (refusal.where, named, refusal.why))))
        self.refusal = refusal
