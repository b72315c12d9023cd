"""A table of one's own: counted from documents."""

from collections import Counter
from collections.abc import Iterable

from ibidem_ingest.errors import TableError
from ibidem_ingest.idf.table import Table
from ibidem_ingest.tokens import tokens
from ibidem_ingest.tokenshapes import is_term

LEAST = 1_000


def counted(texts: Iterable[str], language: str, origin: str) -> Table:
    """Count in how many texts each term occurs.

    Args:
        texts: One text a document; read once, never held.
        language: ISO 639-1 code.
        origin: What they are, in words.

    Raises:
        TableError: There are fewer than 1,000 texts: rare and common terms could not be told apart.
    """
    counts: Counter[str] = Counter()
    documents = 0
    for text in texts:
        counts.update({token for token in tokens(text) if is_term(token)})
        documents += 1
    if documents < LEAST:
        raise TableError(f"{documents} documents are too few for an idf table", f"count at least {LEAST:,}")
    return Table.of(language, documents, dict(counts), origin)
