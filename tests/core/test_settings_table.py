"""The page of settings."""

from pathlib import Path

from ibidem_core.settings_table import page


def test_the_page_of_settings_is_current() -> None:
    text = Path(__file__).parents[2] / "docs" / "settings.md"
    assert text.read_text(encoding="utf-8") == page(), "run: python -m ibidem_core.settings_table > docs/settings.md"
