"""Pages: the files, commands, tests, figures and words that they name exist."""

import ast
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from ibidem.cli import COMMANDS, side_commands

ROOT = Path(__file__).parents[1]
HERE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES = [*HERE, *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = "ingest|mappings|plugins|workers|tests|benchmarks|docs"


def test_every_path_that_a_page_names_exists() -> None:
    for page in PAGES:
        paths = re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", page.read_text(encoding="utf-8"))
        assert not [path for path in paths if not (ROOT / path).exists()], page.name


def test_every_link_inside_the_project_leads_somewhere() -> None:
    for page in PAGES:
        links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        assert not [link for link in links if not (page.parent / link).exists()], page.name


def test_every_command_that_a_page_shows_exists() -> None:
    for page in PAGES:
        commands = re.findall(r"(?:^|[\s`/])ibidem ([a-z]+)\b", code(page))
        assert not set(commands) - set(COMMANDS) - set(side_commands()), page.name


def test_every_make_target_that_a_page_shows_exists() -> None:
    for page in PAGES:
        targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        assert not set(re.findall(r"\bmake (\w+)", code(page))) - set(targets), page.name


def test_the_map_of_the_readme_names_every_folder_of_the_project() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [name for name in FOLDERS.split("|") if (ROOT / name).is_dir() and f"`{name}/" not in readme]


def code(page: Path) -> str:
    """Return the code of a page: its blocks and texts between backticks."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```[^`]*^```|^ {4}.*$|`[^`\n]+`", text, re.MULTILINE)
    return "\n".join(blocks)


ROWS = re.findall(
    r"^\| ([^|]+) \| [^|]+ \| `([\w.]+)` \|$",
    (Path(__file__).parents[1] / "docs" / "glossary.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def test_each_word_is_defined_by_a_module_that_exists() -> None:
    assert ROWS
    assert [module for _, module in ROWS if find_spec(module) is None] == []


def test_each_word_has_one_meaning() -> None:
    words = [word for word, _ in ROWS]
    assert sorted(words) == sorted(set(words))


FIGURES_PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\[([^\]]*)\]\(((?:docs/)?figures/[\w-]+\.md)(?:#[^)]*)?\)")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# What commands print, and what is typed: examples, no claims.
SHOWN = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)

# Times, sizes and shares that nobody knows without measuring.
MEASURED = re.compile(r"\d[\d.,]* ?(?:ms|µs|[Kk]B|documents a second)\b|(?<![\d.])[01]?\.\d{3}\b")


def test_every_figure_that_a_page_links_is_on_the_page_of_its_benchmark() -> None:
    for page in FIGURES_PAGES:
        for figure, target in LINK.findall(page.read_text(encoding="utf-8")):
            measured = NUMBER.findall((page.parent / target).read_text(encoding="utf-8"))
            assert not set(NUMBER.findall(figure)) - set(measured), f"{page.name}: {figure!r} is not in {target}"


def test_no_measured_figure_is_on_a_page_without_a_link_to_its_benchmark() -> None:
    for page in FIGURES_PAGES:
        claims = LINK.sub("", SHOWN.sub("", page.read_text(encoding="utf-8")))
        assert not MEASURED.findall(claims), f"{page.name}: write [figure](figures/….md)"


def test_every_page_of_figures_says_when_and_how_they_were_taken() -> None:
    for path in (ROOT / "docs" / "figures").glob("*.md"):
        assert re.search(r"^Taken on .+ at commit .+ by `python benchmarks/\w+\.py.*`", path.read_text(), re.MULTILINE)


NAMED = re.compile(r"`(tests/[^`:]+)((?:::\w+)*)`")
PROMISE = re.compile(r"^\| (?!promise|---|watch|it happens)(.+) \| (.+) \|$", re.MULTILINE)


@pytest.mark.parametrize("page", ["docs/reliability.md", "SECURITY.md", "tests/removed.md"])
def test_every_test_that_a_page_names_is_there(page: str) -> None:
    named = NAMED.findall((ROOT / page).read_text(encoding="utf-8"))
    assert len(named) > 30
    for path, name in named:
        assert (ROOT / path).exists(), path
        assert not name or name[2:] in names_of_tests(ROOT / path), path + name


def test_every_promise_names_what_holds_it() -> None:
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    promises = page.partition("## For operators")[0]
    rows = PROMISE.findall(promises)
    assert len(rows) > 20
    assert not [promise for promise, evidence in rows if "::" not in evidence and "benchmarks/" not in evidence]


def test_every_removed_test_names_what_keeps_its_promise_or_says_that_there_is_none() -> None:
    rows = (ROOT / "tests" / "removed.md").read_text(encoding="utf-8").partition("|---|---|\n")[2].splitlines()
    assert len(rows) > 15
    assert [
        row for row in rows if not NAMED.search(row.split("|")[2]) and not row.split("|")[2].startswith(" none: ")
    ] == []


@cache  # pages name tests of one file many times
def names_of_tests(path: Path) -> set[str]:
    """List the tests of a file, those of classes with their class before them."""
    names: set[str] = set()
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef):
            names.add(statement.name)
        elif isinstance(statement, ast.ClassDef):
            names |= {f"{statement.name}::{each.name}" for each in statement.body if isinstance(each, ast.FunctionDef)}
    return names
