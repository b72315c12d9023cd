"""Health checks: engine, broker, workers, idf tables and readers, each with a remedy."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from importlib.util import find_spec
from itertools import chain, islice
from typing import NamedTuple, get_args

import numpy as np

from ibidem.grouped_search.api import format_count
from ibidem.index.idf_build import REMEDY, LanguageSampler
from ibidem_core.address import redact
from ibidem_core.errors import REMOVE, DamagedRecord, NoIndex, parse_record
from ibidem_core.settings import Settings, settings_rows
from ibidem_dedupe.collection import CollectionFigures, look_misread
from ibidem_dedupe.evidence import percent
from ibidem_dedupe.overrides import Override
from ibidem_engines.engine import Engine, HealthIssue, Info, PluginNode
from ibidem_engines.ledger import (
    SIGN_AGAIN,
    DeletedDocument,
    GroupCheckpoint,
    Parse,
    Tombstone,
    check_entry,
    read_preset,
)
from ibidem_engines.stored_groups import Ledger
from ibidem_ingest import distribution
from ibidem_ingest.distribution import install_command
from ibidem_ingest.errors import IbidemError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.kernel import loops
from ibidem_ingest.readers.formats import Format, require
from ibidem_ingest.signatures.packed import PackedColumns
from ibidem_ingest.signatures.schema import SCHEMA
from ibidem_workers.backfill import batch as backfill
from ibidem_workers.batches import TRIES, BatchResult, Tries, read_refusals
from ibidem_workers.celery_app import connect_broker, count_rejected
from ibidem_workers.ingest import RUN_PREFIX, parse_run
from ibidem_workers.tasks import read_letter

# What reads a record of runs, by the beginning of its key; all others are accounts.
_RUNS: dict[str, Parse[object]] = {
    RUN_PREFIX: parse_run,
    backfill.KEYS: backfill.Checkpoint.from_json,
    "groups/": dict,
    "strip/": dict,
}

_READERS: dict[Ledger, Parse[object]] = {
    "dead": read_letter,
    "tombstones": Tombstone.from_record,
    "deleted": partial(parse_record, DeletedDocument),
    "overrides": Override.from_record,
    "groups": GroupCheckpoint.from_record,
    "presets": read_preset,
}


def damaged_records(engine: Engine) -> Iterator[str]:
    """Name the records next to an index that cannot be read, each with the fault."""
    with suppress(NoIndex):
        for ledger in get_args(Ledger):
            for key, entry in engine.get_records(ledger):
                try:
                    check_entry(entry, reader(ledger, key))
                except DamagedRecord as error:
                    yield f"{ledger} {key!r}: {error.what}"


def reader(ledger: Ledger, key: str) -> Parse[object]:
    """Return the parser for a key's record."""
    if ledger == "runs":
        of_batches = partial(parse_record, Tries) if key.endswith(TRIES) else BatchResult.from_json
        other = read_refusals if "/refused/" in key else of_batches
        return next((read for start, read in _RUNS.items() if key.startswith(start)), other)
    return _READERS[ledger]


# Libraries of the extra `gateway`.
GATEWAY = ("aiohttp", "fastapi", "httptools", "prometheus_client", "uvicorn")
MAX_NAMES = 10  # damaged records, or documents that look misread, that are named
LANGUAGE_SAMPLE = 50  # so many documents are looked at for their language
MISREAD_SAMPLE = 10_000  # and so many, whether they look misread


class Check(NamedTuple):
    name: str  # the part that was checked
    ok: bool  # whether it is as it should be
    what: str  # the finding
    remedy: str = ""  # the remedy; empty if none is needed

    @classmethod
    def from_issue(cls, name: str, why: HealthIssue | IbidemError) -> "Check":
        """Return the check of a health issue, or of an error: both have a reason and a remedy."""
        return cls(name, ok=False, what=why.what, remedy=why.remedy)


def report(settings: Settings, open_index: Callable[[], Engine]) -> dict[str, object]:
    """Return every setting with its source and every check: the output of `ibidem doctor --json`."""
    results = [check._asdict() for check in checks(settings, open_index)]
    return {"settings": settings_rows(settings), "checks": results}


