"""The pictures of the signatures, `docs/drawings/`."""

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
