"""Inspection: the duplicates of one document in the whole index."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ibidem.grouped_search.explanations import relation_name
from ibidem.grouped_search.scope import build_lookup, cut_fields
from ibidem.grouped_search.window import Window
from ibidem.index.documents import fetch_hits
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.pairs import LongSignatureCache
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, StoredDocument
from ibidem_engines.ledger import load_overrides
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.errors import MissingDocument, UsageError
from ibidem_ingest.signatures.lookup_keys import LookupField
from ibidem_ingest.signatures.packed import LONG, NO_DATE, Packed


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A duplicate of the inspected document."""

    index: str
    id: str
    title: str  # its title, or an empty string
    evidence: Evidence  # evidence that makes it one

    def as_json(self) -> dict[str, object]:
        """Return the duplicate as shown by `ibidem inspect --json`."""
        return {
            "id": self.id,
            "title": self.title,
            "level": self.evidence.level,
            "relation": relation_name(self.evidence),
            "score": self.evidence.score,
            "why": dict(self.evidence.why),
        }


@dataclass(frozen=True, slots=True)
class Inspection:
    """A document and its duplicates."""

    id: str  # the document's id
    title: str  # its title, or an empty string
    signatures: Mapping[str, object]  # its signatures, by name
    duplicates: Sequence[Duplicate]  # its duplicates, identical ones first, then the higher score
    capped: Sequence[LookupField]  # classes of values that too many documents carry; duplicates may be missing

    def as_json(self) -> dict[str, object]:
        """Return the output of `ibidem inspect --json`."""
        return {
            "id": self.id,
            "title": self.title,
            "signatures": dict(self.signatures),
            "duplicates": [each.as_json() for each in self.duplicates],
            "capped": list(self.capped),
        }


def inspect(
    engine: Engine, name: str, policy: Policy | None = None, overrides: Iterable[Override] | None = None
) -> Inspection:
    """Find the duplicates of a document in the whole index."""
    policy = policy or Policy()
    document, packed = read_signed(engine, name)
    all_overrides = load_overrides(engine) if overrides is None else overrides
    own_overrides = [each for each in all_overrides if hit_ref(document) in (each.a, each.b)]
    window, capped = find_candidates(engine, document, packed, policy, own_overrides)
    evidence = {row: decision for row in range(1, len(window.hits)) if (decision := window.evidence(row, 0))}
    documents = {
        (each.index, each.document.id): each for each in engine.fetch([window.name(row) for row in (0, *evidence)])
    }
    return Inspection(
        id=name,
        title=title(documents.get(hit_ref(document))),
        signatures=packed_facts(packed),
        duplicates=[
            Duplicate(*window.name(row), title(documents.get(window.name(row))), decision)
            for row, decision in sorted(
                evidence.items(), key=lambda each: (each[1].level != "identical", -each[1].score, window.name(each[0]))
            )
        ],
        capped=capped,
    )


def common_duplicates(engine: Engine, a: str, b: str) -> list[str]:
    """Return the documents that two documents both repeat at the level `near`, by id; none if one is not signed."""
    try:
        duplicates_a, duplicates_b = (inspect(engine, name, Policy()).duplicates for name in (a, b))
    except UsageError:
        return []
    return sorted({each.id for each in duplicates_a} & {each.id for each in duplicates_b})


def find_candidates(
    engine: Engine, document: Hit, packed: Packed, policy: Policy, overrides: Sequence[Override]
) -> tuple[Window, Sequence[LookupField]]:
    """Find the candidates for duplicates of a document."""
    long_signatures = LongSignatureCache(engine.long_signatures)
    needs_long = policy.level == "partial" and policy.related is not None and packed.flags & LONG
    long_signature = long_signatures.get(hit_ref(document)) if needs_long else None
    (result,) = engine.find([build_lookup(packed, policy, long_signature)])
    # Documents that people have marked as the same, which look-ups may miss.
    same = {name for word in overrides if word.verdict == "same" for _, name in (word.a, word.b)}
    hits = {hit_ref(hit): hit for hit in [*result.hits, *fetch_hits(engine, sorted(same))]}
    hits.pop(hit_ref(document), None)
    pairs = ((0, row) for row in range(1, len(hits) + 1))
    rows = [document, *hits.values()]
    window = Window.group(rows, policy, overrides, long_signatures=long_signatures, candidates=pairs)
    return window, cut_fields(result)


def read_signed(engine: Engine, name: str) -> tuple[Hit, Packed]:
    """Return a document's hit and its packed value."""
    hit = next(fetch_hits(engine, [name]), None)
    if hit is None:
        raise MissingDocument(f"no document {name!r} in index {engine.index!r}", "find ids with: ibidem search QUERY")
    packed = Window.group([hit], Policy()).packed_value(0)
    if packed is None:
        raise UsageError(f"document {name!r} carries no signatures", "ingest it again to sign it")
    return hit, packed


def hit_ref(hit: Hit) -> DocumentRef:
    """Return index and id of a hit."""
    return hit.index, hit.id


def title(entry: StoredDocument | None) -> str:
    """Return a document's title; empty if the document was deleted meanwhile."""
    return entry.document.title if entry else ""


def packed_facts(packed: Packed) -> dict[str, object]:
    """Return the contents of a packed value, by the names of signatures.md."""
    hashes = {
        "content": (f"ch{packed.scheme}", packed.content),
        "fingerprint": ("fp1", packed.fingerprint),
        "profile": ("tp1", packed.profile),
    }
    return {
        "length": packed.length,
        "shingles": packed.shingles,
        "days": [None if day == NO_DATE else day for day in (packed.date_from, packed.date_to)],
        **{name: f"{scheme}:{value.hex()}" if any(value) else None for name, (scheme, value) in hashes.items()},
        "idf": packed.idf.hex() if any(packed.idf) else None,
        "terms": len(packed.terms),
        "numbers": packed.numbers,
        "slots": len(packed.slots),
    }
