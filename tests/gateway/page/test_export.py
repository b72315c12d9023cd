"""The rows of a list for a table: all of stored groups, and how many results an export holds."""

import csv
import io

import pytest
from starlette.testclient import TestClient

from ibidem_core.settings import Settings
from ibidem_dedupe.request import DedupeRequest
from ibidem_engines.connect import open_engine
from ibidem_gateway.page import export
from ibidem_workers.groups.follower import Follower


def exported(client: TestClient) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get("/ibidem/page/export.csv?q=rent").text)))


def test_all_pages_of_stored_groups_are_exported(
    client: TestClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_engine(settings.engine, settings.index)
    Follower(engine).catch_up()
    engine.close()
    monkeypatch.setattr(export, "PORTION", 2)
    all_rows = exported(client)
    assert sorted(row["id"] for row in all_rows) == ["blank", "copy", "draft", "lease", "letter"]
    assert len({row["group"] for row in all_rows}) == 3
    assert "Download all 5 results" in client.get("/?q=rent", headers={"accept": "text/html"}).text
    monkeypatch.setattr(export, "MAX_GROUPS", 2)
    first_rows = exported(client)
    assert first_rows == all_rows[: len(first_rows)]
    assert len({row["group"] for row in first_rows}) == 2
    page = client.get("/?q=rent", headers={"accept": "text/html"}).text
    assert "Download the first 2 groups of 5 results" in page


def test_a_list_says_how_many_of_its_results_are_exported() -> None:
    response = {"dedupe": {"documents": {"matched": 541}}}
    assert export.export_scope(response, DedupeRequest(window=1_000)) == "all 541 results"
    assert export.export_scope(response, DedupeRequest(window=500)) == "the first 500 groups of 541 results"


def test_of_stored_groups_the_number_of_groups_decides_what_is_exported_and_not_that_of_documents() -> None:
    def scope(groups: int) -> str:
        account = {"documents": {"matched": 150_000}, "groups": {"matching": groups}}
        return export.export_scope({"dedupe": account}, DedupeRequest(by="stored"))

    assert scope(100_000) == "all 150,000 results"
    assert scope(100_001) == "the first 100,000 groups of 150,000 results"
