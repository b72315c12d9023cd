"""The tutorials run from start to end, and print what they show."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers.process import free_ports
from snippets.conftest import remove
from snippets.page import ROOT, Block, blocks
from snippets.shell import run, steady

SERVED = pytest.mark.server("opensearch")
# The tutorials, each with the indexes that it makes on a server.
TUTORIALS = {
    "news.md": (),
    "scans.md": (),
    "tutorial-cluster.md": ("articles",),
    "tutorial-fastapi.md": ("articles",),
    "tutorial-retrieval.md": ("passages",),
}

CASES = [pytest.param(name, marks=SERVED if indexes else ()) for name, indexes in TUTORIALS.items()]
MINE = f"tutorial-of-{os.getpid()}"


def test_every_tutorial_is_run() -> None:
    assert {path.name for path in (ROOT / "docs").glob("tutorial-*.md")} < set(TUTORIALS)


@pytest.fixture
def swaps(request: pytest.FixtureRequest, name: str) -> Iterator[dict[str, str]]:
    """The server, port and indexes that replace those of a page in this test."""
    if not TUTORIALS[name]:
        yield {}
        return
    address = request.getfixturevalue("opensearch")
    host = address.partition("://")[2]
    remove(address, MINE)
    port = str(*free_ports(1))
    yield {"localhost:9200": host, "8000": port} | {index: f"{MINE}-{index}" for index in TUTORIALS[name]}
    remove(address, MINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_tutorial_prints_what_it_shows(name: str, tmp_path: Path, swaps: dict[str, str]) -> None:
    page = blocks(ROOT / "docs" / name)
    printed = iter(perform(page, tmp_path, swaps))
    last = ""
    for block in page:
        if block.language == "sh":
            last = next(printed)
        elif block.language == "text":
            assert steady(last) == steady(block.body)


def perform(page: list[Block], folder: Path, swaps: dict[str, str]) -> list[str]:
    """Run a page with this test's names in the place of its own; what is printed has the page's names again."""
    blocks = [Block(block.language, swapped(block.body, swaps), block.name) for block in page]
    back = {substitute: name for name, substitute in swaps.items()}
    return [swapped(text, back) for text in run(blocks, folder, {})]


def swapped(text: str, names: dict[str, str]) -> str:
    for name, substitute in names.items():
        text = text.replace(name, substitute)
    return text


def write(name: str, folder: Path, address: str) -> None:
    """Write what a page's commands print into the page: `cd tests && python -m snippets.write NAME`."""
    path = ROOT / "docs" / name
    swaps = {"localhost:9200": address.partition("://")[2], "8000": str(*free_ports(1))} if TUTORIALS[name] else {}
    swaps |= {index: f"{MINE}-{index}" for index in TUTORIALS[name]}
    page = blocks(path)
    text, last = path.read_text(encoding="utf-8"), ""
    printed = iter(perform(page, folder, swaps))
    at = 0
    for block in page:
        if block.language == "sh":
            last = next(printed)
        elif block.language == "text":
            output = f"```text\n{block.body}```"
            at = text.index(output, at)
            text = text[:at] + f"```text\n{last}```" + text[at + len(output) :]
            at += len(last)
    path.write_text(text, encoding="utf-8")
