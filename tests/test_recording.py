"""The recording of a terminal that README shows, `docs/drawings/recording.svg`."""

import runpy
from pathlib import Path

import pytest

DRAWINGS = Path(__file__).parents[1] / "docs" / "drawings"


@pytest.mark.slow
def test_the_recording_has_what_the_commands_print_today() -> None:
    script = runpy.run_path(str(DRAWINGS / "record.py"))
    recorded = (DRAWINGS / "recording.svg").read_text(encoding="utf-8")
    assert script["SECONDS"].sub("", script["draw"](script["record"]())) == script["SECONDS"].sub("", recorded)


def test_the_recording_is_small_enough_for_a_page() -> None:
    assert (DRAWINGS / "recording.svg").stat().st_size < 500_000
