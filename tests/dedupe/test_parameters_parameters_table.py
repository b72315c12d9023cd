"""The generated page of parameters is what the code says today."""

from pathlib import Path

from ibidem_dedupe.parameters import page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_parameters_is_current() -> None:
    hint = "write it again: python -m ibidem_dedupe.parameters > docs/parameters.md"
    assert (DOCS / "parameters.md").read_text(encoding="utf-8") == page(), hint
