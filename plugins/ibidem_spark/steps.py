"""Steps of executors on Arrow batches: figures of documents, their keys, and decisions on pairs. And the export."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow.parquet import ParquetWriter
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from ibidem_core.errors import Permanent
from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import BUCKETS, TERMS, Hashes, KeyIndex, Portion, drop_singletons, length_buckets
from ibidem_dedupe.collection import look_misread
from ibidem_dedupe.column_rules import Bools, Rows, eligible
from ibidem_dedupe.leader_clustering import Grouping, LeaderClustering, columns_read
from ibidem_dedupe.overrides import PairConstraints
from ibidem_dedupe.pairs import UNDECIDED, PairClassifier, verify
from ibidem_dedupe.policy import LONG_TOKENS, Policy, Terms, min_shared_terms
from ibidem_engines.stored_groups import GroupedDocument, SeqNoRange, StoredGroups
from ibidem_ingest.distribution import NAME, installed_version
from ibidem_ingest.signatures import noise
from ibidem_ingest.signatures.packed import ROOM, PackedColumns, PackedValues
from ibidem_ingest.signatures.schema import FULL_SET
from ibidem_workers.groups.settle import SLICE, read_slices

Batches = Iterator[pa.RecordBatch]
Run = Callable[[Batches], Iterable[pa.RecordBatch]]
TermCounts = tuple[Rows, Rows]  # terms, each with its idf table in the bits above, and how many rows have them
Entries = tuple[Hashes, Rows, Bools]  # keys, their rows, which of these make a key count

table = pa.RecordBatch.from_pydict

ORDER_BITS = 44  # bits of a write's number within a row's number, below the place of its part
STATE = "row long, index string, id string, routing string, seq long, term long"
PLAN = f"{STATE}, group string, lead boolean, packed binary"
EXPORT_ROW = f"{PLAN}, part string, uuid string, end long"  # with the number up to which writes of the part are there
FIELDS, STATE_FIELDS = ([each.split()[0] for each in schema.split(", ")] for schema in (PLAN, STATE))
ARRAYS = "part int, key binary, row binary, marked binary"  # of a part: its keys, their rows, which make a key count
STRONG_BIT = np.uint64(1 << 63)  # the bit of a key that is enough alone: as a signed number it is below zero
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # by which keys are multiplied, so that parts are about equal
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
    schema = pa.schema([(name, TYPES[kind]) for name, kind in (each.split() for each in EXPORT_ROW.split(", "))])
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

    def __call__(self, batches: Batches) -> Batches:
        if self.version != (own := installed_version()):
            raise Permanent(f"the driver has {NAME} {self.version}, an executor {own}", "pack it for executors again")
        yield from self.run(batches)


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
    """Return a digest of all columns that the rules read."""
    columns = decode(batch["packed"])
    parts = [np.ascontiguousarray(getattr(columns, name)) for name in columns_read(policy)]
    octets = np.concatenate([each.view(np.uint8).reshape(len(columns), -1) for each in parts], axis=1)
    digest = [xxh3_128_digest(row.tobytes()) for row in octets]
    return table({"row": batch["row"], "content": batch["content"], "digest": digest})


def rare_terms(columns: PackedColumns, rule: Terms, has_words: Bools, counts: TermCounts) -> Portion:
    """Return the keys of the terms that are rarest in all rows, as `candidates.rarest_terms` does."""
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


def count_terms(batches: Batches, rule: Terms) -> Batches:
    """Count terms, by idf table."""
    found = [np.empty(0, np.int64)]
    for columns in (decode(batch["packed"]) for batch in batches):
        mask = eligible(columns, rule) & (columns.length > 0)
        found.append((columns.idf[mask, None].astype(np.int64) << np.int64(24) | columns.terms[mask]).ravel())
    terms, counts = np.unique(np.concatenate(found), return_counts=True)
    yield table({"term": terms, "count": counts})


def keys(batch: pa.RecordBatch, policy: Policy, counts: TermCounts) -> Iterator[Entries]:
    """Yield the keys of the rows of a batch."""
    columns, numbers = decode(batch["packed"]), np.asarray(batch["row"])
    policy, has_words = policy.candidates, columns.length > 0
    for kind in evidence.TABLE.counted(policy):
        if kind.name == "termvector":
            portions = iter([rare_terms(columns, policy.terms or Terms(), has_words, counts)])
        elif kind.keys:
            portions = kind.keys(columns, policy, has_words)
        else:
            continue
        marks = np.ones(len(columns), bool) if kind.marks is None else kind.marks(columns, policy)
        salt, strong = np.uint64(xxh3_64_intdigest(kind.name.encode())), STRONG_BIT * np.uint64(not kind.has_weak_keys)
        for values, rows in portions:
            yield (values + salt) & ~STRONG_BIT | strong, numbers[rows], marks[rows]


def spread(batches: Batches, policy: Policy, counts: TermCounts, parts: int) -> Batches:
    """Yield the keys of rows as arrays, so that rows that share a key are in the same part."""
    found = [entries for batch in batches for entries in keys(batch, policy, counts)]
    if not found:
        return
    key, row, marked = map(np.concatenate, zip(*found, strict=True))
    part = (key * MULTIPLIER >> np.uint64(48)).astype(np.uint16) % np.uint16(parts)
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=parts))[:-1]
    arrays = {"key": key, "row": row, "marked": marked}
    split = {name: [each.tobytes() for each in np.split(array[order], ends)] for name, array in arrays.items()}
    yield table({"part": np.arange(parts, dtype=np.int32), **split})


def share(batches: Batches) -> Batches:
    """Yield the entries of keys that several rows have, one of them marked."""
    found = list(batches)
    key, row, marked = (
        b"".join(part for batch in found for part in batch[name].to_pylist()) for name in ("key", "row", "marked")
    )
    keys, rows = np.frombuffer(key, np.uint64), np.frombuffer(row, np.int64)
    places = drop_singletons(keys, np.arange(len(keys)), np.frombuffer(marked, np.bool_)).row
    yield table({"key": keys[places].view(np.int64), "row": rows[places]})


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


def settle(batches: Batches, policy: Policy, constraints: PairConstraints) -> Batches:
    """Settle rows, given by their keys and packed values, in one pass: the lead of each, or its own number."""
    if not (found := list(batches)):
        return
    whole = pa.Table.from_batches(found)
    documents = whole.filter(whole["packed"].is_valid()).sort_by("row")
    entries = whole.filter(whole["packed"].is_null())
    del found, whole  # each step of a million rows would hold some hundred bytes a row more
    rows, key, row, held = (np.asarray(each) for each in (documents["row"], *entries.columns[:3]))
    order = np.lexsort((row, key))
    key, held, at = key[order], held[order], np.searchsorted(rows, row[order])
    del entries, row, order
    is_first = np.append(True, key[1:] != key[:-1])
    number = (np.cumsum(is_first) - 1).astype(np.int32)
    index = KeyIndex(number, at.astype(np.int32), int(np.count_nonzero(is_first & (key < 0))), TERMS)
    local = constraints.renumber({row: place for place, row in enumerate(rows.tolist())})
    classifier = PairClassifier(decode(documents["packed"].combine_chunks()), policy, local)
    work = LeaderClustering(classifier, held[is_first].astype(np.int64), Grouping.alone(classifier.size))
    work.settle_in_blocks(index, 0, lambda _: None)
    yield table({"row": rows, "earlier": rows[work.grouping.lead], "code": work.grouping.evidence.astype(np.int32)})


def equal_slots(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Count the equal slots of pairs."""
    a, b = decode(batch["packed"]), decode(batch["packed_earlier"])
    return table({"equal": (a.slots == b.slots).sum(axis=1, dtype=np.int32)})
