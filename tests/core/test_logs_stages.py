"""Logs show how long each stage takes."""

import pytest

from ibidem_core.logs import Stages


def test_a_stage_that_comes_twice_is_added_up_and_one_that_fails_counts() -> None:
    stages = Stages()
    with stages("sign"):
        pass
    milliseconds = stages.ms()["sign_ms"]
    with pytest.raises(ValueError, match="text"), stages("sign"):
        raise ValueError("text")
    assert list(stages.ms()) == ["sign_ms", "all_ms"]
    assert stages.ms()["sign_ms"] >= milliseconds
