"""The figures that `ibidem regroup` settles groups by."""

from dataclasses import replace
from pathlib import Path

import pytest

from dedupe.test_collection import prose
from ibidem.cli.regroup import stored_policy
from ibidem_dedupe.parameters import PRESETS
from ibidem_dedupe.policy import CLEAN, MISREAD
from ibidem_engines.connect import open_engine
from ibidem_engines.group_checkpoint import POLICY, GroupCheckpoint, parse_policy
from ibidem_engines.signing import records
from ibidem_ingest.document import Document
from ibidem_workers.groups.service import regroup, settle_all
from support.books import misread_text
from support.general_tables import general_tables


@pytest.mark.parametrize("preset", ["scans", "books"])
def test_a_preset_for_scans_settles_groups_by_runs_of_characters(preset: str) -> None:
    assert stored_policy({"dedupe_preset": preset}) == PRESETS[preset].policy


def test_other_figures_do_without_runs_of_characters_which_take_long_to_look_up() -> None:
    assert stored_policy({"dedupe_preset": "law"}).characters is None
    assert stored_policy({"dedupe_similarity": "66"}).characters is None
    assert POLICY.characters is None


def test_all_groups_are_settled_by_the_rule_of_the_collection_unless_figures_are_named(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news")
    engine.create()
    texts = [prose(seed) for seed in range(250)]
    engine.write(
        list(records([Document(str(at), text, language="en") for at, text in enumerate(texts)], general_tables()))
    )
    settle_all(engine)
    assert GroupCheckpoint.read(engine).origin == "default"
    clean = regroup(engine, everything=True)
    assert parse_policy(clean.policy) == replace(CLEAN, characters=None)
    scans = [Document(f"scan {at}", misread_text(text, 0.3), language="en") for at, text in enumerate(texts)]
    engine.write(list(records(scans, general_tables())))
    assert parse_policy(regroup(engine, everything=True).policy) == MISREAD
    named = regroup(engine, everything=True, policy=PRESETS["law"].policy)
    assert parse_policy(regroup(engine, everything=True).policy) == parse_policy(named.policy)
    assert regroup(engine, everything=True, policy=stored_policy({"dedupe_preset": "none"})).origin == "collection"
    engine.close()
