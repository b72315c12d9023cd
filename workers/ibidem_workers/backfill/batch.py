"""Backfill of one batch: read, sign, write onto the version that was read, count."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ibidem_engines.engine import Engine, Outcome, Record, WriteStatus
from ibidem_engines.errors import EngineError
from ibidem_engines.records import records
from ibidem_engines.reindex import Marks, Name, ReindexSource, ReindexTarget, Signed, SourceDocument
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import unpack
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_ingest.signatures.sign import digest
from ibidem_workers.backfill.paging import Portions
from ibidem_workers.batches import Batch
from ibidem_workers.results import BatchResult
from ibidem_workers.retry import retry_unavailable
from ibidem_workers.settings import Settings


def refusal(held: SourceDocument, text_field: str, max_text: int) -> Refusal | None:
    """Tell why a document cannot be signed; None when it can.

    Args:
        held: The document.
        text_field: What its index calls the text.
        max_text: The most characters that a text may have.
    """
    where, text = f"index {held.name.index}", held.document.text
    if held.fault:
        why = f"{held.fault}; give it a text, or name another field in IBIDEM_FIELDS: text=…"
    elif len(text) > max_text:
        why = f"{len(text):,} characters, at most {max_text:,} are taken; raise IBIDEM_MAX_TEXT"
    else:
        return None
    return Refusal(where, held.name.id, text_field, why)


def is_current(held: SourceDocument, tables: Tables) -> bool:
    """Return whether a document is signed as it is, with the schema and the table of now."""
    table = tables.of(held.document.language)
    name = table.name if table else ""
    if not held.packed or (held.schema, held.idf) != (SCHEMA, name):
        return False
    return held.digest == digest(held.document, held.idf)


def has_words(held: SourceDocument) -> bool:
    """Return whether a signed document had any words."""
    packed = unpack(held.packed)
    return packed is not None and packed.length > 0


def signed_records(held: list[SourceDocument], tables: Tables, settings: Settings) -> list[Record]:
    """Sign documents; each keeps the version that it has."""
    made = records([each.document for each in held], tables, settings.distinct)
    return [replace(record, version=each.version) for each, record in zip(held, made, strict=True)]


ROUNDS = 8
"""How often a document is read again that another writer changed before it could be written."""


@dataclass(frozen=True, slots=True)
class BackfillBatch:
    """Some documents of an index that are signed together.

    Args:
        run: The run that they belong to.
        number: The page's place in it, from 0.
        names: The documents.
        before: How many of the page were written before a run was broken off, and not accounted for.
        resumed: Whether the page was handed out before. A request that was under way when its process was killed may
            be done while the page is signed again: what it wrote is signed, but its last write is not the one that
            was handed out, and it counts as indexed.
        late: For what follows after a copy took its place: up to where the copy had been written then.
        changes_only: Whether documents that are signed already are not worth counting.
    """

    run: str
    number: int
    names: Sequence[Name]
    before: int = 0
    resumed: bool = False
    late: Marks | None = None
    changes_only: bool = False

    @property
    def key(self) -> str:
        """The key of its account."""
        return page_key(self.run, self.number)


def page_key(run: str, number: int) -> str:
    """Return the key under which a page's account is noted."""
    return Batch(number, []).key(run)


@dataclass(frozen=True, slots=True)
class BackfillContext:
    """What pages are signed with.

    Args:
        engine: The index that is written to.
        holding: The index that is read.
        copy: The index that copies go to; None when signatures are added in place.
        tables: The idf tables.
        settings: Limits and waiting times.
        portions: How much is read at once.
        own: Numbers of the writes to the page in hand.
    """

    engine: Engine
    holding: ReindexSource
    copy: ReindexTarget | None
    tables: Tables
    settings: Settings
    portions: Portions = field(default_factory=Portions)
    own: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """What came of a page.

    Args:
        account: What became of its documents.
        own: Numbers of the writes in the index that was read: none where its documents were copied.
    """

    account: BatchResult
    own: Sequence[int]


@dataclass(slots=True)
class _Round:
    """What became of documents that were read once.

    Args:
        account: Of those that are done.
        changed: Those that another writer changed meanwhile.
    """

    account: BatchResult
    changed: list[Name]


def sign_batch(context: BackfillContext, page: BackfillBatch) -> BatchOutcome:
    """Sign a page; its account is noted before this returns.

    Raises:
        Unavailable: The engine did not answer for as long as the settings allow; nothing is lost.
        Permanent: The engine takes nothing more.
    """
    account = BatchResult(indexed=page.before)
    context.own.clear()
    for some in context.portions.cut(page.names):
        account += _whole(context, page, some)
    if page.changes_only:
        account = replace(account, unchanged=0, stale=0)
    retry_unavailable(
        lambda: context.engine.put_records("runs", {page.key: account.as_json()}), context.settings.patience
    )
    return BatchOutcome(account, list(context.own))


