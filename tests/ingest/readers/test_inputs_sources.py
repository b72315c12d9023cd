"""Paths stand for files in a fixed order; what no reader takes is counted, and what cannot be is told first."""

import os
from collections import Counter
from pathlib import Path

import pytest

from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.readers.formats import Format
from ibidem_ingest.readers.inputs import Source, check, printable, sources


def found(*paths: Path | str, format_: Format | None = None, follow_links: bool = False) -> list[str]:
    there = sources(paths, format_, Counter(), follow_links=follow_links)
    return [source.id if isinstance(source, Source) else "refused" for source in there]


def test_a_folder_stands_for_all_below_it_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b/2.txt", "b/1.html", "a.jsonl", "c.pdf", "B.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert found(tmp_path) == ["B.txt", "a.jsonl", "b/1.html", "b/2.txt", "c.pdf"]


def test_a_file_given_itself_is_named_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    assert found(tmp_path / "a.txt", "-") == ["a.txt", "-"]


def test_what_no_reader_takes_is_counted_by_suffix_and_hidden_files_are_left_alone(tmp_path: Path) -> None:
    for name in ("a.png", "b.PNG", "LICENSE", ".hidden.txt", ".git"):
        (tmp_path / name).touch()
    passed_over: Counter[str] = Counter()
    assert list(sources([tmp_path], None, passed_over)) == []
    assert passed_over == {".png": 2, "no suffix": 1}


def test_with_a_format_every_file_of_a_folder_is_read_as_that(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").touch()
    (tmp_path / "page.html").touch()
    assert [source.format for source in sources([tmp_path], Format.TEXT, Counter()) if isinstance(source, Source)] == [
        Format.TEXT,
        Format.TEXT,
    ]


def test_a_folder_that_links_back_to_itself_is_gone_through_once(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "a.txt").touch()
    (tmp_path / "below" / "back").symlink_to(tmp_path)
    (tmp_path / "twin").symlink_to(tmp_path / "below")
    assert found(tmp_path, follow_links=True) == ["below/a.txt"]
    assert found(tmp_path) == ["below/a.txt"]


def test_links_lead_out_of_a_folder_only_when_they_are_to_be_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / f"{folder.name}.txt").touch()
    (inside / "file.txt").symlink_to(outside / "outside.txt")
    (inside / "folder").symlink_to(outside)
    (inside / "loop.txt").symlink_to(inside / "loop.txt")
    (tmp_path / "given").symlink_to(inside)
    passed_over: Counter[str] = Counter()
    names = [source.id for source in sources([inside], None, passed_over) if isinstance(source, Source)]
    assert (names, passed_over) == (["inside.txt"], {"link": 3})
    assert found(tmp_path / "given") == ["inside.txt"]
    assert found(inside, follow_links=True) == ["file.txt", "folder/outside.txt", "inside.txt", "loop.txt"]


def test_links_to_files_may_be_followed_and_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.txt")
    assert found(tmp_path, follow_links=True) == ["a.txt", "b.txt", "gone.txt"]


def test_a_folder_that_is_gone_when_its_turn_comes_is_a_refusal(tmp_path: Path) -> None:
    assert found(tmp_path / "gone", tmp_path) == ["refused"]


@pytest.mark.parametrize(
    ("name", "format_", "why"),
    [
        ("missing.txt", None, "missing.txt: No such file or directory; give files, folders or - for standard input"),
        (
            "LICENSE",
            None,
            r"LICENSE: its name does not tell what it holds; name its format: --format jsonl\|text\|html\|pdf",
        ),
        ("bad\x00name", None, "null"),
    ],
)
def test_what_cannot_be_meant_is_told_first(tmp_path: Path, name: str, format_: Format | None, why: str) -> None:
    (tmp_path / "LICENSE").touch()
    with pytest.raises(UsageError, match=why):
        check([tmp_path, tmp_path / name], format_)


def test_standard_input_is_json_lines_and_nothing_else() -> None:
    check(["-"], Format.JSONL)
    with pytest.raises(UsageError, match="standard input is read as JSON Lines"):
        check(["-"], Format.TEXT)


def test_a_name_that_is_no_utf_8_can_still_be_said() -> None:
    assert printable(Path(os.fsdecode(b"caf\xe9.txt"))) == "caf\\xe9.txt"


def test_standard_input_is_named_in_words(tmp_path: Path) -> None:
    (source,) = sources(["-"], None, Counter())
    assert not isinstance(source, Refusal)
    assert source.where == "standard input"
