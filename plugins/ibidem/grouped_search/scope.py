"""Scope: duplicates of a page's leads beyond the window, among all matches or in the whole index.

One look-up by the leads' clues. Each candidate is then grouped behind the window, so that it joins the first of *all*
its leads that it duplicates, and is shown here only if that one is here.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ibidem.dedupe.long_candidates import LEAST
from ibidem.dedupe.overrides import DocumentRef, Override
from ibidem.dedupe.request import DedupeRequest
from ibidem.dedupe.window import Window
from ibidem.grouped_search.backend import SearchBackend
from ibidem_engines.cluster.requests import RequestFlow
from ibidem_engines.engine import CONTENT_HITS, Hit, LookupResult, SignatureLookup
from ibidem_engines.query import Query
from ibidem_ingest.errors import UsageError
from ibidem_ingest.pairs.decision import Policy
from ibidem_ingest.signatures.long_text import LongSignatures
from ibidem_ingest.signatures.lookup_keys import LookupField, long_clues, lookup_keys
from ibidem_ingest.signatures.packed import Packed


@dataclass(frozen=True, slots=True)
class ScopeMatches:
    """What a look-up found for leads of a window.

    Args:
        hits: Documents beyond the window, each once.
        outside: Those that do not match the query.
        carried: For each lead's row the documents that carry one of its clues.
        capped: For each lead's row the clues whose hits were cut.
    """

    hits: Sequence[Hit] = ()
    outside: frozenset[DocumentRef] = frozenset()
    carried: Mapping[int, Collection[DocumentRef]] = field(default_factory=dict)
    capped: Mapping[int, Sequence[LookupField]] = field(default_factory=dict)


def search_for(packed: Packed, policy: Policy, long: LongSignatures | None = None) -> SignatureLookup:
    """Return the look-up of a document's duplicates.

    Args:
        packed: Its packed value.
        policy: The decision; only clues that can be evidence under it are looked up.
        long: Its long signatures, where it has some and the policy asks for relations.
    """
    wanted: set[LookupField] = {"content"}
    if policy.level != "identical":
        wanted |= {clue for clue, counts in counted_fields(policy).items() if counts}
    values = {clue: keys for clue, keys in lookup_keys(packed).items() if clue in wanted}
    values |= long_clues(long)
    needed = dict(LEAST) if policy.characters is None else {**LEAST, "characters": policy.characters.pairs}
    return SignatureLookup(values, {clue: least for clue, least in needed.items() if clue in values}, own=packed.id)


def counted_fields(policy: Policy) -> Mapping[LookupField, bool]:
    """Tell for each clue whether a policy counts what it leads to."""
    return {
        "fingerprint": policy.fingerprint is not None,
        "profile": policy.profile is not None,
        "bands": policy.slots is not None,
        "rare": policy.terms is not None,
        "characters": policy.characters is not None,
    }


def look_up(
    backend: SearchBackend, window: Window, leads: Sequence[int], request: DedupeRequest
) -> RequestFlow[ScopeMatches]:
    """Look up the duplicates of some leads.

    Args:
        backend: Looks up signature values; the caller's filters hold in every scope.
        window: The leads' window; what is in it is no find.
        leads: Their rows.
        request: The scope and the decision.
    """
    if request.scope == "window":
        return ScopeMatches()
    signed = [(row, packed) for row in leads if (packed := window.packed(row)) is not None and packed.length]
    if not signed:
        return ScopeMatches()
    searches = [search_for(packed, request.policy, window.long(row)) for row, packed in signed]
    matching = yield from backend.find(searches, everywhere=False)
    results = (yield from backend.find(searches, everywhere=True)) if request.scope == "index" else matching
    rows = [row for row, _ in signed]
    here = {window.name(row) for row in range(window.ranked)}
    hits = {name_of(hit): hit for hit in all_found(results) if name_of(hit) not in here}
    return ScopeMatches(
        hits=[hits[name] for name in sorted(hits)],
        outside=frozenset(hits.keys() - set(map(name_of, all_found(matching)))),
        carried={row: set(map(name_of, each.hits)) for row, each in zip(rows, results, strict=True)},
        capped={row: cut for row, each in zip(rows, results, strict=True) if (cut := cut_fields(each))},
    )


def cut_fields(result: LookupResult) -> Sequence[LookupField]:
    """Return the clues whose hits were cut: at the policy's limit, or copies so many that they are only counted."""
    return [*result.capped, "content"] if result.same > min(len(result.hits), CONTENT_HITS) else result.capped


def all_found(results: Iterable[LookupResult]) -> Iterable[Hit]:
    """Return the hits of several look-ups."""
    return (hit for each in results for hit in each.hits)


def name_of(hit: Hit) -> DocumentRef:
    """Return index and id of a hit."""
    return hit.index, hit.id


def append_matches(window: Window, beyond: ScopeMatches, overrides: Iterable[Override]) -> Window:
    """Group what was found behind the window; nothing above changes its group.

    A document that joins a lead by evidence whose look-up values they do not share, though it was looked up for another
    lead, is left out: it comes with the window's later steps.
    """
    if not beyond.hits:
        return window
    words = list(overrides)
    grouped = grouped_behind(window, beyond.hits, beyond, words)
    leads = grouped.grouping.lead[window.ranked :].tolist()
    matches = [
        hit
        for hit, lead in zip(beyond.hits, leads, strict=True)
        if lead >= window.ranked or name_of(hit) in beyond.carried.get(lead, ()) or lead not in beyond.carried
    ]
    return grouped if len(matches) == len(beyond.hits) else grouped_behind(window, matches, beyond, words)


def grouped_behind(
    window: Window, matches: Sequence[Hit], beyond: ScopeMatches, overrides: Iterable[Override]
) -> Window:
    """Group hits behind the window."""
    hits = [*window.hits[: window.ranked], *matches]
    row = {name_of(hit): window.ranked + at for at, hit in enumerate(matches)}
    suspected = ((lead, row[name]) for lead, names in beyond.carried.items() for name in names if name in row)
    return Window.of(
        hits,
        window.policy,
        overrides,
        ranked=window.ranked,
        long_signatures=window.related.long_signatures,
        suspected=suspected,
    )


def check_scope(query: Query, request: DedupeRequest) -> None:
    """Refuse a scope that cannot be kept to.

    Raises:
        UsageError: A preset that look-up cannot serve; or the whole index for a query in the engine's own language,
            whose filters cannot be told from what it asks for.
    """
    if request.scope == "window":
        return
    if request.policy.terms is not None and not request.policy.terms.full:
        raise UsageError(
            f"dedupe_preset={request.preset!r} compares padded sets, which cannot be looked up",
            "use dedupe_scope=window with it, or another preset",
        )
    if request.scope == "index" and query.native is not None:
        raise UsageError(
            "dedupe_scope=index does not go with a query in the engine's own language: its filters would not be kept",
            "use dedupe_scope=matches",
        )
