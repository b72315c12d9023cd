"""Tries the versions of both engines, and writes what came of it into docs/versions.md.

    make versions                              # all that can be started here, in half an hour
    python .ci/versions.py opensearch-2.19.1   # these alone; the rows of the others stay

The oldest and the newest version of each line: the contract of every engine (tests/engines/test_contract.py), with the
client packages of both generations. Every version: made-up searches through the plugin on two nodes
(tests/plugin/test_search.py), whose zip `make plugins` built.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import plugins

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "versions.md"
BEGIN, END = "<!-- versions: written by make versions -->\n", "<!-- versions: end -->\n"
CONTRACT = "tests/engines/test_contract.py"
PLUGIN = "tests/plugin/test_search.py"

LAYER, BEFORE, PLUGIN_COLUMN = COLUMNS = ("Python layer", "with the clients before", "plugin on two nodes")

# The generation of client packages before the one that a plain installation brings.
OLD_CLIENTS = ("opensearch-py<3", "elasticsearch<9")

# The oldest and the newest version of each line, for the whole contract.
ENDS = {"opensearch": ("2.19.1", "3.0.0", "3.8.0"), "elasticsearch": ("8.19.0", "8.19.21", "9.0.8", "9.5.3")}

# Versions whose servers Maven's repository may have whole.
STARTS = {
    "opensearch": ("2.19.1", "3.0.0", "3.1.0", "3.2.0", "3.3.2", "3.4.0", "3.5.0", "3.8.0"),
    "elasticsearch": ("8.19.0", "8.19.21", "9.0.8", "9.1.7", "9.2.2", "9.5.3"),
}


def run_tests(python: Path, engine: str, version: str, path: str) -> str:
    """Run a file of tests against a version, and return what came of it in a few words."""
    environment = {**os.environ, f"IBIDEM_TEST_{engine.upper()}_VERSION": version, "PYTHONPATH": "tests"}
    command = [str(python), "-m", "pytest", "-q", "-n0", "-p", "no:randomly", path, "-k", engine]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - pytest
    counts = {kind: int(number) for number, kind in re.findall(r"(\d+) (passed|failed|error|skipped)", done.stdout)}
    failed = counts.get("failed", 0) + counts.get("error", 0)
    if not failed and not counts.get("passed"):
        return "not started here"
    if failed:
        sys.stderr.write(done.stdout[-4_000:])
    return f"{counts.get('passed', 0)} passed" + (f", {failed} failed" if failed else "")


def main() -> int:
    """Try the named versions, or all, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="for example opensearch-2.19.1")
    names = parser.parse_args().names
    rows = read_rows()
    for engine, versions in STARTS.items():
        for version in versions:
            name = f"{engine}-{version}"
            if not names or name in names:
                rows[name] = try_version(engine, version)
                write_rows(rows)
    write_rows(rows)
    return 0


def try_version(engine: str, version: str) -> dict[str, str]:
    """Return one row: what the layer and the plugin answered there, and with which client packages."""
    row = {}
    interpreters = ((LAYER, Path(sys.executable)), (BEFORE, old_clients()))
    for column, python in interpreters if version in ENDS[engine] else ():
        row[column] = f"{run_tests(python, engine, version, CONTRACT)} ({client_version(python, engine)})"
    row[PLUGIN_COLUMN] = run_tests(Path(sys.executable), engine, version, PLUGIN)
    sys.stdout.write(f"{engine} {version}: {row}\n")
    sys.stdout.flush()
    return row


def old_clients() -> Path:
    """Return the interpreter of an environment that has the client packages of the generation before."""
    folder = ROOT / ".ibidem" / "old-clients"
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--editable", ".[dev]", *OLD_CLIENTS]
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - pip
        (folder / "installed").touch()
    return python


def client_version(python: Path, engine: str) -> str:
    """Return name and version of an engine's client package in an environment."""
    package = {"opensearch": "opensearch-py", "elasticsearch": "elasticsearch"}[engine]
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - Python
    return f"{package} {done.stdout.strip()}"


def read_rows() -> dict[str, dict[str, str]]:
    """Return the rows that the page has, from the line of JSON that it keeps of them."""
    found = re.search(r"<!-- rows: (.*) -->", PAGE.read_text(encoding="utf-8")) if PAGE.exists() else None
    return json.loads(found[1]) if found else {}


def write_rows(rows: dict[str, dict[str, str]]) -> None:
    """Write the table between its marks; the rest of the page is written by hand."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}{''.join(table(rows))}{END}{after}", encoding="utf-8")


def table(rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the lines of the table: every version that a zip is built for, and every one that was tried."""
    built = {path.stem.removeprefix("ibidem-") for path in plugins.ZIPS.glob("*.zip")}
    names = {each.name for each in plugins.read_table()[0]}
    names |= {f"{engine}-{version}" for engine, versions in STARTS.items() for version in versions}
    lines = [f"\n| engine | {' | '.join(COLUMNS)} | zip |\n", f"|---|{'---|' * len(COLUMNS)}---|\n"]
    for name in sorted(names, key=order):
        cells = [rows.get(name, {}).get(column, "not tried") for column in COLUMNS]
        lines.append(f"| {' | '.join((name.replace('-', ' '), *cells, plugins.zip_for(name, built) or 'none'))} |\n")
    return [*lines, f"\n<!-- rows: {json.dumps(rows, sort_keys=True)} -->\n"]


def order(name: str) -> tuple[str, tuple[int, ...]]:
    """Return the place of a version in the table."""
    engine, _, number = name.partition("-")
    return engine, plugins.numbers(number)


if __name__ == "__main__":
    sys.exit(main())
