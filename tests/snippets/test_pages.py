"""Every command that README and docs show runs as it is printed, or is listed here with the reason why it does not."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from servers.process import free_ports
from snippets.conftest import MINE
from snippets.page import ROOT, Block, blocks, commands
from snippets.shell import run
from snippets.test_tutorials import TUTORIALS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAM = re.compile(r"(?:ibidem|export|unset|make|docker|curl|pip|python|uvicorn) ")

LANGUAGES = ("go", "java", "js", "python")

NOT_RUN = {
    "make demo": "makes .venv first; `ibidem demo`, which it calls, is run",
    "make test": "runs these tests",
    "make plugin": "builds with Maven and a JDK; tests/plugin",
    "pip install": "installs over the network; `make install` does the same",
    "docker compose": "needs Docker",
    "ibidem serve": "goes on until it is ended; tests/gateway/test_serve.py",
    "ibidem tune": "learns from the labels of a real collection; tests/lab/test_evaluate.py",
    'ibidem search "limitation of liability" --preset contracts': "needs the preset that `ibidem tune` learned",
    "ibidem backfill --follow": "goes on until it is ended; tests/workers/backfill/test_replace.py",
}

# Pages whose commands another test runs.
ELSEWHERE = {
    "openaleph.md": "needs OpenAleph's package; tests/clients/test_openaleph.py",
    "plugin.md": "needs a server with the plugin; tests/plugin/test_recipes.py",
}

# Pages with programs, and the tests that run them.
PROGRAMS = {
    "README.md": "snippets/test_pages.py",
    "clients.md": "clients/test_clients_page.py",
    "gateway.md": "gateway/test_recipes.py",
    "openaleph.md": "clients/test_openaleph.py",
    "plugin.md": "plugin/test_recipes.py",
    "python.md": "cli/test_python_page.py",
    "stored.md": "grouped_search/dsl/test_stored_docs.py",
}

# Pages whose commands run over files and an index in SQLite.
LOCAL = ("README.md", "tour.md", "books.md", "works.md", "stored.md")

SERVER = ("README.md", "tour.md", "clusters.md")  # pages with commands for an index of others on a server

CURL = ("tour.md", "gateway.md")  # pages with requests to the gateway

DEMO = "IBIDEM_ENGINE=sqlite:///.ibidem/demo"


def find_outputs(page: Path) -> Iterator[list[str]]:
    for block in blocks(page):
        if matches := [line for line in commands(block) if PROGRAM.match(line)]:
            yield matches


def is_for_a_server(block: list[str]) -> bool:
    return any("opensearch+http" in line or "--into" in line or line.startswith("ibidem strip") for line in block)


def is_demo(block: list[str]) -> bool:
    return any(DEMO in line for line in block)


def left_out(line: str) -> bool:
    return any(line.startswith(name) for name in NOT_RUN)


def script(commands_of_blocks: list[list[str]]) -> Block:
    """Write commands as one block; one that says that some documents were refused has run."""
    lines = [line for block in commands_of_blocks for line in block if not left_out(line)]
    return Block("sh", "".join(f"{line} || [ $? = 3 ]\n" for line in lines))


def test_every_command_is_run_or_is_listed_with_its_reason() -> None:
    for page in PAGES:
        if page.name in TUTORIALS or page.name in ELSEWHERE:
            continue
        for block in find_outputs(page):
            for line in block:
                run_here = (
                    (is_for_a_server(block) and page.name in SERVER)
                    or (line.startswith("curl") and page.name in CURL)
                    or (page.name in LOCAL and not line.startswith("curl"))
                )
                assert run_here or left_out(line), f"{page.name}: {line}"


def test_every_program_is_run_by_a_test_that_names_its_page() -> None:
    for page in PAGES:
        programs = [block for block in blocks(page) if block.language in LANGUAGES]
        if programs and page.name not in TUTORIALS:
            source = (ROOT / "tests" / PROGRAMS[page.name]).read_text(encoding="utf-8")
            assert page.name in source, page.name


@pytest.mark.slow
@pytest.mark.parametrize("name", LOCAL[1:])
def test_commands_run_over_files(name: str, folder: Path) -> None:
    page = ROOT / name if name == "README.md" else ROOT / "docs" / name
    matches = [
        block
        for block in find_outputs(page)
        if not (is_for_a_server(block) or is_demo(block) or block[0].startswith("curl"))
    ]
    assert matches
    run([script([["ibidem ingest docs.jsonl"], *matches])], folder, {})


@pytest.mark.slow
def test_the_first_search_of_the_readme_works_after_the_demonstration(folder: Path) -> None:
    (block,) = [block for block in find_outputs(ROOT / "README.md") if is_demo(block)]
    (printed,) = run([script([["ibidem demo"], block])], folder, {})
    assert "groups; showing" in printed.splitlines()[-1]


@pytest.mark.server("opensearch")
@pytest.mark.parametrize("name", SERVER)
def test_commands_run_over_an_index_of_others(name: str, folder: Path, articles: str) -> None:
    page = ROOT / name if name == "README.md" else ROOT / "docs" / name
    matches = [block for block in find_outputs(page) if is_for_a_server(block)]
    assert matches
    first = next(block for block in find_outputs(ROOT / "README.md") if is_for_a_server(block))
    exports = [line for line in first if line.startswith("export")]
    run([Block("sh", write_address(script([exports, *matches]).body, articles))], folder, {})


@pytest.mark.server("opensearch")
def test_the_program_of_the_readme_runs_as_it_is_printed(folder: Path, articles: str) -> None:
    page = blocks(ROOT / "README.md")
    exports = [line for block in page for line in commands(block) if line.startswith("export IBIDEM")]
    run([Block("sh", write_address("\n".join([*exports, "ibidem backfill"]), articles))], folder, {})
    (program,) = [block.body for block in page if block.language == "python"]
    body = program.replace("http://localhost:9200", articles.partition("+")[2]).replace("articles", MINE)
    (printed,) = run([Block("sh", f"python - <<'END'\n{body}END")], folder, {})
    assert printed.startswith("Lease ")
    assert " in this group\n  Lease " in printed


@pytest.mark.server("opensearch")
def test_requests_run_against_a_gateway(folder: Path, articles: str) -> None:
    (port,) = free_ports(1)
    (folder / "query.json").write_text('{"query": {"match_all": {}}, "_source": ["headline"]}', encoding="utf-8")
    requests = [
        line.split("|")[0]
        for name in CURL
        for block in find_outputs(ROOT / name if name == "README.md" else ROOT / "docs" / name)
        for line in block
        if line.startswith("curl")
    ]
    assert len(requests) == 2
    body = "".join(f"{line}\n" for line in requests).replace("8042", str(port)).replace("licences", MINE)
    start = (
        f"ibidem backfill\nibidem serve --port {port} > serve.log 2>&1 &\n"
        f"curl -s --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:{port}/healthz > health\n"
    )
    settings = {"IBIDEM_ENGINE": articles, "IBIDEM_INDEX": MINE, "IBIDEM_FIELDS": "title=headline,text=body.content"}
    printed = run([Block("sh", start), Block("sh", body)], folder, settings)[-1]
    assert printed.count('"_dedupe"') > 2


def write_address(text: str, address: str) -> str:
    """Put this test's server and index in the place of those on a page."""
    return text.replace("opensearch+http://localhost:9200", address).replace("articles", MINE)
