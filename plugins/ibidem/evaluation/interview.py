"""An interview: a person judges pairs of documents, on a terminal or a page."""

from dataclasses import dataclass
from typing import Literal, Protocol

from ibidem_ingest.document import Document

Key = Literal["y", "n", "s", "q"]  # yes, no, skip, quit


@dataclass(frozen=True, slots=True)
class Question:
    """A pair of documents to judge."""

    number: int  # the pair's, among all candidates
    asked: int  # how many pairs were judged before it
    count: int  # how many are judged at most
    documents: tuple[Document, Document]  # the two documents


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