def checks(settings: Settings, open_index: Callable[[], Engine]) -> Iterator[Check]:
    """Run all checks; a failed check does not stop the others."""
    yield check_distribution()
    yield from attempt("engine", check_engine(settings, open_index))
    yield check_tables_folder(settings)
    yield from attempt("broker", check_broker(settings))
    yield check_signing()
    yield from check_libraries()


def attempt(name: str, found: Iterable[Check]) -> Iterator[Check]:
    """Yield checks as they are made; an error of one ends them, and is a check itself."""
    try:
        yield from found
    except IbidemError as error:
        yield Check.from_issue(name, error)


def check_distribution() -> Check:
    """Check which distribution is installed, and whether a foreign one has the same modules."""
    own = f"{distribution.NAME} {distribution.installed_version()} on Python {sys.version.partition(' ')[0]}"
    if (foreign := distribution.foreign_version()) is None:
        return Check("ibidem", ok=True, what=own)
    message = f"{own}, beside the distribution {distribution.FOREIGN!r} {foreign}, which has modules of the same name"
    return Check("ibidem", ok=False, what=message, remedy=distribution.FOREIGN_REMEDY)


def check_engine(settings: Settings, open_index: Callable[[], Engine]) -> Iterator[Check]:
    """Check the engine, and how the documents in the index are signed."""
    with closing(open_index()) as engine:
        yield from (Check.from_issue(issue.name, issue) for issue in engine.health_issues())
        info = engine.info()
        yield Check("engine", ok=True, what=f"{info.name} {info.version} at {redact(settings.engine)}")
        if info.name != "sqlite":
            version = distribution.installed_version()
            yield from attempt("plugin", check_plugin(engine.plugin_nodes, version, info.name))
        if not info.exists:
            what, remedy = f"{settings.index!r} does not exist yet", "create it with: ibidem ingest PATH"
            yield Check("index", ok=True, what=what, remedy=remedy)
            return
        yield Check("index", ok=True, what=f"{settings.index!r} holds {format_count(info.documents, 'document')}")
        if schemas := sorted(set(info.schema) - {SCHEMA}):
            schema = f"signature schema {', '.join(schemas)}, this version reads {SCHEMA}"
            yield Check("schema", ok=False, what=f"{settings.index!r} was written with {schema}", remedy=SIGN_AGAIN)
            return
        yield from attempt("failed documents", check_dead_letters(engine))
        yield from attempt("records", check_records(engine))
        tables = Tables(settings.tables, settings.index)
        yield from attempt("tables", check_signatures(info, tables))
        yield from attempt("languages", check_languages(engine, tables))
        yield from attempt("misread", check_misread(engine))


def check_plugin(read_nodes: Callable[[], Sequence[PluginNode]], own_version: str, engine_name: str) -> Iterator[Check]:
    """Check which nodes of a cluster have the plugin, and whether its version matches.

    >>> nodes = [PluginNode("one", "3.8.0", "0.1.0"), PluginNode("two", "3.8.1", "")]
    >>> check = next(check_plugin(lambda: nodes, "0.1.0", "opensearch"))
    >>> check.what, check.remedy.partition(";")[0]
    ('missing on node two; on the others 0.1.0: one', 'take ibidem-plugin-0.1.0-opensearch-3.8.0.zip')
    """
    nodes = read_nodes()
    missing = [node.name for node in nodes if not node.plugin]
    other = [f"{node.name} ({node.plugin} for {node.engine})" for node in nodes if node.plugin not in {"", own_version}]
    fit = ", ".join(node.name for node in nodes if node.plugin)
    is_nowhere = len(missing) == len(nodes)
    if not nodes:
        what = "this user may not list the server's nodes"
    elif is_nowhere:
        what = "not installed on any node: ibidem groups by itself"
    elif other:
        what = f"another version than this {own_version}: {', '.join(other)}; ibidem groups by itself"
    elif missing:
        what = f"missing on node{'s' * (len(missing) > 1)} {', '.join(missing)}; on the others {own_version}: {fit}"
    else:
        what = f"{own_version} on {format_count(len(nodes), 'node')}: {fit}"
    remedy = ""
    if missing or other:
        versions = {zip_version(engine_name, node.engine) for node in nodes if node.engine}
        zips = sorted(f"ibidem-plugin-{own_version}-{each}.zip" for each in versions)
        taken = ", ".join(zips) or "the zip for the version that runs"
        remedy = f"take {taken}; docs/plugin.md says how to install it"
    yield Check("plugin", ok=is_nowhere or not (missing or other), what=what, remedy=remedy)


