"""Neighbours in a window: passages whose texts overlap in their document, read once for each hit.

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
from ibidem_engines.engine import Hit
from ibidem_engines.hits import HitNames
from ibidem_engines.requests import RequestFlow

UNKNOWN = Passage("")


@dataclass(slots=True)
class WindowOverlaps:
    """The passages of a window that deepens.

    Args:
        source: Backend that they are read from.
        fields: Fields with text and document; None: nothing is read, and nothing overlaps.
    """

    source: SearchBackend
    fields: PassageFields | None
    _passages: dict[DocumentRef, Passage] = field(default_factory=dict)

    def overlaps(self, hits: Sequence[Hit]) -> RequestFlow[Overlaps]:
        """Return the pairs of hits that overlap in their document, by their rows."""
        if self.fields is None:
            return NO_OVERLAPS
        if unread := [hit for hit in hits if document_ref(hit) not in self._passages]:
            read = yield from self.source.passages(unread, self.fields)
            self._passages |= {name: read.get(name, UNKNOWN) for name in HitNames(unread)}
        return overlaps([self._passages[name] for name in HitNames(hits)])

    def account(self, hits: Sequence[Hit]) -> Json:
        """Name the fields, and count the hits that lack one and so overlap no other; nothing without passages."""
        if self.fields is None:
            return {}
        known = [self._passages[name] for name in HitNames(hits)]
        return {
            "document": str(self.fields),
            "without_document": sum(not (each.text and each.document) for each in known),
        }


def read_passage(source: Mapping[str, object], fields: PassageFields) -> Passage:
    """Return a document as a passage; a name or text of another type is not known.

    Args:
        source: The fields of the document.
        fields: Which of them are read.

    >>> read_passage({"text": "Rent is due.", "meta": {"document": 7}}, PassageFields("meta.document"))
    Passage(text='Rent is due.', document='7', date='', source='')
    """
    text, document = read_path(source, fields.text), read_path(source, fields.document)
    is_name = isinstance(document, str | int) and not isinstance(document, bool)
    return Passage(text if isinstance(text, str) else "", str(document) if is_name else "")
