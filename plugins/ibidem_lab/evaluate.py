"""Evaluation: compare the duplicates found in a collection with its labels."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from ibidem.index.idf_build import ForeignShare, LanguageSampler
from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import KeyIndex
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.long_candidates import PageKeys
from ibidem_dedupe.pairs import LongSignatureCache, LongTextMatcher, duplicates
from ibidem_dedupe.policy import Policy
from ibidem_engines.query import Filter
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.packed import pack
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_ingest.signatures.sign import sign_stream
from ibidem_lab.agreement import (
    EvidenceCount,
    PairFigures,
    SetFigures,
    adjusted_rand,
    components,
    count_evidence,
)
from ibidem_lab.errors import Mistake, SignedDocuments
from ibidem_lab.labels import (
    Pair,
    count_labelled,
    labelled_ids,
    order_pair,
    parse_condition,
    read_labels,
    read_pairs,
)

EVERY = parse_condition("")  # the condition that every listed pair fulfils


@dataclass(frozen=True, slots=True)
class Labels:
    """Files with the labels of a collection."""

    path: Path  # a table of clusters or of pairs
    # A condition on the columns of a pair, such as `jac5>=0.5`; empty: every listed pair is a duplicate.
    positive: str = ""
    unjudged: Path | None = None  # a table of pairs that the labels do not speak about; None when there is none


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The agreement of the duplicates found with labels."""

    documents: int  # how many were signed
    labelled: int  # how many of them have labels; found pairs of the others count as wrong
    pairs: PairFigures  # the pair decision over all candidates, groups aside
    # For each kind of evidence, how many pairs it is the first to join, and how many of these are right.
    evidence: Mapping[str, EvidenceCount]
    ari: float  # adjusted Rand index of the groups, in the order of the documents, against the sets of the labels
    sets: SetFigures  # the same in duplicate sets
    refused: int  # documents that could not be read
    unknown: Sequence[str]  # ids that the labels name and no document has
    mistakes: Sequence[Mistake]  # the worst of the pairs on which labels and signatures disagree
    took_s: float  # seconds it took
    foreign: Sequence[ForeignShare] = ()  # languages whose documents are in another one

    def as_json(self) -> dict[str, object]:
        """Return the output of `ibidem evaluate --json`."""
        return {
            "documents": self.documents,
            "labelled": self.labelled,
            "pairs": self.pairs.as_json(),
            "evidence": {name: each.as_json() for name, each in self.evidence.items()},
            "ari": self.ari,
            "sets": self.sets.as_json(),
            "refused": self.refused,
            "unknown": list(self.unknown),
            "mistakes": [each.as_json() for each in self.mistakes],
            "took_s": self.took_s,
            "foreign": [each.as_json() for each in self.foreign],
        }


@dataclass(frozen=True, eq=False, slots=True)
class Collection:
    """Documents that were signed in memory."""

    ids: Sequence[str]  # their ids, in the order of the files
    columns: PackedColumns  # their packed values
    long: Mapping[str, bytes]  # their long signatures, encoded, by id
    left_out: AbstractSet[str]  # ids of documents that the filters left out or that could not be read
    refused: int  # how many could not be read

    def build_matcher(self, policy: Policy) -> tuple[LongTextMatcher | None, KeyIndex | None]:
        """Return the matcher of long texts, and their candidate pairs; None below level `partial`."""
        if policy.level != "partial" or policy.related is None:
            return None, None
        names = [("", name) for name in self.ids]
        keys = PageKeys()
        for name, value in self.long.items():
            if (signatures := LongSignatures.decode(value)) is not None:
                keys.add(("", name), signatures)
        long_signatures = LongSignatureCache(
            lambda refs: {ref: self.long[ref[1]] for ref in refs if ref[1] in self.long}
        )
        return LongTextMatcher(names, self.columns.unpack_row, policy, long_signatures), keys.holders(names)


def evaluate(  # noqa: PLR0913 - what to measure, and by name what goes with it
    items: Iterable[Document | Refusal],
    labels: Labels,
    tables: Tables,
    policy: Policy | None = None,
    *,
    progress: Callable[[int], None] = lambda _: None,
    filters: Sequence[Filter] = (),
) -> Evaluation:
    """Sign documents in memory, and compare the duplicates found with labels."""
    began = perf_counter()
    read_labels(labels.path, parse_condition(labels.positive))
    sampler = LanguageSampler()
    collection = sign_collection(sampler.sample(items), tables, progress, filters)
    figures = compare(collection, labels, policy or Policy())
    return replace(figures, took_s=round(perf_counter() - began, 2), foreign=sampler.find_foreign(tables.of))


