"""The table of evidence: whoever decides, looks up or explains reads it, and a new kind is one row."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest

from ibidem.grouped_search.explanations import reason
from ibidem.index.groups import IndexGroups
from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import KeyIndex, shared_keys
from ibidem_dedupe.column_rules import Bools, Pairs
from ibidem_dedupe.decision import decide
from ibidem_dedupe.evidence import KINDS, Kind, Table
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import Overrides
from ibidem_dedupe.pair_evidence import Evidence, Guards, build_evidence
from ibidem_dedupe.policy import Policy
from ibidem_ingest.signatures.packed import Packed
from ibidem_ingest.signatures.packed_columns import PackedColumns
from ibidem_workers.groups.block import Row, Rules
from support.windows import pack_signatures, signatures, value


def same_count(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near where two texts have as many words: good for a test alone."""
    del policy
    return build_evidence("near", "count", 1.0, {"words": a.length}, guards) if a.length == b.length else None


def same_counts(pairs: Pairs, policy: Policy) -> Bools:
    del policy
    return pairs.has_equal(pairs.columns.length)


def count_index(columns: PackedColumns, policy: Policy, words: Bools) -> Iterator[KeyIndex]:
    del policy
    yield shared_keys(columns.length[:, None].astype(np.uint64), words)


def told(why: Mapping[str, object]) -> str:
    return f"both have {why['words']} words"


TOY = Kind("count", "as many words", told, decide=same_count, verify=same_counts, keys=count_index)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row more."""
    monkeypatch.setattr(evidence, "TABLE", Table((*KINDS, TOY)))


@pytest.mark.usefixtures("toy")
def test_a_new_kind_of_evidence_is_a_module_and_a_row_of_the_table() -> None:
    one, other = signatures(1), replace(signatures(2), length=signatures(1).length)
    values = [value(one, "a"), value(other, "b"), value(replace(other, length=other.length + 1), "c")]
    columns = PackedColumns.decode(values)
    grouping = group(columns, Policy())
    found = decide(pack_signatures(one), pack_signatures(other), Policy())
    assert found
    assert grouping.lead.tolist() == [0, 0, 2]
    assert reason({**found.why, "days_apart": None}).startswith(f"both have {one.length} words")
    groups = IndexGroups("near", [("news", name) for name in "abc"], grouping, 0, {})
    assert groups.kinds == {"count": 1}
    rows = [Row(("news", name), at, packed or b"") for at, (name, packed) in enumerate(zip("abc", values, strict=True))]
    (join,) = Rules(Policy(), Overrides()).joins([], rows)
    assert (join.name[1], join.lead[1], join.level) == ("b", "a", "near")


def test_without_the_row_the_two_are_no_duplicates() -> None:
    one, other = signatures(1), replace(signatures(2), length=signatures(1).length)
    assert decide(pack_signatures(one), pack_signatures(other), Policy()) is None


def test_codes_are_places_in_the_table_and_names_are_found_by_them() -> None:
    assert [evidence.TABLE.name(evidence.TABLE.code(kind.name)) for kind in KINDS] == [kind.name for kind in KINDS]
    assert evidence.TABLE.name(0) == ""
    assert len({kind.name for kind in KINDS}) == len(KINDS) < 255


def test_a_kind_that_a_policy_takes_away_does_not_count() -> None:
    names = {kind.name for kind in evidence.TABLE.counted(Policy(slots=None))}
    assert names == {"content", "termvector", "fingerprint", "characters"}
    assert {kind.name for kind in evidence.TABLE.counted(Policy("identical"))} == {"content"}
    assert {"shingles", "pages"} <= {kind.name for kind in evidence.TABLE.counted(Policy("partial"))}
