"""The figures that `ibidem regroup` settles groups by."""

import pytest

from ibidem.cli.regroup import stored_policy
from ibidem_dedupe.parameters import PRESETS
from ibidem_engines.group_checkpoint import POLICY


@pytest.mark.parametrize("preset", ["scans", "books"])
def test_a_preset_for_scans_settles_groups_by_runs_of_characters(preset: str) -> None:
    assert stored_policy({"dedupe_preset": preset}) == PRESETS[preset].policy


def test_other_figures_do_without_runs_of_characters_which_take_long_to_look_up() -> None:
    assert stored_policy({"dedupe_preset": "law"}).characters is None
    assert stored_policy({"dedupe_similarity": "66"}).characters is None
    assert POLICY.characters is None
