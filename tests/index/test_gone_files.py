"""Documents are found whose files are gone, and no others."""

from pathlib import Path

import pytest

from ibidem.index.deletion import find_gone
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import records
from ibidem_ingest.document import Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.readers import read
from support.general_tables import general_tables


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "news"
    folder.mkdir()
    for name in ("a.txt", "b:7", "c.txt"):
        (folder / name).write_text(f"story {name}")
    (folder / "t.csv").write_text("text,who\nrow one,Ann\nrow two,Bob\n")
    (tmp_path / "newsroom.txt").write_text("a file beside the folder")
    return folder


@pytest.fixture(autouse=True)
def news(engine: Engine, tmp_path: Path, folder: Path) -> None:
    """The index holds the documents of the files, and one of none."""
    files = read([folder, tmp_path / "newsroom.txt"], "text")
    documents = [*(each for each in files if isinstance(each, Document)), Document("by hand", "no file")]
    engine.write(list(records(documents, general_tables())))
    engine.refresh()


@pytest.mark.slow
def test_documents_rows_of_tables_too_are_gone_with_their_files(engine: Engine, folder: Path, tmp_path: Path) -> None:
    for name in ("b:7", "t.csv"):
        (folder / name).unlink()
    (tmp_path / "newsroom.txt").unlink()
    gone = {"b:7": f"{folder}/b:7"} | {f"t.csv#{row}": f"{folder}/t.csv:{row}" for row in (2, 3)}
    found = find_gone(engine, [folder])
    assert found.documents == gone
    assert (found.folders, found.doubt) == ([], "that is more than a fifth of the 7 of the index")


@pytest.mark.slow
def test_a_folder_that_is_not_there_loses_no_document(engine: Engine, folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    with pytest.raises(UsageError, match=r"is not a folder.*its disk is mounted.*ibidem delete ID"):
        find_gone(engine, [folder])
    folder.mkdir()  # as a disk that is not mounted leaves it
    with pytest.raises(UsageError, match="is empty"):
        find_gone(engine, [folder])


@pytest.mark.slow
def test_a_folder_of_which_no_file_is_left_is_named(engine: Engine, folder: Path) -> None:
    later = folder / "later"
    later.mkdir()
    (later / "d.txt").write_text("story of the day")
    files = read([folder], "text")
    engine.write(list(records([each for each in files if isinstance(each, Document)], general_tables())))
    (later / "d.txt").unlink()
    (later / "lost+found").mkdir()
    found = find_gone(engine, [folder])
    assert (found.folders, found.doubt) == ([str(later)], f"no file is left of {later}")
