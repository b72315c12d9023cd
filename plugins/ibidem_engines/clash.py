"""Whether a document would replace one that was read elsewhere: two folders with a file of one name."""

from ibidem_engines.engine import Record


def clash(record: Record, origin: str) -> str:
    """Say that a record would replace a document of another origin; empty where it does not, or nobody knows.

    Args:
        record: What is to be written.
        origin: Where the document that stands there was read.
    """
    document = record.document
    if not origin or not document.origin or origin == document.origin:
        return ""
    return (
        f"{document.id} from {document.origin} would replace {document.id} from {origin}; give --id-prefix, or delete "
        "the other one first"
    )
