"""Dead letters from the first to the last: a real conflict with a mapping, looked at, mended and tried again."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.table import small_table
from servers.command_line import Way
from servers.indices import ask, remove_indices

pytestmark = pytest.mark.server("opensearch")

MAPPING = {"properties": {"title": {"type": "text"}, "text": {"type": "text"}, "pages_in_print": {"type": "integer"}}}


@pytest.fixture
def way(opensearch: str, tmp_path: Path) -> Iterator[Way]:
    program = Way(tmp_path, opensearch, "", FIELDS="meta=", CONCURRENCY=1)
    small_table(tmp_path)
    ask(opensearch, "PUT", f"/{program.index}", {"mappings": MAPPING})
    yield program
    program.end()
    remove_indices(opensearch, program.index)


def test_a_document_that_its_mapping_refused_is_there_once_the_mapping_is_mended_and_it_is_tried_again(
    way: Way, opensearch: str
) -> None:
    lines = [
        {"id": "good", "text": "we the people", "meta": {"pages_in_print": 12}},
        {"id": "bad", "text": "of the united states", "meta": {"pages_in_print": "twelve"}},
        {"id": "odd", "text": "in order to form", "meta": {"pages_in_print": "a dozen"}},
    ]
    path = way.folder / "articles.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))

    summary = way.json("ingest", str(path), exit_code=3)
    assert (summary["indexed"], summary["refused"], summary["pending"]) == (1, 2, 0)
    entries = way.json("status", "--dead")["dead"]
    assert {(letter["id"], letter["field"]) for letter in entries} == {
        ("bad", "pages_in_print"),
        ("odd", "pages_in_print"),
    }
    assert "twelve" in next(letter["why"] for letter in entries if letter["id"] == "bad")
    assert way.json("status", "--dead", "bad")["dead"][0]["record"]["text"] == "of the united states"

    assert way.json("status", "--dead", "--retry", "bad", exit_code=3)["refused"] == 1
    assert {letter["id"] for letter in way.json("status", "--dead")["dead"]} == {"bad", "odd"}

    mended = {"properties": {"pages_in_print": {"type": "integer", "ignore_malformed": True}}}
    ask(opensearch, "PUT", f"/{way.index}/_mapping", mended)
    assert way.json("status", "--dead", "--retry", "bad")["indexed"] == 1
    assert [letter["id"] for letter in way.json("status", "--dead")["dead"]] == ["odd"]
    assert way.json("status", "--dead", "--drop", "odd") == {"dropped": 1}
    assert way.json("status", "--dead") == {"dead": []}

    ask(opensearch, "POST", f"/{way.index}/_refresh")
    assert ask(opensearch, "GET", f"/{way.index}/_doc/bad")["_source"]["pages_in_print"] == "twelve"
    assert ask(opensearch, "GET", f"/{way.index}/_count")["count"] == 2
