"""The list as a table for other programs."""

import csv
import io
import json

from starlette.testclient import TestClient

from ibidem.comparison.result_list import COLUMNS


def test_every_examined_document_has_a_row_with_group_lead_level_and_score(client: TestClient) -> None:
    answer = client.get("/ibidem/page/export.csv?q=rent&dedupe=collapse&size=1")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert tuple(rows[0]) == COLUMNS
    by_id = {row["id"]: row for row in rows}
    assert set(by_id) == {"lease", "copy", "draft", "letter", "blank"}
    assert (by_id["copy"]["lead"], by_id["copy"]["level"], by_id["copy"]["score"]) == ("lease", "identical", "1.0")
    assert by_id["draft"]["group"] == by_id["lease"]["group"] != by_id["letter"]["group"]
    assert "attachment" in answer.headers["content-disposition"]


def test_json_lines_hold_the_same_rows(client: TestClient) -> None:
    lines = client.get("/ibidem/page/export.jsonl?q=rent").text.splitlines()
    table = csv.DictReader(io.StringIO(client.get("/ibidem/page/export.csv?q=rent").text))
    assert [{name: str(value) for name, value in json.loads(line).items()} for line in lines] == list(table)


def test_another_format_is_refused_with_those_that_there_are(client: TestClient) -> None:
    answer = client.get("/ibidem/page/export.xlsx?q=rent")
    assert (answer.status_code, "csv, jsonl" in answer.text) == (404, True)