def compare(collection: Collection, labels: Labels, policy: Policy) -> Evaluation:
    """Compare the duplicates among signed documents with labels."""
    began = perf_counter()
    ids, in_labels = set(collection.ids), labelled_ids(labels.path)
    true = read_pairs(labels.path, parse_condition(labels.positive), collection.ids)
    unjudged = set() if labels.unjudged is None else read_pairs(labels.unjudged, EVERY, collection.ids, expected=False)
    matcher, suspected = collection.build_matcher(policy)
    evidence = found_evidence(collection, policy, matcher, suspected)
    pairs = set(evidence)
    groups = group(collection.columns, policy, None, matcher, suspected).lead.tolist()
    sets = components(collection.ids, true)
    return Evaluation(
        documents=len(collection.ids),
        labelled=count_labelled(labels.path, in_labels & ids, len(ids)),
        pairs=PairFigures.measure(true - unjudged, pairs - unjudged),
        evidence=count_evidence({pair: name for pair, name in evidence.items() if pair not in unjudged}, true),
        ari=adjusted_rand(sets, groups),
        sets=SetFigures.measure(sets, groups),
        refused=collection.refused,
        unknown=sorted(in_labels - ids - collection.left_out),
        mistakes=SignedDocuments(collection.ids, collection.columns, policy, matcher).worst(
            true - unjudged, pairs - unjudged
        ),
        took_s=round(perf_counter() - began, 2),
    )


def found_pairs(
    collection: Collection, policy: Policy, matcher: LongTextMatcher | None = None, long_index: KeyIndex | None = None
) -> set[Pair]:
    """Return all pairs that the decision joins, by their ids; see `found_evidence`."""
    return set(found_evidence(collection, policy, matcher, long_index))


def found_evidence(
    collection: Collection, policy: Policy, matcher: LongTextMatcher | None = None, long_index: KeyIndex | None = None
) -> dict[Pair, str]:
    """Return all pairs that the decision joins, by their ids, each with the kind of its strongest evidence."""
    if matcher is None:
        matcher, long_index = collection.build_matcher(policy)
    pairs = duplicates(collection.columns, policy, matcher, long_index)
    names = collection.ids
    return {
        order_pair(names[a], names[b]): evidence.TABLE.name(code)
        for a, b, code in zip(pairs.row.tolist(), pairs.earlier.tolist(), pairs.code.tolist(), strict=True)
    }


def sign_collection(
    items: Iterable[Document | Refusal],
    tables: Tables,
    progress: Callable[[int], None] = lambda _: None,
    filters: Sequence[Filter] = (),
) -> Collection:
    """Sign documents in memory, keeping only packed values and long signatures."""
    refusals: list[Refusal] = []
    left_out: set[str] = set()
    packed: dict[str, bytes] = {}
    long_signatures: dict[str, bytes] = {}
    for document, signatures in sign_stream(
        filter_documents(split_refusals(refusals, items), filters, left_out), tables
    ):
        if document.id in packed:
            raise UsageError(f"the id {document.id!r} occurs twice", "labels need ids that name one document")
        packed[document.id] = pack(document, signatures)
        if signatures.long:
            long_signatures[document.id] = signatures.long
        progress(len(packed))
    if not packed:
        raise UsageError("there are no documents to evaluate", "name files with documents that pass the filters")
    left_out.update(refusal.id for refusal in refusals)
    return Collection(
        list(packed), PackedColumns.decode(list(packed.values())), long_signatures, left_out, len(refusals)
    )


def split_refusals(refusals: list[Refusal], items: Iterable[Document | Refusal]) -> Iterator[Document]:
    """Yield the documents, and collect the refusals."""
    for item in items:
        if isinstance(item, Refusal):
            refusals.append(item)
        else:
            yield item


def filter_documents(
    documents: Iterable[Document], filters: Sequence[Filter], left_out: set[str]
) -> Iterator[Document]:
    """Yield the documents that pass all filters, and record the ids of the other documents."""
    for document in documents:
        if all(matches_filter(document, each) for each in filters):
            yield document
        else:
            left_out.add(document.id)


def matches_filter(document: Document, condition: Filter) -> bool:
    """Return whether a document has a filter's value; for a list in `meta`, one matching entry is enough.

    >>> matches_filter(Document("a", "text", meta={"topics": ["grain", "wheat"]}), Filter("meta.topics", "wheat"))
    True
    """
    if condition.field.startswith("meta."):
        value = document.meta.get(condition.field.removeprefix("meta."))
    elif condition.field in ("id", "source", "language"):
        value = getattr(document, condition.field)
    else:
        raise UsageError(
            f"--filter {condition.field} cannot be used here", "allowed: id, source, language and meta.NAME"
        )
    return condition.value in map(str, value if isinstance(value, list | tuple) else [value])
