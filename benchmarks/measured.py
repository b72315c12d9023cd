"""Pages of figures, one for each benchmark, with the time, commit and command of the measurement."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "docs" / "figures"
CODE = ("benchmarks", "ingest", "mappings", "plugins", "workers", "pyproject.toml")


def write(name: str, title: str, lines: Iterable[str]) -> Path:
    FIGURES.mkdir(exist_ok=True)
    path = FIGURES / f"{name}.md"
    path.write_text("\n".join([f"# {title}", "", conditions(), "", *lines]).rstrip() + "\n", encoding="utf-8")
    return path


def write_part(name: str, title: str, order: Sequence[str], part: str, lines: Sequence[str]) -> None:
    """Write one part of a page, with when and how it was taken; the others stay."""
    parts = _parts(name)
    parts[part] = "\n".join(["", conditions(), "", *lines])
    body = "\n\n".join(f"## {each}\n{parts[each].rstrip()}" for each in order if each in parts)
    (FIGURES / f"{name}.md").write_text(f"# {title}\n\n{body}\n", encoding="utf-8")


def read_part(name: str, part: str) -> list[str]:
    """Return the lines of one part of a page, as they were written last; none where it never was."""
    return _parts(name).get(part, "").splitlines()


def _parts(name: str) -> dict[str, str]:
    path = FIGURES / f"{name}.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return dict(each.split("\n", 1) for each in text.split("\n## ")[1:])


def conditions() -> str:
    """Say when, at which commit, where and by which command figures are taken."""
    today = datetime.now(UTC).strftime("%d %B %Y").lstrip("0")
    cores = len(os.sched_getaffinity(0))
    command = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *hide_collections(sys.argv[1:])])
    return f"Taken on {today} at commit {commit()} by `{command}`, Python {platform.python_version()}, {cores} cores."


def hide_collections(arguments: Iterable[str]) -> list[str]:
    """Leave out the folders of collections, which differ on each machine."""
    remaining = list(arguments)
    for option in ("--collections", "--packages"):
        if option in remaining:
            at = remaining.index(option)
            del remaining[at : at + 2]
    return remaining


def commit() -> str:
    """Return the commit that is measured, marked when the code was changed since."""
    changes = ask_git("status", "--porcelain", "--", *CODE)
    return ask_git("rev-parse", "--short=10", "HEAD") + (", changed since," if changes else "")


def ask_git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
