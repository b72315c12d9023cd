"""What a document is, and the checks that a record passes to become one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PAGE_BREAK = "\f"
MAX_TEXT = 10_000_000
MAX_ID_BYTES = 512


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name: what is ingested, signed, stored and shown.

    Args:
        id: Its name in the source, at most 512 bytes of UTF-8.
        text: The core text; a form feed stands between two pages.
        title: Never enters a signature.
        date: ISO 8601: a time, a day, a month or a year (then it is the whole interval); empty when unknown.
        source: Where it was published: a newspaper, a court, a library.
        url: Where it can be read.
        language: ISO 639-1 code; chooses the idf table.
        version: Whole number; an older one never overwrites a newer. None: the submitter gives one.
        meta: Everything else that the record held.
    """

    id: str
    text: str
    title: str = ""
    date: str = ""
    source: str = ""
    url: str = ""
    language: str = "en"
    version: int | None = None
    meta: Mapping[str, object] = field(default_factory=dict)

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages in order; a text without a page break is one page."""
        return tuple(self.text.split(PAGE_BREAK))
