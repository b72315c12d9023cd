"""Files and names in README, CONTRIBUTING and `docs/` exist."""

import re
from pathlib import Path

import pytest

from ibidem.cli.app import COMMANDS, side_commands

ROOT = Path(__file__).parents[1]
HERE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES = [*HERE, *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = "ingest|mappings|plugins|workers|tests|benchmarks|docs"

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pages
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    paths = re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", page.read_text(encoding="utf-8"))
    assert not [path for path in paths if not (ROOT / path).exists()]


@pages
def test_every_link_inside_the_project_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


@pages
def test_every_command_that_a_page_shows_exists(page: Path) -> None:
    commands = re.findall(r"(?:^|[\s`/])ibidem ([a-z]+)\b", code(page))
    assert not set(commands) - set(COMMANDS) - set(side_commands())


@pages
def test_every_make_target_that_a_page_shows_exists(page: Path) -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert not set(re.findall(r"\bmake (\w+)", code(page))) - set(targets)


def test_the_map_of_the_readme_names_every_folder_of_the_project() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [name for name in FOLDERS.split("|") if (ROOT / name).is_dir() and f"`{name}/" not in readme]


def code(page: Path) -> str:
    """Return the code of a page: its blocks and texts between backticks."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```[^`]*^```|^ {4}.*$|`[^`\n]+`", text, re.MULTILINE)
    return "\n".join(blocks)
