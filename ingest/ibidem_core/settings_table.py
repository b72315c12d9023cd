"""Table of all settings with value, default, origin and meaning, for `ibidem doctor` and `docs/settings.md`.

The page is written by `python -m ibidem_core.settings_table`.
"""

import sys
from dataclasses import dataclass

from ibidem_core.settings import Settings
from ibidem_core.settings_sources import as_text, redacted_value, variable

_HEAD = """# Settings

Read from the environment, a `.env` file and `ibidem.toml` in the current folder; the first that names a setting wins.
In `ibidem.toml` the names are in lower case and without `IBIDEM_`. `ibidem doctor` shows every value with its origin.
An unknown name is an error. This page is written by `python -m ibidem_core.settings_table`.

| variable | default | meaning |
|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as shown by `ibidem doctor` and the documentation, with passwords masked."""

    name: str  # its name in `ibidem.toml`
    variable: str  # its name in the environment
    value: str  # its value as text
    default: str  # its default as text
    origin: str  # where the value comes from
    meaning: str  # its meaning, in a sentence


def settings_rows(settings: Settings) -> list[SettingRow]:
    """Return every setting with its value, origin and meaning."""
    fields = type(settings).model_fields
    return [
        SettingRow(
            name=name,
            variable=variable(name),
            value=redacted_value(name, getattr(settings, name)),
            default=as_text(field.default),
            origin=settings.origin(name),
            meaning=field.description or "",
        )
        for name, field in fields.items()
    ]


def page() -> str:
    """Return the page in Markdown."""
    rows = (f"| `{row.variable}` | {_code(row.default)} | {row.meaning} |\n" for row in settings_rows(Settings()))
    return _HEAD + "".join(rows)


def _code(value: str) -> str:
    return f"`{value}`" if value else ""


if __name__ == "__main__":
    sys.stdout.write(page())
