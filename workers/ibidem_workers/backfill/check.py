"""Check which documents have changed since they were signed; nothing is written."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ibidem_engines.reindex import SourceDocument
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures import content
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import EARLIER, pack, unpack
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_ingest.signatures.sign import digest, sign_one
from ibidem_ingest.text.tokens import tokens
from ibidem_workers.backfill.batch import has_words, refusal
from ibidem_workers.backfill.checkpoint import everything, whole
from ibidem_workers.backfill.run import check_fields, open_for_backfill
from ibidem_workers.settings import Settings

MOST_LISTED = 10_000
"""Changed documents that are listed; more are counted."""


@dataclass(slots=True)
class CheckResult:
    """Changes of the documents since they were signed, counted.

    Args:
        unchanged: They are what was signed; other fields than those may differ.
        changed: They are not.
        unsigned: Never signed, or without words.
        outdated: Signed with another schema, or an idf table that is not the one of now.
        refused: They have no text that could be signed.
        listed: Index and id of the first changed ones.
        refusals: Why they have none, of the first ones.
    """

    unchanged: int = 0
    changed: int = 0
    unsigned: int = 0
    outdated: int = 0
    refused: int = 0
    listed: list[tuple[str, str]] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    @property
    def read(self) -> int:
        """How many documents there are."""
        return self.unchanged + self.changed + self.unsigned + self.refused

    def as_json(self) -> dict[str, object]:
        """Return what `ibidem backfill --check --json` prints."""
        return {
            "read": self.read,
            "unchanged": self.unchanged,
            "changed": self.changed,
            "unsigned": self.unsigned,
            "outdated": self.outdated,
            "refused": self.refused,
            "documents": [{"index": index, "id": name} for index, name in self.listed],
            "refusals": [one.as_json() for one in self.refusals],
        }


def check(settings: Settings, report: Callable[[int, int], None] = lambda *_: None) -> CheckResult:
    """Compare every document with what was signed of it.

    Args:
        settings: Which index.
        report: Called with the documents that were read, and how many there are.
    """
    result, tables = CheckResult(), Tables(settings.tables)
    with open_for_backfill(settings) as (_, source):
        source.check("place")
        check_fields(source)
        upto = source.newest()
        documents = sum(source.count(stretch) for stretch in whole(upto))
        for some in everything(source, upto):
            for original in some:
                _take(result, original, tables, settings, source.text_field)
            report(result.read, documents)
    return result


def _take(result: CheckResult, original: SourceDocument, tables: Tables, settings: Settings, text_field: str) -> None:
    """Count one document."""
    why = refusal(original, text_field, settings.max_text)
    if why is not None:
        result.refused += 1
        if len(result.refusals) < MOST_LISTED:
            result.refusals.append(why)
    elif is_changed(original, tables, settings.distinct):
        result.changed += 1
        if len(result.listed) < MOST_LISTED:
            result.listed.append((original.name.index, original.name.id))
    elif has_words(original):
        result.unchanged += 1
        table = tables.of(original.document.language)
        result.outdated += (original.schema, original.idf) != (SCHEMA, table.name if table else "")
    else:
        result.unsigned += 1


def is_changed(original: SourceDocument, tables: Tables, distinct: tuple[str, ...]) -> bool:
    """Return whether a signed document would be signed otherwise now; fields that no signature looks at may differ.

    Args:
        original: The document.
        tables: The idf tables; of one that is not there, only the words are compared.
        distinct: Fields that must not differ between duplicates.
    """
    packed = unpack(original.packed) if original.packed else None
    if packed is None or (original.schema == SCHEMA and original.digest == digest(original.document, original.idf)):
        return False
    table = tables.named(original.idf) if original.idf else None
    if original.schema != SCHEMA or (original.idf and table is None):
        return content_of(original.document, packed.scheme) != [content_key(packed)]
    return pack(original.document, sign_one(original.document, table), distinct) != original.packed


def content_of(document: Document, scheme: int) -> list[str]:
    """Return the clue of a document's words, as a packed value of a scheme holds it."""
    words = tokens(document.text)
    if scheme == EARLIER:
        return [content.sign_earlier(words, document.id)]
    return [content.sign(words, document.id, content.sign_title(words, document.title))]
