"""The generated pages of the documentation are what the code says today."""

from pathlib import Path

import pytest

from ibidem import parameters_table
from ibidem_workers import settings_table

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(
    ("name", "page", "command"),
    [
        ("parameters.md", parameters_table.page, "python -m ibidem.parameters_table > docs/parameters.md"),
        ("settings.md", settings_table.page, "python -m ibidem_workers.settings_table > docs/settings.md"),
    ],
)
def test_a_generated_page_is_current(name: str, page, command: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == page(), f"write it anew: {command}"
