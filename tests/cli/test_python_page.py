"""The examples of `docs/python.md` run as they are printed; what is wrong is an `IbidemError`; the demonstration."""

import gzip
import json
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem import Document
from ibidem.cli import main
from ibidem.cli.demo import FOLDER, demonstrate, licences, next_commands
from ibidem_core.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


@pytest.mark.slow
def test_the_page_runs_from_top_to_bottom(tmp_path: Path, tables_folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IBIDEM_CONCURRENCY", "1")
    shutil.copytree(tables_folder, tmp_path / ".ibidem" / "tables")
    case = {"id": "case", "text": "The export duty on wheat is void.", "title": "A case", "date": "1987-05-01"}
    with gzip.open("cases.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(case) + "\n" + json.dumps(case | {"id": "copy", "date": "1987-04-30"}))
    Path("pleadings").mkdir()
    Path("pleadings/plea.txt").write_text("We plead that wheat is no grain.", encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)  # noqa: S102 - our own page
    printed = capsys.readouterr().out
    assert "level='near'" in printed
    assert "\n3 []\n" in printed
    assert "    A case {'signature': 'content'" in printed


GOOD = Document("good", "Some words of a text.")
WRONG: dict[str, tuple[Callable[[ibidem.Tables, ibidem.Settings], object], str]] = {
    "a setting's value": (lambda *_: ibidem.Settings(lease="soon"), "IBIDEM_LEASE .*'soon'.*integer"),
    "an address": (lambda *_: ibidem.Settings(engine="mysql://me:s3cret@host"), "IBIDEM_ENGINE=.*sqlite://"),
    "a setting's name": (lambda *_: ibidem.Settings(indx="news"), "indx is not a setting; did you mean index"),
    "a changed setting's name": (lambda _, settings: settings.changed(indx="news"), "indx is not a setting"),
    "a date": (lambda tables, _: ibidem.compare(GOOD, Document("b", "x", date="soon"), tables), "'b', field 'date'"),
    "no text": (lambda tables, _: ibidem.compare(GOOD, Document("b", None), tables), "'b', field 'text'"),  # type: ignore[arg-type]
    "no id": (lambda tables, _: ibidem.compare(Document(None, "x"), GOOD, tables), "field 'id'"),  # type: ignore[arg-type]
    "a source": (lambda tables, _: ibidem.compare(GOOD, Document("b", "x", source=[7]), tables), "field 'source'"),  # type: ignore[arg-type]
    "texts to compare": (lambda tables, _: ibidem.compare("a", "b", tables), "'a' is not a document.*Document"),  # type: ignore[arg-type]
    "records to sign": (lambda tables, _: ibidem.sign([{"id": "a"}], tables), "is not a document.*read_record"),  # type: ignore[list-item]
    "a text to submit": (lambda _, settings: ibidem.submit("text", settings), "'text' is not a list of documents"),  # type: ignore[arg-type]
    "one document to submit": (lambda _, settings: ibidem.submit(GOOD, settings), "is not a list of documents"),  # type: ignore[arg-type]
    "records to submit": (lambda _, settings: ibidem.submit([{"id": "a"}], settings), "is not a document"),  # type: ignore[list-item]
    "one path": (lambda *_: ibidem.read("cases.jsonl"), "'cases.jsonl' is not a list of paths"),
    "a path to an index": (lambda *_: ibidem.open_engine(Path("index.sqlite"), "news"), "sqlite:///"),  # type: ignore[arg-type]
    "a number for an index": (lambda *_: ibidem.open_engine("sqlite:///index.sqlite", 7), "index name 7"),  # type: ignore[arg-type]
}


@pytest.mark.slow
@pytest.mark.parametrize(("mistake", "message"), WRONG.values(), ids=WRONG)
def test_what_is_given_wrong_is_an_error_of_ours_that_says_what_is_right(
    mistake: Callable[[ibidem.Tables, ibidem.Settings], object], message: str, tmp_path: Path
) -> None:
    settings = ibidem.Settings(engine=f"sqlite:////{tmp_path}/index.sqlite", concurrency=1)
    with pytest.raises(ibidem.IbidemError, match=message):
        mistake(ibidem.Tables(tmp_path / "tables"), settings)


Demonstration = tuple[Settings, Mapping[str, Any], Mapping[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demonstration(folder: Path, tables_folder: Path) -> Demonstration:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        mine = Settings(engine="sqlite:///mine.sqlite", broker="redis://mine", tables=tables_folder, concurrency=1)
        return demonstrate(mine, licences(folder / "none"))


@pytest.mark.slow
def test_every_text_is_indexed_and_copies_of_the_same_licence_are_noticed(demonstration: Demonstration) -> None:
    _, summary, _ = demonstration
    assert summary["indexed"] == summary["read"] > 20
    assert summary["duplicates"]["identical"] > 0


@pytest.mark.slow
def test_the_users_own_index_and_queue_are_left_alone(demonstration: Demonstration, folder: Path) -> None:
    settings, _, _ = demonstration
    assert str(FOLDER) in settings.engine
    assert settings.broker == ""
    assert not (folder / "mine.sqlite").exists()


@pytest.mark.slow
def test_the_commands_to_try_next_work_as_they_are_printed(
    demonstration: Demonstration, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    settings, _, response = demonstration
    monkeypatch.setenv("IBIDEM_TABLES", str(settings.tables))
    commands = next_commands(settings, response, "ibidem")
    assert len(commands) == 3
    for command in commands:
        setting, program, *arguments = shlex.split(command)
        name, _, value = setting.partition("=")
        assert (name, program) == ("IBIDEM_ENGINE", "ibidem")
        monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert not left.value.code
        assert capsys.readouterr().out


def test_one_copyright_file_that_two_packages_share_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / "libc6").mkdir()
    (tmp_path / "libc6" / "copyright").write_text("This is the GNU C library.", encoding="utf-8")
    (tmp_path / "libc6-dev").symlink_to(tmp_path / "libc6")
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    found = [licence.id for licence in licences(tmp_path) if licence.source == "Debian"]
    assert found == ["debian/libc6"]
