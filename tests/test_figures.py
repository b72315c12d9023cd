"""Figures in README and docs: each is a link to the page of `docs/figures/` that a benchmark wrote it on."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\[([^\]]*)\]\(((?:docs/)?figures/[\w-]+\.md)(?:#[^)]*)?\)")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# What commands print, and what is typed: examples, no claims.
SHOWN = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)

# Times, sizes and shares that nobody knows without measuring.
MEASURED = re.compile(r"\d[\d.,]* ?(?:ms|µs|[Kk]B|documents a second)\b|(?<![\d.])[01]?\.\d{3}\b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_figure_that_a_page_links_is_on_the_page_of_its_benchmark(page: Path) -> None:
    for figure, target in LINK.findall(page.read_text(encoding="utf-8")):
        measured = NUMBER.findall((page.parent / target).read_text(encoding="utf-8"))
        assert not set(NUMBER.findall(figure)) - set(measured), f"{page.name}: {figure!r} is not in {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_measured_figure_is_on_a_page_without_a_link_to_its_benchmark(page: Path) -> None:
    claims = LINK.sub("", SHOWN.sub("", page.read_text(encoding="utf-8")))
    assert not MEASURED.findall(claims), f"{page.name}: write [figure](figures/….md)"


def test_every_page_of_figures_says_when_and_how_they_were_taken() -> None:
    for path in (ROOT / "docs" / "figures").glob("*.md"):
        assert re.search(r"^Taken on .+ at commit .+ by `python benchmarks/\w+\.py.*`", path.read_text(), re.MULTILINE)
