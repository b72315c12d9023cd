"""The examples of `docs/clients.md` run as they are printed."""

import re
from pathlib import Path

import pytest

from ibidem.cli.demo import licences
from ibidem.clients.search import TIMEOUT as REQUEST_TIMEOUT
from ibidem.grouped_search.dsl.syntax import INSTEAD, PARTS, TIMEOUT
from ibidem_engines.connect import open_engine
from ibidem_engines.requests import IN_HEADS
from ibidem_ingest.idf.store import Tables
from ibidem_workers.batches import records
from servers.indices import remove_indices

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.server("opensearch", "elasticsearch")
def test_the_page_runs_from_top_to_bottom(
    opensearch: str, elasticsearch: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = list(licences(tmp_path))[:60]
    tables = Tables(tmp_path)
    signed_records = list(records(texts, tables))
    engines = [open_engine(url, "licences") for url in (opensearch, elasticsearch)]
    try:
        for engine, url in zip(engines, (opensearch, elasticsearch), strict=True):
            remove_indices(url, "licences")
            engine.create()
            engine.write(signed_records)
            engine.refresh()
        names: dict[str, object] = {}
        for block in BLOCKS:
            program = block.replace("http://localhost:9200", elasticsearch.partition("+")[2])
            program = program.replace("http://localhost:9201", opensearch.partition("+")[2])
            exec(compile(program, "clients.md", "exec"), names)  # noqa: S102 - our own page
    finally:
        for engine, url in zip(engines, (opensearch, elasticsearch), strict=True):
            engine.close()
            remove_indices(url, "licences")
    printed = capsys.readouterr().out
    assert " in this group\n" in printed
    assert re.search(r"5 groups of \d+\n", printed)
    assert re.search(r"Python packages \d+ \{'groups': \d+, 'approximate': False\}", printed)


def test_the_table_holds_the_parts_that_are_grouped_and_no_others() -> None:
    table = PAGE.partition("\n## What is grouped\n")[2].partition("\n## ")[0]
    rows = "".join(line.split("|")[2] for line in table.splitlines() if line.startswith("| "))
    others = {"size: 0", TIMEOUT, REQUEST_TIMEOUT, "index"}
    assert set(re.findall(r"`([^`]+)`", rows)) == {*PARTS, *IN_HEADS, *others}


def test_what_to_use_instead_is_on_the_page() -> None:
    assert not [name for name in INSTEAD if f"`{name}`" not in PAGE]
