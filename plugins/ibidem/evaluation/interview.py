"""An interview: a person judges pairs of documents, on a terminal or a page."""

from dataclasses import dataclass
from typing import Literal, Protocol

from ibidem_ingest.document import Document

Key = Literal["y", "n", "s", "q"]
"""Yes, no, skip, quit."""


@dataclass(frozen=True, slots=True)
class Question:
    """A pair of documents to judge.

    Args:
        number: The pair's, among all candidates.
        asked: How many pairs were judged before it.
        count: How many are judged at most.
        documents: The two documents.
    """

    number: int
    asked: int
    count: int
    documents: tuple[Document, Document]


class Interview(Protocol):
    """Asks a person about pairs."""

    def question(self) -> Question | None:
        """Return the next pair; None if no pair is left."""

    def answer(self, number: int, key: Key) -> None:
        """Record the answer to a pair.

        Args:
            number: The pair's number.
            key: The key of the answer; `q` ends the interview.
        """