def _whole(context: BackfillContext, page: BackfillBatch, names: Sequence[Name]) -> BatchResult:
    """Sign documents at once, and where that fails one by one: one that cannot be signed harms no other."""
    try:
        return _signed(context, page, names)
    except EngineError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever one document does, the others go on and it is accounted for
        if len(names) == 1:
            return BatchResult(refusals=[_refused(names[0], f"{type(error).__name__}: {error}")])
    account = BatchResult()
    for name in names:
        account += _whole(context, page, [name])
    return account


def _signed(context: BackfillContext, page: BackfillBatch, names: Sequence[Name]) -> BatchResult:
    """Sign documents; those that were changed between reading and writing are read again."""
    account = BatchResult()
    left = list(names)
    for _ in range(ROUNDS):
        done = _once(context, page, left)
        account, left = account + done.account, done.changed
        if not left:
            return account
    return account + BatchResult(
        refusals=[_refused(name, "other writers change it all the time; try again") for name in left]
    )


def _once(context: BackfillContext, page: BackfillBatch, names: Sequence[Name]) -> _Round:
    raw = context.copy is not None
    held = retry_unavailable(lambda: context.holding.read(names, raw=raw), context.settings.patience)
    context.portions.learn([len(each.document.text) for each in held])
    judged = [(each, refusal(each, context.holding.text_field, context.settings.max_text)) for each in held]
    fit = [each for each, why in judged if why is None]
    unfit = [each for each, why in judged if why is not None]
    done = (
        _in_place(context, page, fit)
        if context.copy is None
        else _Round(_copied(context, context.copy, page, fit, unfit), [])
    )
    refusals = [why for _, why in judged if why is not None]
    return replace(done, account=BatchResult(refusals=refusals, stale=len(names) - len(held)) + done.account)


def _in_place(context: BackfillContext, page: BackfillBatch, held: Sequence[SourceDocument]) -> _Round:
    """Add signatures to documents that have none, or not those of now."""
    same = [each for each in held if is_current(each, context.tables)]
    there = {each.name.id for each in same}
    others = [each for each in held if each.name.id not in there]
    signed = list(zip(others, signed_records(others, context.tables, context.settings), strict=True))
    outcomes = retry_unavailable(lambda: context.holding.sign(signed), context.settings.patience) if signed else []
    changed = [each.name for each, outcome in zip(others, outcomes, strict=True) if outcome is None]
    done = [(pair, outcome) for pair, outcome in zip(signed, outcomes, strict=True) if outcome is not None]
    context.own.extend(outcome.order for _, outcome in done if outcome.order)
    late = sum(each.order != each.name.order for each in same) if page.resumed else 0
    result = BatchResult(indexed=late, unchanged=len(same) - late, unsigned=sum(not has_words(each) for each in same))
    return _Round(result + _account(done), changed)


def _copied(
    context: BackfillContext,
    copy: ReindexTarget,
    page: BackfillBatch,
    fit: list[SourceDocument],
    unfit: Sequence[SourceDocument],
) -> BatchResult:
    """Copy documents, signed where they can be; the others, which are refused already, as they are."""
    signed: list[Signed] = [*zip(fit, signed_records(fit, context.tables, context.settings), strict=True)]
    signed += [(each, None) for each in unfit]
    late = page.late
    if late is None:
        outcomes = retry_unavailable(lambda: copy.take(signed), context.settings.patience)
    else:
        outcomes = retry_unavailable(lambda: copy.take_late(signed, late), context.settings.patience)
    return _account(list(zip(signed, outcomes, strict=True))[: len(fit)])


def _account(done: Sequence[tuple[Signed, Outcome]]) -> BatchResult:
    """Account for documents that were written."""
    written = [record for (_, record), outcome in done if record is not None and outcome.fate is WriteStatus.INDEXED]
    return BatchResult(
        indexed=len(written),
        unchanged=sum(outcome.fate is WriteStatus.UNCHANGED for _, outcome in done),
        stale=sum(outcome.fate is WriteStatus.STALE for _, outcome in done),
        unsigned=sum(not record.signatures.length for record in written),
        refusals=_refusals(done),
    )


def _refusals(done: Iterable[tuple[Signed, Outcome]]) -> list[Refusal]:
    return [
        Refusal(f"index {held.name.index}", outcome.id, outcome.field, outcome.why)
        for (held, _), outcome in done
        if outcome.fate is WriteStatus.REFUSED
    ]


def _refused(name: Name, why: str) -> Refusal:
    return Refusal(f"index {name.index}", name.id, "", why)