def zip_version(engine: str, version: str) -> str:
    """Return engine and version in a zip's name: one for OpenSearch fits all patches of a minor version.

    >>> zip_version("opensearch", "3.8.1"), zip_version("elasticsearch", "9.5.3")
    ('opensearch-3.8.0', 'elasticsearch-9.5.3')
    """
    return f"{engine}-{version.rpartition('.')[0]}.0" if engine == "opensearch" else f"{engine}-{version}"


def check_dead_letters(engine: Engine) -> Iterator[Check]:
    count = engine.count("dead")
    message = format_count(count, "document could not be ingested", "documents could not be ingested")
    remedy = "look at them with: ibidem status --dead" if count else ""
    yield Check("failed documents", ok=True, what=message, remedy=remedy)


def check_records(engine: Engine) -> Iterator[Check]:
    damaged = list(damaged_records(engine))
    if not damaged:
        yield Check("records", ok=True, what="every record stored with the index can be read")
        return
    names = "; ".join(damaged[:MAX_NAMES])
    more = f"; and {len(damaged) - MAX_NAMES} more" if len(damaged) > MAX_NAMES else ""
    counted = format_count(len(damaged), "damaged record is", "damaged records are")
    yield Check("records", ok=False, what=f"{counted} left out: {names}{more}", remedy=REMOVE)


def check_languages(engine: Engine, tables: Tables) -> Iterator[Check]:
    """Check that the first documents are in the language of their idf table."""
    sampler, current = LanguageSampler(), tables.current()
    hits = next(iter(engine.scan()), [])[:LANGUAGE_SAMPLE]
    list(sampler.sample(entry.document for entry in engine.fetch([(hit.index, hit.id) for hit in hits])))
    shares = sampler.find_foreign(lambda language: tables.named(current.get(language, "")))
    yield from (Check("languages", ok=False, what=str(each), remedy=REMEDY) for each in shares)
    if not shares:
        yield Check("languages", ok=True, what="the first documents are in their declared languages")


def check_misread(engine: Engine) -> Iterator[Check]:
    """Count, among the first documents, those that look misread, by which the rule of an index is chosen; name some."""
    hits = [*islice(chain.from_iterable(engine.scan()), MISREAD_SAMPLE)]
    columns = PackedColumns.decode([hit.packed for hit in hits])
    figures = CollectionFigures.count(columns)
    ids = [hits[row].id for row in np.flatnonzero(look_misread(columns))[:MAX_NAMES].tolist()]
    share = percent(figures.misread / max(1, figures.blocks))
    named = f": {', '.join(ids)}" if ids else ""
    yield Check("misread", ok=True, what=f"{share} of {format_count(figures.blocks, 'document')} look misread{named}")


def check_signatures(info: Info, tables: Tables) -> Iterator[Check]:
    """Check for documents without signatures, or signed with an outdated idf table."""
    what, remedy = "every document is signed", ""
    if info.unsigned:
        what = f"{format_count(info.unsigned, 'document')} without signatures: without words, or written by others"
        remedy = "searches find them but never group them; sign those that others wrote with: ibidem backfill"
    yield Check("unsigned", ok=True, what=what, remedy=remedy)
    languages = {table.language for name in filter(None, info.tables) if (table := tables.named(name)) is not None}
    current = {table.name for language in languages if (table := tables.of(language)) is not None}
    mixed = [f"{count:,} with {name}" for name, count in info.tables.items() if name and name not in current]
    if mixed:
        what = f"documents signed with another idf table: {', '.join(mixed)}"
        yield Check("tables", ok=False, what=what, remedy=SIGN_AGAIN)
    else:
        yield Check("tables", ok=True, what="all signatures come from the current idf tables")


