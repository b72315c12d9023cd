"""Scope of a search: duplicates of a page's leads among all matches, or in the whole index.

One look-up by the leads' clues. Each candidate is then grouped behind the window, so that it joins the first of *all*
its leads that it duplicates, and is shown here only if that one is here.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ibidem.grouped_search.backend import SearchBackend, document_ref
from ibidem.grouped_search.window import Window
from ibidem_dedupe import evidence
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.pairs import MIN_SHARED
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.engine import CONTENT_HITS, LookupResult, SignatureLookup
from ibidem_engines.requests import RequestFlow
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, long_clues, lookup_keys
from ibidem_ingest.signatures.packed import Packed


@dataclass(frozen=True, slots=True)
class ScopeMatches:
    """The duplicates that a look-up found for leads of a window."""

    hits: Sequence[Hit] = ()  # documents beyond the window, each once
    outside: frozenset[DocumentRef] = frozenset()  # the documents that do not match the query
    # For each lead's row the documents that carry one of its clues.
    carriers: Mapping[int, Collection[DocumentRef]] = field(default_factory=dict)
    # For each lead's row the clues whose hits were cut.
    capped: Mapping[int, Sequence[LookupField]] = field(default_factory=dict)


def build_lookup(packed: Packed, policy: Policy, signatures: LongSignatures | None = None) -> SignatureLookup:
    """Return the look-up of a document's duplicates."""
    policy = policy.candidates
    kinds = {kind.lookup: kind for kind in evidence.TABLE.counted(policy) if kind.lookup}
    values = {clue: keys for clue, keys in lookup_keys(packed).items() if clue in kinds}
    values |= long_clues(signatures)
    min_shared = MIN_SHARED | {clue: kind.several(policy).min_shared for clue, kind in kinds.items() if kind.several}
    return SignatureLookup(
        values, {clue: count for clue, count in min_shared.items() if clue in values}, own_id=packed.id
    )


def look_up_duplicates(
    backend: SearchBackend, window: Window, leads: Sequence[int], request: DedupeRequest
) -> RequestFlow[ScopeMatches]:
    """Look up the duplicates of some leads."""
    if request.scope == "window":
        return ScopeMatches()
    leads_with_text = [
        (row, packed) for row in leads if (packed := window.packed_value(row)) is not None and packed.length
    ]
    if not leads_with_text:
        return ScopeMatches()
    searches = [build_lookup(packed, request.policy, window.long_signatures(row)) for row, packed in leads_with_text]
    matching = yield from backend.find(searches, whole_index=False)
    results = (yield from backend.find(searches, whole_index=True)) if request.scope == "index" else matching
    rows = [row for row, _ in leads_with_text]
    window_refs = {window.name(row) for row in range(window.ranked)}
    hits = {document_ref(hit): hit for hit in merge_hits(results) if document_ref(hit) not in window_refs}
    return ScopeMatches(
        hits=[hits[name] for name in sorted(hits)],
        outside=frozenset(hits.keys() - set(map(document_ref, merge_hits(matching)))),
        carriers={row: set(map(document_ref, each.hits)) for row, each in zip(rows, results, strict=True)},
        capped={row: cut for row, each in zip(rows, results, strict=True) if (cut := cut_fields(each))},
    )


def cut_fields(result: LookupResult) -> Sequence[LookupField]:
    """Return the look-up fields whose hits were cut, by the policy's limit or because copies are only counted."""
    return [*result.capped, "content"] if result.copies > min(len(result.hits), CONTENT_HITS) else result.capped


def merge_hits(results: Iterable[LookupResult]) -> Iterable[Hit]:
    """Merge the hits of several look-ups."""
    return (hit for each in results for hit in each.hits)


def append_matches(window: Window, scope_matches: ScopeMatches, overrides: Iterable[Override]) -> Window:
    """Group the documents found outside the window; groups inside it do not change.

    A document that joins a lead by evidence whose look-up values they do not share, though it was looked up for another
    lead, is left out: it comes with the window's later steps.
    """
    if not scope_matches.hits:
        return window
    words = list(overrides)
    extended = extend_window(window, scope_matches.hits, scope_matches, words)
    leads = extended.grouping.lead[window.ranked :].tolist()
    matches = [
        hit
        for hit, lead in zip(scope_matches.hits, leads, strict=True)
        if lead >= window.ranked
        or document_ref(hit) in scope_matches.carriers.get(lead, ())
        or lead not in scope_matches.carriers
    ]
    return extended if len(matches) == len(scope_matches.hits) else extend_window(window, matches, scope_matches, words)


def extend_window(
    window: Window, matches: Sequence[Hit], scope_matches: ScopeMatches, overrides: Iterable[Override]
) -> Window:
    """Group hits after the window."""
    hits = [*window.hits[: window.ranked], *matches]
    row = {document_ref(hit): window.ranked + offset for offset, hit in enumerate(matches)}
    candidates = ((lead, row[name]) for lead, names in scope_matches.carriers.items() for name in names if name in row)
    return Window.group(
        hits,
        window.policy,
        overrides,
        ranked=window.ranked,
        long_signatures=window.matcher.long_signatures,
        candidates=candidates,
        overlaps=window.overlaps,
    )


def check_scope(request: DedupeRequest) -> None:
    """Refuse a scope that is not supported."""
    if request.scope == "window":
        return
    if request.policy.terms is not None and not request.policy.terms.full:
        raise UsageError(
            f"dedupe_preset={request.preset!r} compares padded sets, which cannot be looked up",
            "use dedupe_scope=window with it, or another preset",
        )
