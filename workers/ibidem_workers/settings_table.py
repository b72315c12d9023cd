"""The page `docs/settings.md`, written from the settings themselves: `python -m ibidem_workers.settings_table`."""

import sys

from ibidem_workers.settings import Settings, settings_rows

_HEAD = """# Settings

Read from the environment, a `.env` file and `ibidem.toml` in the current folder; the first that names a setting wins.
In `ibidem.toml` the names are written small and without `IBIDEM_`. `ibidem doctor` shows every value with its origin.
A name that is not known is an error. This page is written by `python -m ibidem_workers.settings_table`.

| variable | default | meaning |
|---|---|---|
"""


def page() -> str:
    """Return the page in Markdown."""
    rows = (f"| `{one.variable}` | {_code(one.default)} | {one.meaning} |\n" for one in settings_rows(Settings()))
    return _HEAD + "".join(rows)


def _code(value: str) -> str:
    return f"`{value}`" if value else ""


if __name__ == "__main__":
    sys.stdout.write(page())
