"""The pictures of `docs/drawings/` and the recording show what the code does today."""

import runpy
from pathlib import Path

import pytest

from ibidem_ingest.idf.store import Tables

DRAWINGS = Path(__file__).parents[1] / "docs" / "drawings"


@pytest.mark.slow
def test_every_picture_shows_what_the_code_signs_today(tmp_path: Path) -> None:
    drawn = dict(runpy.run_path(str(DRAWINGS / "draw.py"))["drawings"](Tables(tmp_path).of("en")))
    assert drawn == {
        path.stem: path.read_text(encoding="utf-8") for path in DRAWINGS.glob("*.svg") if path.stem != "recording"
    }


@pytest.mark.slow
def test_the_recording_has_what_the_commands_print_today() -> None:
    script = runpy.run_path(str(DRAWINGS / "record.py"))
    recorded = (DRAWINGS / "recording.svg").read_text(encoding="utf-8")
    assert script["SECONDS"].sub("", script["draw"](script["record"]())) == script["SECONDS"].sub("", recorded)
