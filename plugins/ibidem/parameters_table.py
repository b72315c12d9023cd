"""The page `docs/parameters.md`, written from the parameters themselves: `python -m ibidem.parameters_table`."""

import sys

from ibidem.dedupe.parameters import PARAMETERS
from ibidem.dedupe.presets import PRESETS

_HEAD = """# Parameters of a search

How duplicates are grouped and shown. On the command line `dedupe` is `--dedupe`, and the others lose their `dedupe_`:
`--level`, `--keep`, `--window-days`. A name or value that is not known is an error that lists the right ones. This page
is written by `python -m ibidem.parameters_table`.

| parameter | takes | default | does |
|---|---|---|---|
"""

_PRESETS = """
## Presets

| preset | figures |
|---|---|
"""


def page() -> str:
    """Return the page in Markdown."""
    rows = (f"| `{name}` | {one.values} | {one.default} | {one.about} |\n" for name, one in PARAMETERS.items())
    presets = (f"| `{name}` | {preset.about} |\n" for name, preset in PRESETS.items())
    return "".join((_HEAD, *rows, _PRESETS, *presets))


if __name__ == "__main__":
    sys.stdout.write(page())
