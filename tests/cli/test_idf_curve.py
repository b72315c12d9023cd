"""Shares by length, as bars and as a picture."""

from pathlib import Path

import pytest

from ibidem.cli.idf import BAR, bars, draw
from ibidem_ingest.errors import UsageError

CURVES = {"March to April": {1: 0.2, 30: 0.4}, "April to May": {1: 0.1, 30: 0.3}}


def test_a_share_of_one_is_a_whole_bar_and_none_is_no_bar() -> None:
    full_bar, empty_bar = bars({1: 1.0, 2: 0.0})
    assert full_bar.count("█") == BAR
    assert "█" not in empty_bar


@pytest.mark.slow  # matplotlib asks a process for the fonts where it runs for the first time
def test_the_same_curves_make_the_same_picture_byte_for_byte(tmp_path: Path) -> None:
    pictures = []
    for name in ("a.svg", "b.svg"):
        draw(CURVES, "Fingerprints that change", tmp_path / name)
        pictures.append((tmp_path / name).read_bytes())
    assert pictures[0] == pictures[1]
    draw({"March to April": {1: 0.3, 30: 0.4}}, "Fingerprints that change", tmp_path / "c.svg")
    assert (tmp_path / "c.svg").read_bytes() != pictures[0]


@pytest.mark.slow  # for the same reason
@pytest.mark.parametrize("name", ["curve.nonsense", "none/curve.png"])
def test_a_file_that_cannot_be_written_is_refused_with_the_formats(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.png, \.svg or \.pdf"):
        draw(CURVES, "Fingerprints that change", tmp_path / name)