def check_tables_folder(settings: Settings) -> Check:
    folder = settings.tables
    parent = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if parent.is_dir() and os.access(parent, os.W_OK):
        return Check("tables folder", ok=True, what=str(folder))
    message = f"{parent} cannot be written" if parent.is_dir() else f"{parent} is not a folder"
    return Check("tables folder", ok=False, what=message, remedy="name another folder in IBIDEM_TABLES")


def check_broker(settings: Settings) -> Iterator[Check]:
    """Check the broker, and where there is one the messages apart, and how Redis is set."""
    if not settings.broker:
        yield Check("broker", ok=True, what="none: ibidem ingest signs in processes of its own")
        return
    connect_broker(settings)
    yield Check("broker", ok=True, what=redact(settings.broker))
    yield from attempt("messages", check_messages(settings))
    if settings.broker.startswith("redis"):
        yield from attempt("redis", check_redis(settings))


def check_messages(settings: Settings) -> Iterator[Check]:
    count, queue, command = count_rejected(settings)
    if count:
        message = f"{format_count(count, 'message')} that no submitter has sent, in queue {queue}"
        remedy = f"find out which other program writes to the queue, then {command}"
        yield Check("messages", ok=False, what=message, remedy=remedy)


def check_redis(settings: Settings) -> Iterator[Check]:
    """Check that Redis persists messages, and does not evict any when its memory is full."""
    from ibidem_workers.redis_transport import configuration  # noqa: PLC0415 - its client is an extra

    policy = configuration(settings.broker, *REDIS_SETTINGS)
    if policy.keys() != REDIS_SETTINGS.keys():
        values = ", ".join(f"{name} {value}" for name, (value, _) in REDIS_SETTINGS.items())
        message = "cannot read the server's configuration (CONFIG is not permitted)"
        yield Check("redis", ok=True, what=message, remedy=f"make sure it is set to: {values}")
        return
    deviations = {name: value for name, value in policy.items() if value != REDIS_SETTINGS[name][0]}
    for name, value in deviations.items():
        setting, loss = REDIS_SETTINGS[name]
        yield Check("redis", ok=False, what=f"{name} is {value!r}: {loss}", remedy=f"set {name} {setting}")
    if not deviations:
        yield Check("redis", ok=True, what="it keeps messages until they are acknowledged")


# Settings that Redis has to have, and the loss without each.
REDIS_SETTINGS = {
    "appendonly": ("yes", "batches since its last snapshot are lost when it is killed"),
    "maxmemory-policy": ("noeviction", "it may evict batches when its memory is full"),
}


def check_signing() -> Check:
    """Check whether the signing loops were compiled at installation."""
    if loops.IN_USE:
        return Check("signing", ok=True, what="by compiled loops")
    what = "by plain Python, as is grouping: the compiled loops are missing or of another version"
    remedy = "to sign and group many times faster, install a C compiler, then reinstall ibidem"
    return Check("signing", ok=True, what=what, remedy=remedy)


def check_libraries() -> Iterator[Check]:
    """Check that the libraries for HTML, PDF and the gateway are installed."""
    missing = []
    for format_ in (Format.HTML, Format.PDF):
        try:
            require(format_)
        except IbidemError as error:
            missing.append(Check.from_issue(f"reader for {format_}", error))
    if names := [name for name in GATEWAY if find_spec(name) is None]:
        message = f"`ibidem serve` cannot start: {', '.join(names)} is not installed"
        missing.append(Check("gateway", ok=True, what=message, remedy=install_command("gateway")))
    yield from missing or [Check("libraries", ok=True, what="those for HTML, PDF and ibidem serve are installed")]
