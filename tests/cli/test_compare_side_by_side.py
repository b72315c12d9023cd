"""Shared passages are shown side by side, differences in brackets."""

from pathlib import Path

import pytest
from rich.text import Text

from ibidem.cli.compare import Columns, side_by_side
from ibidem.cli.console import results
from ibidem.comparison.compare import compare
from ibidem_ingest.document import Document
from ibidem_ingest.idf.store import Tables
from support.leases import LEASE


def printed(capsys: pytest.CaptureFixture[str], tables: Path, a: str, b: str) -> list[str]:
    comparison = compare(Document("a", a), Document("b", b), Tables(tables))
    console = results()
    for part in side_by_side(comparison):
        console.print(part)
    return capsys.readouterr().out.splitlines()


def test_words_that_differ_are_in_brackets_in_their_own_column(
    capsys: pytest.CaptureFixture[str], tables_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "63")
    text = " ".join(LEASE.split()[:30])
    lines = printed(capsys, tables_folder, text, text.replace("landlord", "owner"))
    left, right = (" ".join(" ".join(line[part].split()) for line in lines) for part in (slice(0, 33), slice(33, 63)))
    assert "The [landlord] shall" in left
    assert "The [owner] shall" in right
    assert not [line for line in lines if line != line.rstrip()]


def test_a_long_passage_is_cut_in_both_columns_and_named_by_its_pages(
    capsys: pytest.CaptureFixture[str], tables_folder: Path
) -> None:
    lines = printed(capsys, tables_folder, f"cover\f{LEASE}\f{LEASE}", LEASE)
    assert any(line.startswith("A  page 2, 6-") for line in lines)
    assert sum(line.count("…") for line in lines) == 4


def test_columns_of_unequal_length_stay_in_their_place(capsys: pytest.CaptureFixture[str]) -> None:
    results().print(Columns(Text("one"), Text("two\nthree")), width=43)
    first, second = capsys.readouterr().out.splitlines()
    assert (first.index("two"), second.index("three")) == (23, 23)
