"""Neighbours in a window: passages that overlap in their document; each hit is read once.

Packed values hold no words, and a document is named by a field of the caller's, so both are read, for each hit once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ibidem.grouped_search.backend import SearchBackend, document_ref
from ibidem.grouped_search.passage import NO_OVERLAPS, Overlaps, Passage, overlaps
from ibidem.grouped_search.response import Json
from ibidem_core.address import read_path
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.parameters import PassageFields
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Hit, HitNames
from ibidem_ingest.signatures.packed import read_length

UNKNOWN = Passage("")
MAX_WORDS = 5_000  # words of a passage; a longer text is not read, so that a window of books fits into memory


@dataclass(slots=True)
class WindowOverlaps:
    """The passages of a window that grows."""

    source: SearchBackend  # backend that they are read from
    fields: PassageFields | None  # fields with text and document; None: nothing is read, and nothing overlaps
    _passages: dict[DocumentRef, Passage] = field(default_factory=dict)

    def overlaps(self, hits: Sequence[Hit]) -> RequestFlow[Overlaps]:
        """Return the pairs of hits, by row, that overlap in their document."""
        if self.fields is None:
            return NO_OVERLAPS
        unread = [hit for hit in hits if document_ref(hit) not in self._passages]
        self._passages |= dict.fromkeys(HitNames(unread), UNKNOWN)
        if short := [hit for hit in unread if (hit.packed is not None and read_length(hit.packed) <= MAX_WORDS)]:
            self._passages |= yield from self.source.passages(short, self.fields)
        return overlaps([self._passages[name] for name in HitNames(hits)])

    def account(self, hits: Sequence[Hit]) -> Json:
        """Report the fields, and the number of hits that lack one of them; empty without passages."""
        if self.fields is None:
            return {}
        known = [self._passages[name] for name in HitNames(hits)]
        return {
            "document": str(self.fields),
            "without_document": sum(not (each.text and each.document) for each in known),
        }


def read_passage(source: Mapping[str, object], fields: PassageFields) -> Passage:
    """Return a document as a passage; names and texts of other types are ignored.

    >>> read_passage({"text": "Rent is due.", "meta": {"document": 7}}, PassageFields("meta.document"))
    Passage(text='Rent is due.', document='7', date='', source='', title='')
    """
    text, document = read_path(source, fields.text), read_path(source, fields.document)
    is_name = isinstance(document, str | int) and not isinstance(document, bool)
    return Passage(text if isinstance(text, str) else "", str(document) if is_name else "")
