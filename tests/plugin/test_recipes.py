"""The programs of docs/plugin.md, run as they are printed there, over the index of the test."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from servers.indices import ask
from servers.nodes import EngineName
from support.run_program import run_program

pytestmark = pytest.mark.server
PAGE = (Path(__file__).parents[2] / "docs" / "plugin.md").read_text(encoding="utf-8")


def recipe(language: str, having: str, cluster: str) -> str:
    """Return the page's program that has a text in it."""
    (program,) = [each for each in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if having in each]
    program = program.replace("http://localhost:9200", cluster.partition("+")[2]).replace("cases", "stories")
    return str(program.replace("limitation of liability", "said").replace("liability", "said"))


def indented(output: str) -> list[str]:
    """Return the lines of duplicates that a program printed; each has a level, and the last line is the account."""
    *lines, account = output.splitlines()
    assert "in_window" in account
    assert not lines[0].startswith(" ")
    assert all(line.split()[1:] for line in lines if line.startswith(" "))
    return [line for line in lines if line.startswith(" ")]


def test_curl_gets_indented_duplicates(cluster: str, tmp_path: Path) -> None:
    hits = json.loads(run_program(tmp_path, "bash", "-ec", recipe("sh", '"max_per_group"', cluster)))["hits"]["hits"]
    assert {hit["_dedupe"]["indent"] for hit in hits} == {0, 1}


@pytest.mark.parametrize(("client", "pattern"), [("opensearchpy", "opensearch"), ("elasticsearch", "elasticsearch")])
def test_the_makers_clients_get_them(cluster: str, kind: EngineName, client: str, pattern: str, tmp_path: Path) -> None:
    if kind == pattern:
        assert indented(run_program(tmp_path, sys.executable, "-c", recipe("python", f"from {client} import", cluster)))


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on this machine")
def test_javascript_gets_them(cluster: str, kind: EngineName, tmp_path: Path) -> None:
    if kind != "opensearch":
        return
    (tmp_path / "recipe.mjs").write_text(recipe("js", "new Client", cluster))
    run_program(tmp_path, "npm", "install", "--no-audit", "--no-fund", "--silent", "@opensearch-project/opensearch@3")
    assert indented(run_program(tmp_path, "node", "recipe.mjs"))


def test_a_pipeline_groups_what_asks_for_nothing(cluster: str, kind: EngineName, tmp_path: Path) -> None:
    if kind != "opensearch":
        return
    try:
        output = run_program(tmp_path, "bash", "-ec", recipe("sh", "default_pipeline", cluster))
    finally:
        ask(cluster, "PUT", "/stories/_settings", json.dumps({"index.search.default_pipeline": None}))
    hits = json.loads(output[output.index('{"took"') :])["hits"]["hits"]
    assert {hit["_dedupe"]["indent"] for hit in hits} == {0, 1}
