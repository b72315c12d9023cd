"""Match of documents against the settled leads, by look-ups in the engine: every lead that a rule accepts has a key."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor

from ibidem_dedupe import evidence
from ibidem_dedupe.evidence import SharedCount
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.policy import Policy
from ibidem_engines.stored_groups import GroupedDocument, LeadKeys, Marks, Several, StoredGroups, index_places
from ibidem_ingest.signatures.lookup_keys import LookupField, content_key, lookup_keys, lookup_keys_batch
from ibidem_ingest.signatures.packed import Packed, unpack
from ibidem_workers.groups.block import Join, Row, Rules


@dataclass(frozen=True, slots=True)
class LookUpMatch:
    """Matches documents against unchanging leads."""

    store: StoredGroups  # the index's groups
    rules: Rules  # the rules that documents are settled by
    marks: Marks  # up to which write of each part leads are settled
    # Documents that changed groups since searches were last refreshed, which may still show them as leads of the old.
    recent_changes: Collection[DocumentRef] = frozenset()

    def joins(self, rows: Sequence[Row]) -> list[Join]:
        """Return the joins of a block, including joins among its rows; all other rows become leads."""
        return self.rules.joins(self._leads(rows), rows)

    def _leads(self, rows: Sequence[Row]) -> list[Row]:
        """Look up the possible leads of rows, copies first, since copies need no further look-up."""
        leads = self._find(rows, copies=True)
        rest = self.rules.originals(self._sort(leads), rows)
        known = {lead.name: lead for lead in [*leads, *self._find(rest, copies=False)]}
        return self._sort(known.values())

    def _sort(self, leads: Iterable[Row]) -> list[Row]:
        """Sort leads by index and sequence number."""
        places = index_places(self.store)
        return sorted(leads, key=lambda row: (places.get(row.name[0], len(places)), row.order, row.name))

    def _find(self, rows: Sequence[Row], *, copies: bool) -> list[Row]:
        """Look up settled leads, without leads that have joined a group meanwhile."""
        lookups = [each for each in self._lookups(rows, copies=copies) if each.values or each.several]
        hits = self.store.with_value(lookups, self.marks) if lookups and any(self.marks.values()) else []
        leads = {(hit.index, hit.id): Row((hit.index, hit.id), hit.order, hit.packed or b"") for hit in hits}
        row_names = {row.name for row in rows}
        partners = self.rules.overrides.partners(row_names)
        leads |= {row.name: row for row in self._override_leads(partners - leads.keys())}
        return [row for name, row in leads.items() if name not in self.recent_changes and name not in row_names]

    def _lookups(self, rows: Sequence[Row], *, copies: bool) -> list[LeadKeys]:
        """Return the look-up keys of each document with words."""
        read = [(packed, row.value) for row in rows if (packed := unpack(row.value)) is not None and packed.length]
        if copies:
            return [content_keys(packed) for packed, _ in read]
        keys = lookup_keys_batch([value for _, value in read])
        policy = self.rules.policy
        return [near_keys(packed, policy, row_keys) for (packed, _), row_keys in zip(read, keys, strict=True)]

    def _override_leads(self, names: set[DocumentRef]) -> Iterable[Row]:
        return [make_row(each) for each in self.store.read(sorted(names), self.marks) if each.lead] if names else ()


def make_row(document: GroupedDocument) -> Row:
    """Return a document as a row to settle."""
    return Row(ref(document), document.name.order, document.packed)


def ref(document: GroupedDocument) -> DocumentRef:
    """Return index and id of a document."""
    return document.name.index, document.name.id


def content_keys(packed: Packed) -> LeadKeys:
    """Return the look-up key of identical documents."""
    return LeadKeys({"content": [content_key(packed)]})


def near_keys(packed: Packed, policy: Policy, keys: Mapping[LookupField, Sequence[str]] | None = None) -> LeadKeys:
    """Return the look-up keys of near duplicates."""
    policy = policy.candidates
    kinds = [(kind.lookup, kind) for kind in evidence.TABLE.counted(policy) if kind.lookup and kind.level == "near"]
    if not kinds:
        return LeadKeys({})
    keys = lookup_keys(packed) if keys is None else keys
    present = [(lookup_field, kind) for lookup_field, kind in kinds if lookup_field in keys]
    several = {
        lookup_field: _require(keys[lookup_field], kind.several(policy), packed.length)
        for lookup_field, kind in present
        if kind.several
    }
    return LeadKeys(
        {lookup_field: keys[lookup_field] for lookup_field, _ in present if lookup_field not in several}, several
    )


def _require(values: Sequence[str], count: SharedCount, length: int) -> Several:
    """Require a number of common values, and a length within a ratio of the document's length."""
    ratio = count.lengths or 1e-9
    return Several(values, count.min_shared, ceil(length * ratio), min(floor(length / ratio), 2**31 - 1))
