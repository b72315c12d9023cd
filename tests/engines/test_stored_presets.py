"""Presets of an index, learned ones among them, are read with checks, and a bad one is refused by name."""

from dataclasses import asdict
from pathlib import Path

import pytest

from ibidem.cli.regroup import stored_policy
from ibidem_core.errors import DamagedRecord
from ibidem_dedupe.parameters import PRESETS, Preset
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import pair_policy
from ibidem_engines.engine import Engine
from ibidem_engines.stored_presets import StoredPreset, lookup_presets, save_preset
from ibidem_ingest.errors import UsageError
from support.learned_rules import make_rule

POLICY = Policy.from_rule(make_rule())


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/index.sqlite"


def test_a_learned_preset_is_read_as_it_was_stored(engine: Engine) -> None:
    save_preset(engine, "ours", Preset(POLICY, "learned"))
    presets = lookup_presets(engine, "ours")
    assert presets["ours"].policy == POLICY
    assert stored_policy({"dedupe_preset": "ours"}, presets) == POLICY


@pytest.mark.parametrize(
    ("change", "said"),
    [({"intercept": 9.0}, "changed after it was learned"), ({"scheme": "pf0"}, "'pf0'"), ({"weights": []}, "runs")],
)
def test_a_learned_preset_that_cannot_be_used_is_refused_with_the_reason(
    engine: Engine, change: dict[str, object], said: str
) -> None:
    record = asdict(StoredPreset("ours", "learned", POLICY))
    record["policy"]["learned"] |= change
    engine.put_records("presets", {"ours": record})
    with pytest.raises(DamagedRecord, match=said):
        lookup_presets(engine, "ours")
    assert lookup_presets(engine, "news") == PRESETS
    assert "ours" not in lookup_presets(engine, "another")


def test_a_learned_preset_has_no_similarity() -> None:
    presets = {"ours": Preset(POLICY, "learned")}
    with pytest.raises(UsageError, match="dedupe_similarity cannot be combined with dedupe_preset=ours"):
        pair_policy({"dedupe_preset": "ours", "dedupe_similarity": "80"}, presets=presets)
