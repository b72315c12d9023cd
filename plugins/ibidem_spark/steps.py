"""Steps of executors on Arrow batches: figures of documents, their keys, and decisions on pairs. And the export."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow.parquet import ParquetWriter
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from ibidem_core.errors import Permanent
from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import BUCKETS, TERMS, Hashes, length_buckets
from ibidem_dedupe.collection import look_misread
from ibidem_dedupe.column_rules import Bools, Rows, eligible, is_noisy
from ibidem_dedupe.decision import UNDECIDED, verify
from ibidem_dedupe.leader_clustering import DATES, READ_BY_RULES, WEIGHED
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.policy import LONG_TOKENS, Characters, Policy, Terms, min_shared_terms
from ibidem_engines.stored_groups import GroupedDocument, SeqNoRange, StoredGroups
from ibidem_ingest.distribution import NAME, installed_version
from ibidem_ingest.kernel.loops import compiled
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.packed import ROOM, WEAK, PackedValues
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.schema import FULL_SET, SLOTS
from ibidem_workers.groups.columns_match import SLICE, read_slices

Run = Callable[[pa.RecordBatch], pa.RecordBatch | Iterable[pa.RecordBatch]]
TermCounts = tuple[Rows, Rows]  # terms, each with its idf table in the bits above, and how many rows have them

table = pa.RecordBatch.from_pydict

ORDER_BITS = 44  # bits of a write's number within a row's number, below the place of its part
STATE = "row long, index string, id string, routing string, seq long, term long"
PLANNED = f"{STATE}, group string, lead boolean, packed binary"
EXPORTED = f"{PLANNED}, part string, uuid string, end long"  # with the number up to which writes of the part are there
FIELDS, STATE_FIELDS = ([each.split()[0] for each in schema.split(", ")] for schema in (PLANNED, STATE))
TYPES = {"long": pa.int64(), "string": pa.string(), "boolean": pa.bool_(), "binary": pa.binary()}


def stored(place: int, documents: Sequence[GroupedDocument]) -> dict[str, list[object]]:
    """Return the columns of documents of a part, as they are stored."""
    names = [(place << ORDER_BITS | n.order, n.index, n.id, n.routing) for n in (each.name for each in documents)]
    rows = [(*n, *each.state, each.group, each.lead, each.packed) for n, each in zip(names, documents, strict=True)]
    return dict(zip(FIELDS, map(list, zip(*rows, strict=True)), strict=True))


def export(store: StoredGroups, path: Path, report: Callable[[int], None]) -> None:
    """Write all documents as a Parquet file, slice by slice; the file is there once it is complete."""
    end, uuids = store.newest(), store.uuids()
    unfinished = path.with_name(f"{path.name}.part")
    schema = pa.schema([(name, TYPES[kind]) for name, kind in (each.split() for each in EXPORTED.split(", "))])
    try:
        with ParquetWriter(unfinished, schema) as writer:
            for place, (part, number) in enumerate(end.items()):
                source = {"part": str(part), "uuid": uuids.get(part.index, ""), "end": number}
                for documents in read_slices(store.documents, [SeqNoRange(part, 0, number)], SLICE):
                    repeated = {name: [each] * len(documents) for name, each in source.items()}
                    writer.write_batch(table(stored(place, documents) | repeated, schema))
                    report(len(documents))
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Step:
    """A step with the version of the package that the driver has, which executors must have too."""

    run: Run
    version: str = installed_version()

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self.version != (own := installed_version()):
            raise Permanent(f"the driver has {NAME} {self.version}, an executor {own}", "pack it for executors again")
        for batch in batches:
            answer = self.run(batch)
            yield from [answer] if isinstance(answer, pa.RecordBatch) else answer


def decode(values: pa.BinaryArray) -> PackedColumns:
    """Decode packed values without making an object of each."""
    _, offsets, data = values.buffers()
    bounds = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    text = (data.to_pybytes() if data else b"") + bytes(ROOM)
    return PackedColumns.decode(PackedValues(text, bounds[:-1], np.diff(bounds)))


def figures(columns: PackedColumns) -> dict[str, object]:
    """Return what a document says without others: its content, and what the rule of a collection depends on."""
    return {
        "content": (columns.content[:, 0] ^ columns.content[:, 1]).view(np.int64),
        "words": columns.length > 0,
        "block": (columns.noise[:, noise.SLOTS] > 0).astype(np.int32),
        "misread": look_misread(columns).astype(np.int32),
        "long": (columns.length >= LONG_TOKENS).astype(np.int32),
        "guarded": columns.guard > 0,
        "damaged": ~columns.is_signed & (PackedValues.join(columns.values).size > 0),
    }


def digests(batch: pa.RecordBatch, policy: Policy) -> pa.RecordBatch:
    """Return a digest of all columns that the rules read: they cannot tell rows with the same one apart."""
    columns = decode(batch["packed"])
    further = WEIGHED if policy.learned is not None else DATES if policy.window_days is not None else ()
    parts = [np.ascontiguousarray(getattr(columns, name)) for name in (*READ_BY_RULES, *further)]
    octets = np.concatenate([each.view(np.uint8).reshape(len(columns), -1) for each in parts], axis=1)
    digest = [xxh3_128_digest(row.tobytes()) for row in octets]
    return table({"row": batch["row"], "content": batch["content"], "digest": digest})


Keys = tuple[Hashes, Rows]  # (e,) keys, and the place of the row of each


def _strong(keys: Hashes, has_keys: Bools) -> Keys:
    return keys[has_keys], np.flatnonzero(has_keys)


def _bands(columns: PackedColumns, policy: Policy, has_words: Bools) -> Keys:
    rows = np.flatnonzero(has_words & (columns.slot_count > 0))
    bands = SLOTS // policy.band_rows
    return compiled().band_keys(columns.slots, rows, (0, bands), policy.band_rows).ravel(), np.repeat(rows, bands)


def _runs(columns: PackedColumns, _: Policy, has_words: Bools) -> Keys:
    rows = np.flatnonzero((columns.noise[:, noise.SLOTS] > 0) & has_words)
    keys = compiled().run_keys(columns.noise, rows, (0, noise.SLOTS), noise.APART)
    return keys.ravel(), np.repeat(rows, noise.SLOTS)


# The keys of each kind of evidence as numbers, as `candidates` numbers them, but for those of rare terms.
KEYS: Mapping[str, Callable[[PackedColumns, Policy, Bools], Keys]] = {
    "content": lambda it, _, own: _strong(it.content[:, 0] ^ it.content[:, 1], own),
    "fingerprint": lambda it, _, own: _strong(it.fingerprint, own & (it.fingerprint != 0) & (it.flags & WEAK == 0)),
    "profile": lambda it, _, own: _strong(it.profile, own & (it.profile != 0)),
    "minhash": _bands,
    "characters": _runs,
}


def rare_terms(columns: PackedColumns, rule: Terms, has_words: Bools, counts: TermCounts) -> Keys:
    """Return the keys of the terms that are rarest in all rows, as `candidates.rarest_term_index` does."""
    size = FULL_SET - (min_shared_terms(rule.share, FULL_SET) - TERMS + 1) + 1
    keys, rows = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    mask = eligible(columns, rule) & has_words
    for idf in np.unique(columns.idf[mask]).tolist():
        of_table = np.flatnonzero(mask & (columns.idf == idf))
        terms = columns.terms[of_table].astype(np.int64)
        holders = counts[1][np.searchsorted(counts[0], idf << 24 | terms)]
        first = np.sort(holders << np.int64(32) | terms, axis=1)[:, :size]
        several = first >> np.int64(32) > 1
        row = np.repeat(of_table, several.sum(axis=1))
        bucket = length_buckets(columns.length, rule.lengths)[row]
        key = (((first[several] & np.int64((1 << 24) - 1)) << BUCKETS | bucket)[:, None] + np.arange(2)).ravel()
        keys.append(key.astype(np.uint64) + np.uint64(xxh3_64_intdigest(str(idf).encode())))
        rows.append(np.repeat(row, 2))
    return np.concatenate(keys), np.concatenate(rows)


def count_terms(batch: pa.RecordBatch, rule: Terms) -> pa.RecordBatch:
    """Count the terms of a batch, by idf table."""
    columns = decode(batch["packed"])
    mask = eligible(columns, rule) & (columns.length > 0)
    numbers = columns.idf[mask, None].astype(np.int64) << np.int64(24) | columns.terms[mask]
    numbers, counts = np.unique(numbers, return_counts=True)
    return table({"term": numbers, "count": counts})


def keys(batch: pa.RecordBatch, policy: Policy, counts: TermCounts) -> Iterator[pa.RecordBatch]:
    """Yield the keys of rows, whether they say little alone, and whether one marked row makes a key count."""
    columns, numbers = decode(batch["packed"]), np.asarray(batch["row"])
    policy = policy.candidates
    has_words = columns.length > 0
    rule = policy.characters or Characters()
    noisy = is_noisy(columns.noise, rule.misread, rule.misread_dense)
    for kind in evidence.TABLE.counted(policy):
        if kind.keys is None:
            continue
        if kind.name == "termvector":
            values, rows = rare_terms(columns, policy.terms or Terms(), has_words, counts)
        else:
            values, rows = KEYS[kind.name](columns, policy, has_words)
        marked = noisy[rows] if kind.name == "characters" else np.ones(len(rows), bool)
        salted = (values + np.uint64(xxh3_64_intdigest(kind.name.encode()))).view(np.int64)
        weak = np.full(len(rows), kind.has_weak_keys)
        yield table({"key": salted, "row": numbers[rows], "weak": weak, "marked": marked})


def decide(batch: pa.RecordBatch, policy: Policy, constraints: PairConstraints) -> pa.RecordBatch:
    """Decide on pairs, manual decisions before all evidence; code 0 where they are no duplicates."""
    row, earlier = np.asarray(batch["row"]), np.asarray(batch["earlier"])
    columns = decode(pa.concat_arrays([batch["packed"], batch["packed_earlier"]]))
    places = np.arange(len(row))
    code = verify(columns, places, places + len(row), policy)
    code[code == UNDECIDED] = 0
    if constraints.same or constraints.different:
        for place, pair in enumerate(zip(earlier.tolist(), row.tolist(), strict=True)):
            if pair in constraints.different:
                code[place] = 0
            elif pair in constraints.same and not code[place]:
                code[place] = evidence.TABLE.code("override")
    return table({"row": row, "earlier": earlier, "code": code.astype(np.int32)})


def equal_slots(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Count the equal slots of pairs."""
    a, b = decode(batch["packed"]), decode(batch["packed_earlier"])
    return table({"equal": (a.slots == b.slots).sum(axis=1, dtype=np.int32)})
