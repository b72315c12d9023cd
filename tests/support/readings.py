"""What a reader gives, documents and refusals apart."""

from collections.abc import Iterable

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal


def parted(items: Iterable[Document | Refusal]) -> tuple[list[Document], list[Refusal]]:
    found = list(items)
    return [each for each in found if isinstance(each, Document)], [each for each in found if isinstance(each, Refusal)]
