"""Tables: a document in each row; broken ones are read as far as they go."""

from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import Choice
from support.readings import parted


def outcomes(folder: Path, data: str | bytes, text_column: str = "") -> tuple[list[Document], list[Refusal]]:
    (folder / "a.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    return parted(read([folder / "a.csv"], Choice(text_column=text_column), max_text=1_000))


def test_columns_are_fields_by_their_name_and_all_others_go_into_meta(tmp_path: Path) -> None:
    data = "id,body,title,date,court,version\na,We the People,Preamble,17.9.1787,none,3\n"
    (row,), _ = outcomes(tmp_path, data, "body")
    assert row == Document("a", "We the People", "Preamble", "1787-09-17", version=3, meta={"court": "none"})
    assert row.origin == f"{tmp_path}/a.csv"


def test_a_row_without_an_id_has_its_number_and_cells_may_hold_lines(tmp_path: Path) -> None:
    rows, _ = outcomes(tmp_path, 'text;who\n"We\nthe ""People""";Ann\n\n;Bob\nUnion;\n')
    assert [(row.id, row.text) for row in rows] == [
        (f"{tmp_path}/a.csv#2", 'We\nthe "People"'),
        (f"{tmp_path}/a.csv#4", ""),
        (f"{tmp_path}/a.csv#5", "Union"),
    ]
    assert [row.origin for row in rows] == [f"{tmp_path}/a.csv:{row}" for row in (2, 4, 5)]


@pytest.mark.parametrize(
    ("head", "row", "field", "why"),
    [
        ("id,text", ",of the", "id", "is empty; fill it in"),
        ("id,text", '"",of the', "id", "is empty; fill it in"),
        ("text,language", "y,soon enough", "language", "is not a code"),
        ("title,text", "II,to form, a union", "", "3 cells, but the first line names 2; put a cell that contains ','"),
    ],
)
def test_a_row_that_cannot_be_taken_or_would_be_cut_harms_no_other(
    tmp_path: Path, head: str, row: str, field: str, why: str
) -> None:
    (_, _), (refusal,) = outcomes(tmp_path, f"{head}\nen,de,,\n{row}\nde,en\n")
    assert (refusal.where, refusal.id, refusal.field) == (f"{tmp_path}/a.csv:3", f"{tmp_path}/a.csv#3", field)
    assert why in refusal.why


@pytest.mark.parametrize("data", ["", "id,body\na,b\n", "\x00", "a\n" * 3])
def test_a_table_without_such_a_column_names_those_that_there_are(tmp_path: Path, data: str) -> None:
    _, (refusal,) = outcomes(tmp_path, data)
    assert "--text-column" in refusal.why


@pytest.mark.parametrize(
    ("tail", "why"),
    [(b"\xe9,x\n", "offset"), (b"y," + b"z" * 10**5, "a line"), (b'y,"' + b"z\n" * 10**5, "field"), (b'"y\n', "close")],
    ids=["encoding", "long line", "long cell", "open quote"],
)
def test_what_comes_before_damage_is_read_and_the_rest_refused(tmp_path: Path, tail: bytes, why: str) -> None:
    (first, *_), (last,) = outcomes(tmp_path, b"text,more\nWe the People,a\n" + b"Union,b\n" * 1_500 + tail)
    assert first.text == "We the People"
    assert why in last.why


def test_a_row_whose_quotation_marks_stay_open_from_cell_to_cell_is_no_larger_than_a_limit(tmp_path: Path) -> None:
    (_,), (refusal,) = outcomes(tmp_path, "text,more\nWe the People,a\n" + '"a\n",' * 200_000)
    assert "a row has more than 266,144 characters" in refusal.why


def test_a_table_that_gives_no_document_for_too_long_is_left(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text\na\n" + b",\n" * 500_000)
    (_, *_), (*_, refusal) = parted(read([tmp_path / "a.csv"], seconds=0.01))
    assert "0.01 seconds of reading gave no document" in refusal.why
