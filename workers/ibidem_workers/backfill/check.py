"""Check of an index, without writing: which documents have changed since they were signed."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ibidem_core.settings import Settings
from ibidem_engines.engine import SourceDocument
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.lookup_keys import content_key
from ibidem_ingest.signatures.packed import pack, unpack
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_ingest.signatures.sign import digest, sign_one
from ibidem_workers.backfill.batch import has_words, is_current, refusal
from ibidem_workers.backfill.checkpoint import all_writes, read_all
from ibidem_workers.backfill.run import check_fields, open_for_backfill

MAX_LISTED = 10_000  # changed documents that are listed; more are counted


@dataclass(slots=True)
class CheckResult:
    """Counts of documents that have or have not changed since they were signed."""

    unchanged: int = 0  # documents whose signed fields are as they were; other fields may differ
    changed: int = 0  # documents whose signed fields are different
    unsigned: int = 0  # documents that were never signed, or have no words
    outdated: int = 0  # documents signed with another schema or another idf table than the current one
    # Documents that the next backfill signs: those of the last three, and those with the same signatures whose fields
    # differ, such as a text with other capitals.
    due: int = 0
    refused: int = 0  # documents without a text that could be signed
    first_changed: list[tuple[str, str]] = field(default_factory=list)  # index and id of the first changed documents
    refusals: list[Refusal] = field(default_factory=list)  # refusals of the first refused documents

    @property
    def read(self) -> int:
        """Number of documents that were read."""
        return self.unchanged + self.changed + self.unsigned + self.refused

    def as_json(self) -> dict[str, object]:
        """Return the JSON of `ibidem backfill --check --json`."""
        return {
            "read": self.read,
            "unchanged": self.unchanged,
            "changed": self.changed,
            "unsigned": self.unsigned,
            "outdated": self.outdated,
            "due": self.due,
            "refused": self.refused,
            "documents": [{"index": index, "id": name} for index, name in self.first_changed],
            "refusals": [refusal.as_json() for refusal in self.refusals],
        }


def check(settings: Settings, report: Callable[[int, int], None] = lambda *_: None) -> CheckResult:
    """Compare every document with its signatures."""
    result, tables = CheckResult(), Tables(settings.tables)
    with open_for_backfill(settings) as (_, source):
        source.check("place")
        check_fields(source)
        end = source.newest()
        documents = sum(source.count(seq_range) for seq_range in all_writes(end))
        for portion in read_all(source, end):
            for original in portion:
                _take(result, original, tables, settings, source.text_field)
            report(result.read, documents)
    return result


def _take(result: CheckResult, original: SourceDocument, tables: Tables, settings: Settings, text_field: str) -> None:
    """Count one document."""
    fault = refusal(original, text_field, settings.max_text)
    if fault is not None:
        result.refused += 1
        if len(result.refusals) < MAX_LISTED:
            result.refusals.append(fault)
        return
    result.due += not is_current(original, tables)
    if is_changed(original, tables, settings.distinct):
        result.changed += 1
        if len(result.first_changed) < MAX_LISTED:
            result.first_changed.append((original.name.index, original.name.id))
    elif original.packed and (original.schema != SCHEMA or has_words(original)):
        result.unchanged += 1
        table = tables.of(original.document.language)
        result.outdated += (original.schema, original.idf) != (SCHEMA, table.name if table else "")
    else:
        result.unsigned += 1


def is_changed(original: SourceDocument, tables: Tables, distinct: tuple[str, ...]) -> bool:
    """Return whether a signed document would get different signatures now; other fields may differ.

    Of one that was signed with another schema nothing can be said: it is outdated.
    """
    packed = unpack(original.packed) if original.packed and original.schema == SCHEMA else None
    if packed is None or original.digest == digest(original.document, original.idf):
        return False
    table = tables.named(original.idf) if original.idf else None
    signatures = sign_one(original.document, table)
    if original.idf and table is None:
        return signatures.content != content_key(packed)
    return pack(original.document, signatures, distinct) != original.packed
