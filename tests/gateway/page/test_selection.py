"""Selected documents are cited, printed and exported."""

import csv
import io

from starlette.testclient import TestClient

from gateway.page.test_routes import PAGE

SELECTED = "doc=lease&doc=draft&doc=lease"


def test_each_document_of_a_list_can_be_selected(client: TestClient) -> None:
    page = client.get("/?q=drains", headers=PAGE).text
    for name in ("lease", "copy", "draft"):
        assert f'form="selection" name="doc" value="{name}"' in page


def test_selected_documents_are_cited_in_one_line_each_in_the_style_that_is_chosen(client: TestClient) -> None:
    page = client.get(f"/ibidem/page/selection?{SELECTED}&style=mla&list=q%3Ddrains", headers=PAGE).text
    assert page.count("<li>") == 2
    assert "\u201c" in page
    assert '<a href="/?q=drains">Back to results</a>' in page
    lines = client.get(f"/ibidem/page/selection.txt?{SELECTED}&style=apa").text.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("Lease")


def test_a_selection_is_exported_as_a_table(client: TestClient) -> None:
    rows = list(csv.DictReader(io.StringIO(client.get(f"/ibidem/page/selection.csv?{SELECTED}").text)))
    assert [row["id"] for row in rows] == ["lease", "draft"]
    assert len(client.get(f"/ibidem/page/selection.jsonl?{SELECTED}").text.splitlines()) == 2


def test_nothing_selected_a_wrong_style_and_a_document_that_went_are_named(client: TestClient) -> None:
    assert "No document is selected" in client.get("/ibidem/page/selection", headers=PAGE).text
    wrong = client.get(f"/ibidem/page/selection?{SELECTED}&style=harvard", headers=PAGE)
    assert (wrong.status_code, "plain, apa, mla, chicago" in wrong.text) == (400, True)
    assert client.get("/ibidem/page/selection?doc=nosuch", headers=PAGE).status_code == 404
    assert client.get(f"/ibidem/page/selection.doc?{SELECTED}").status_code == 404
