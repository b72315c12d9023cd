"""Paths name files in a fixed order; files without a reader are counted, and bad paths are refused first."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.readers.formats import Choice, Format, IdFrom
from ibidem_ingest.readers.inputs import InputFile, check, printable, sources


def read_ids(*paths: Path | str, follow_links: bool = False) -> list[str]:
    paths_there = sources(paths, Choice(follow_links=follow_links), Counter())
    return [source.id if isinstance(source, InputFile) else "refused" for source in paths_there]


def test_a_folder_stands_for_all_below_it_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b/2.txt", "b/1.html", "a.jsonl", "c.pdf", "B.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert read_ids(tmp_path) == ["B.txt", "a.jsonl", "b/1.html", "b/2.txt", "c.pdf"]


def test_a_file_given_itself_is_named_by_its_path_as_it_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for year in ("2019", "2020"):
        (tmp_path / year).mkdir()
        (tmp_path / year / "a.txt").touch()
    monkeypatch.chdir(tmp_path)
    assert read_ids(Path("2019/a.txt"), Path("2020/a.txt"), "-") == ["2019/a.txt", "2020/a.txt", "-"]


def test_what_no_reader_takes_is_counted_by_suffix_and_hidden_files_are_left_alone(tmp_path: Path) -> None:
    for name in ("a.png", "b.PNG", "LICENSE", ".hidden.txt", ".git"):
        (tmp_path / name).touch()
    skipped_files: Counter[str] = Counter()
    assert list(sources([tmp_path], Choice(), skipped_files)) == []
    assert skipped_files == {".png": 2, "no suffix": 1}


@pytest.mark.parametrize(
    ("choice", "read"),
    [
        (Choice(), ["page.html html"]),
        (Choice("text"), ["LICENSE text", "page.html html", "x.LOG text"]),
        (Choice("*=text"), ["LICENSE text", "page.html text", "x.LOG text"]),
        (Choice(".log=text"), ["page.html html", "x.LOG text"]),
        (Choice(".html=text"), ["page.html text"]),
    ],
    ids=["none", "a format", "forced", "a suffix", "a known suffix"],
)
def test_a_format_is_that_of_files_whose_name_tells_none(tmp_path: Path, choice: Choice, read: list[str]) -> None:
    for name in ("LICENSE", "page.html", "x.LOG"):
        (tmp_path / name).touch()
    paths_there = [each for each in sources([tmp_path], choice, Counter()) if isinstance(each, InputFile)]
    assert [f"{each.id} {each.format}" for each in paths_there] == read


@pytest.mark.parametrize(
    ("id_from", "ids"),
    [("path", ["sub/a.txt", "{0}/sub/a.txt"]), ("name", ["a.txt", "a.txt"]), ("hash", ["", ""])],
)
def test_ids_come_from_paths_names_or_texts_and_each_knows_its_file(
    tmp_path: Path, id_from: IdFrom, ids: list[str]
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").touch()
    paths = [tmp_path, tmp_path / "sub" / "a.txt"]
    paths_there = [each for each in sources(paths, Choice(id_from=id_from), Counter()) if isinstance(each, InputFile)]
    assert [each.id for each in paths_there] == [each.format(tmp_path) for each in ids]
    assert all(each.origin == (str(each.path) if each.id else "") for each in paths_there)


def test_a_folder_that_links_back_to_itself_is_gone_through_once(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.txt").touch()
    (tmp_path / "below" / "back").symlink_to(tmp_path)
    (tmp_path / "twin").symlink_to(tmp_path / "below")
    assert read_ids(tmp_path, follow_links=True) == ["below/a.txt"]
    assert read_ids(tmp_path) == ["below/a.txt"]


def test_links_lead_out_of_a_folder_only_when_they_are_to_be_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / f"{folder.name}.txt").touch()
    (inside / "file.txt").symlink_to(outside / "outside.txt")
    (inside / "folder").symlink_to(outside)
    (inside / "loop.txt").symlink_to(inside / "loop.txt")
    (tmp_path / "given").symlink_to(inside)
    skipped_files: Counter[str] = Counter()
    names = [source.id for source in sources([inside], Choice(), skipped_files) if isinstance(source, InputFile)]
    assert (names, skipped_files) == (["inside.txt"], {"link": 3})
    assert read_ids(tmp_path / "given") == ["inside.txt"]
    assert read_ids(inside, follow_links=True) == ["file.txt", "folder/outside.txt", "inside.txt", "loop.txt"]


def test_links_to_files_may_be_followed_and_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.txt")
    assert read_ids(tmp_path, follow_links=True) == ["a.txt", "b.txt", "gone.txt"]


def test_a_folder_that_is_gone_when_its_turn_comes_is_a_refusal(tmp_path: Path) -> None:
    assert read_ids(tmp_path / "gone", tmp_path) == ["refused"]


@pytest.mark.parametrize(
    ("name", "format_", "why"),
    [
        ("missing.txt", None, "missing.txt: No such file or directory; give files, folders or - for standard input"),
        (
            "LICENSE",
            None,
            r"LICENSE: its name does not say what it contains; name its format: --format jsonl\|text\|html\|pdf",
        ),
        ("bad\x00name", None, "null"),
    ],
)
def test_what_cannot_be_meant_is_reported_first(tmp_path: Path, name: str, format_: Format | None, why: str) -> None:
    (tmp_path / "LICENSE").touch()
    with pytest.raises(UsageError, match=why):
        check([tmp_path, tmp_path / name], Choice(format_ or ""))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"format": "word"}, "no format 'word'; the formats are jsonl"),
        ({"format": "rst=text"}, "'rst' is not a suffix"),
        ({"format": ".tar.gz=text"}, "is not a suffix"),
        ({"encoding": "klingon"}, "'klingon' is not an encoding"),
        ({"encoding": "zlib"}, "'zlib' is not an encoding"),
        ({"id_from": "title"}, "no ids from 'title'; they are from path, name, hash"),
    ],
)
def test_a_choice_that_cannot_be_meant_is_reported_first(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Choice(**arguments)


def test_standard_input_is_json_lines_and_nothing_else() -> None:
    check(["-"], Choice(Format.JSONL))
    with pytest.raises(UsageError, match="standard input is read as JSON Lines"):
        check(["-"], Choice(Format.TEXT))


def test_a_name_that_is_no_utf_8_can_still_be_said() -> None:
    assert printable(Path(os.fsdecode(b"caf\xe9.txt"))) == "caf\\xe9.txt"


def test_standard_input_is_named_in_words(tmp_path: Path) -> None:
    (source,) = sources(["-"], Choice(), Counter())
    assert not isinstance(source, Refusal)
    assert source.where == "standard input"
