"""Backfill of one batch: read, sign, write onto the version that was read, count."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ibidem_engines.engine import Engine, Outcome, Record, WriteStatus
from ibidem_engines.errors import EngineError
from ibidem_engines.records import records
from ibidem_engines.reindex import Marks, Name, ReindexSource, ReindexTarget, Signed, SourceDocument
from ibidem_ingest.errors import Refusal
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.packed import unpack
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_ingest.signatures.sign import digest
from ibidem_workers.backfill.checkpoint import Portions
from ibidem_workers.batches import Batch, BatchResult
from ibidem_workers.overlap import overlap
from ibidem_workers.retry import retry_unavailable
from ibidem_workers.settings import Settings


def refusal(original: SourceDocument, text_field: str, max_text: int) -> Refusal | None:
    """Tell why a document cannot be signed; None when it can.

    Args:
        original: The document.
        text_field: What its index calls the text.
        max_text: The most characters that a text may have.
    """
    where, text = f"index {original.name.index}", original.document.text
    if original.fault:
        why = f"{original.fault}; give it a text, or name another field in IBIDEM_FIELDS: text=…"
    elif len(text) > max_text:
        why = f"{len(text):,} characters, at most {max_text:,} are taken; raise IBIDEM_MAX_TEXT"
    else:
        return None
    return Refusal(where, original.name.id, text_field, why)


def is_current(original: SourceDocument, tables: Tables) -> bool:
    """Return whether a document is signed as it is, with the schema and the table of now."""
    table = tables.of(original.document.language)
    name = table.name if table else ""
    if not original.packed or (original.schema, original.idf) != (SCHEMA, name):
        return False
    return original.digest == digest(original.document, original.idf)


def has_words(original: SourceDocument) -> bool:
    """Return whether a signed document had any words."""
    packed = unpack(original.packed)
    return packed is not None and packed.length > 0


def signed_records(originals: list[SourceDocument], tables: Tables, settings: Settings) -> list[Record]:
    """Sign documents; each keeps the version that it has."""
    signed = records([each.document for each in originals], tables, settings.distinct)
    return [replace(record, version=each.version) for each, record in zip(originals, signed, strict=True)]


READS = 2
"""Portions that are read at the same time, ahead of what is signed."""

PORTION, PORTION_CHARACTERS = 125, 250_000
"""Documents, and characters of text, that are read and written by one request: a fourth of a page, so that parts of one
are read, signed and written at the same time."""

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
    """Source, target and settings that pages are signed with.

    Args:
        engine: The index that is written to.
        source: The index that is read.
        copy: The index that copies go to; None when signatures are added in place.
        tables: The idf tables.
        settings: Limits and waiting times.
        portions: How much is read at once.
        own: Numbers of the writes to the page in hand.
    """

    engine: Engine
    source: ReindexSource
    copy: ReindexTarget | None
    tables: Tables
    settings: Settings
    portions: Portions = field(default_factory=lambda: Portions(PORTION, PORTION_CHARACTERS))
    own: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """Outcome of a page.

    Args:
        account: What became of its documents.
        own: Numbers of the writes in the index that was read: none where its documents were copied.
    """

    account: BatchResult
    own: Sequence[int]


@dataclass(slots=True)
class _Round:
    """Outcomes of documents that were read once.

    Args:
        account: Of those that are done.
        changed: Those that another writer changed meanwhile.
    """

    account: BatchResult
    changed: list[Name]


def sign_batch(context: BackfillContext, page: BackfillBatch) -> BatchOutcome:
    """Sign a page, while some of it is still read and some is written; its account is noted before this returns.

    Raises:
        Unavailable: The engine did not answer for as long as the settings allow; nothing is lost.
        Permanent: The engine takes nothing more.
    """
    context.own.clear()
    at_once = context.settings.writes if context.engine.parallel_writes else 1
    reads = (partial(_portion, context, some) for some in context.portions.cut(page.names))
    writes = (_write(context, page, each) for each in overlap(reads, min(READS, at_once)))
    account = sum(overlap(writes, at_once), BatchResult(indexed=page.before))
    if page.changes_only:
        account = replace(account, unchanged=0, stale=0)
    retry_unavailable(
        lambda: context.engine.put_records("runs", {page.key: account.as_json()}), context.settings.patience
    )
    return BatchOutcome(account, list(context.own))


@dataclass(frozen=True, slots=True)
class _Portion:
    """Documents that are written by one request.

    Args:
        names: Which.
        originals: What the index holds of them; None where one could not be read that nobody foresaw.
    """

    names: Sequence[Name]
    originals: Sequence[SourceDocument] | None


def _portion(context: BackfillContext, names: Sequence[Name]) -> _Portion:
    try:
        return _Portion(names, _read(context, names))
    except EngineError:
        raise
    except Exception:  # noqa: BLE001 - they are read again one by one, where the one is refused
        return _Portion(names, None)


def _write(context: BackfillContext, page: BackfillBatch, portion: _Portion) -> Callable[[], BatchResult]:
    """Sign a portion; returns the call that writes it."""
    try:
        write = None if portion.originals is None else _signed(context, page, portion.names, portion.originals)
    except EngineError:
        raise
    except Exception:  # noqa: BLE001 - likewise
        write = None
    return partial(_whole, context, page, portion.names, write)


def _whole(
    context: BackfillContext, page: BackfillBatch, names: Sequence[Name], write: Callable[[], _Round] | None
) -> BatchResult:
    """Write documents at once, and where that fails one by one: one that cannot be signed harms no other.

    Args:
        context: What pages are signed with.
        page: The page that they belong to.
        names: The documents.
        write: Writes them, where they could be signed at once.
    """
    account = BatchResult()
    if write is not None or len(names) == 1:
        try:
            return _until_none_is_changed(context, page, names, write)
        except EngineError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever one document does, the others go on
            if len(names) == 1:
                return BatchResult(refusals=[_refused(names[0], f"{type(error).__name__}: {error}")])
    for name in names:
        account += _whole(context, page, [name], None)
    return account


def _until_none_is_changed(
    context: BackfillContext, page: BackfillBatch, names: Sequence[Name], write: Callable[[], _Round] | None
) -> BatchResult:
    """Write documents; those that were changed between reading and writing are read and signed again."""
    account, left = BatchResult(), list(names)
    for _ in range(ROUNDS):
        done = (write or _signed(context, page, left, _read(context, left)))()
        account, left, write = account + done.account, done.changed, None
        if not left:
            return account
    return account + BatchResult(
        refusals=[_refused(name, "other writers change it all the time; try again") for name in left]
    )


def _read(context: BackfillContext, names: Sequence[Name]) -> list[SourceDocument]:
    raw = context.copy is not None
    originals = retry_unavailable(lambda: context.source.read(names, raw=raw), context.settings.patience)
    context.portions.learn([len(each.document.text) for each in originals])
    return originals


def _signed(
    context: BackfillContext, page: BackfillBatch, names: Sequence[Name], originals: Sequence[SourceDocument]
) -> Callable[[], _Round]:
    """Sign documents that were read; returns the call that writes them."""
    judged = [(each, refusal(each, context.source.text_field, context.settings.max_text)) for each in originals]
    fit = [each for each, why in judged if why is None]
    unfit = [each for each, why in judged if why is not None]
    write = _in_place(context, page, fit) if context.copy is None else _copy(context, context.copy, page, fit, unfit)
    refusals = [why for _, why in judged if why is not None]
    beside = BatchResult(refusals=refusals, stale=len(names) - len(originals))

    def written() -> _Round:
        """Write, and add what is refused."""
        done = write()
        return replace(done, account=beside + done.account)

    return written


def _in_place(
    context: BackfillContext, page: BackfillBatch, originals: Sequence[SourceDocument]
) -> Callable[[], _Round]:
    """Sign documents that have no signatures, or not those of now; returns the call that adds them."""
    same = [each for each in originals if is_current(each, context.tables)]
    there = {each.name.id for each in same}
    others = [each for each in originals if each.name.id not in there]
    signed = list(zip(others, signed_records(others, context.tables, context.settings), strict=True))

    def write() -> _Round:
        """Sign in place, and count those that were signed before."""
        outcomes = retry_unavailable(lambda: context.source.sign(signed), context.settings.patience) if signed else []
        changed = [each.name for each, outcome in zip(others, outcomes, strict=True) if outcome is None]
        done = [(pair, outcome) for pair, outcome in zip(signed, outcomes, strict=True) if outcome is not None]
        context.own.extend(outcome.order for _, outcome in done if outcome.order)
        late = sum(each.order != each.name.order for each in same) if page.resumed else 0
        beside = BatchResult(
            indexed=late, unchanged=len(same) - late, unsigned=sum(not has_words(each) for each in same)
        )
        return _Round(beside + _account(done), changed)

    return write


def _copy(
    context: BackfillContext,
    copy: ReindexTarget,
    page: BackfillBatch,
    fit: list[SourceDocument],
    unfit: Sequence[SourceDocument],
) -> Callable[[], _Round]:
    """Sign documents where they can be; returns the call that copies them, and the others, which are refused."""
    signed: list[Signed] = [*zip(fit, signed_records(fit, context.tables, context.settings), strict=True)]
    signed += [(each, None) for each in unfit]
    late = page.late

    def write() -> _Round:
        """Copy, and count what is not written."""
        if late is None:
            outcomes = retry_unavailable(lambda: copy.take(signed), context.settings.patience)
        else:
            outcomes = retry_unavailable(lambda: copy.take_late(signed, late), context.settings.patience)
        return _Round(_account(list(zip(signed, outcomes, strict=True))[: len(fit)]), [])

    return write


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
        Refusal(f"index {original.name.index}", outcome.id, outcome.field, outcome.why)
        for (original, _), outcome in done
        if outcome.fate is WriteStatus.REFUSED
    ]


def _refused(name: Name, why: str) -> Refusal:
    return Refusal(f"index {name.index}", name.id, "", why)
