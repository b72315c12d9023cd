"""The table of evidence and the figures of a policy: whoever decides, looks up or explains reads them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.grouped_search.api import reason
from ibidem.index.groups import IndexGroups
from ibidem_dedupe import evidence
from ibidem_dedupe.candidates import Portion, keys_of
from ibidem_dedupe.column_rules import Bools, Pairs
from ibidem_dedupe.evidence import KINDS, Kind, Table
from ibidem_dedupe.leader_clustering import group
from ibidem_dedupe.overrides import Overrides
from ibidem_dedupe.pair_evidence import Evidence, Guards, build_evidence
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy, min_equal_slots, min_shared_terms
from ibidem_ingest.signatures.packed import Packed, PackedColumns
from ibidem_ingest.signatures.schema import FULL_SET
from ibidem_workers.groups.settle import Row, Rules
from support.some import some
from support.windows import pack_signatures, signatures, value


def same_count(a: Packed, b: Packed, policy: Policy, guards: Guards) -> Evidence | None:
    """Near where two texts have as many words: good for a test alone."""
    del policy
    return build_evidence("near", "count", 1.0, {"words": a.length}, guards) if a.length == b.length else None


def same_counts(pairs: Pairs, policy: Policy) -> Bools:
    del policy
    return pairs.has_equal(pairs.columns.length)


def count_keys(columns: PackedColumns, policy: Policy, words: Bools) -> Iterator[Portion]:
    del policy
    yield keys_of(columns.length[:, None].astype(np.uint64), words)


def told(why: Mapping[str, object]) -> str:
    return f"both have {why['words']} words"


TOY = Kind("count", "as many words", told, decide=same_count, verify=same_counts, keys=count_keys)


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


def test_a_kind_that_a_policy_takes_away_does_not_count() -> None:
    names = {kind.name for kind in evidence.TABLE.counted(Policy(slots=None))}
    assert names == {"content", "termvector", "fingerprint", "characters"}
    assert {kind.name for kind in evidence.TABLE.counted(Policy("identical"))} == {"content"}
    assert {"shingles", "pages"} <= {kind.name for kind in evidence.TABLE.counted(Policy("partial"))}


def test_two_thirds_in_common_are_the_default_figures() -> None:
    terms, default = some(Policy().similar(66).terms), some(Policy().terms)
    for size in (20, 35, 60):
        assert min_shared_terms(terms.share, size) == min_shared_terms(default.share, size)
    assert Policy().similar(66).slots == Policy().slots


def test_all_terms_are_shared_at_a_share_of_one_and_none_more() -> None:
    for size in range(1, FULL_SET + 1):
        assert min_shared_terms(1.0, size) == size


def test_the_percentage_printed_is_one_that_similarity_takes() -> None:
    for shared in range(100):
        said = int(evidence.shared_text({"shared": shared, "of": 100}).split()[1])
        assert min_equal_slots(said) <= shared < min_equal_slots(said + 1)


PAGE = (Path(__file__).parents[2] / "docs" / "levels.md").read_text(encoding="utf-8")


def test_the_page_tells_the_default_figures() -> None:
    policy = Policy()
    assert (some(policy.slots).equal, policy.profile) == (50, None)
    assert "half of 100 samples equal" in PAGE
    terms, printed = some(policy.terms), some(policy.fingerprint)
    rare = f"{round(terms.share * terms.smallest)} of the {terms.smallest} rarest terms shared"
    assert f"| {rare}, lengths within {100 - round(100 * terms.lengths)} %, numbers that agree |" in PAGE
    length = f"lengths within {100 - round(100 * printed.lengths)} %"
    assert f"| equal, {length}, equal numbers, at least {printed.shortest} words |" in PAGE


@given(st.integers(20, 100))
def test_another_level_or_window_leaves_all_figures_as_they_are(percent: int) -> None:
    policy = Policy(window_days=42).similar(percent)
    assert policy.at("partial").at("near") == policy
    assert policy.within(3).within(42) == policy
