"""What paths hold comes out in a fixed order as documents and refusals; a suffix or `--format` tells the format."""

import errno
import gzip
import io
import lzma
import os
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, Unreadable, UsageError
from ibidem_ingest.readers import Tally, read
from ibidem_ingest.readers.compression import open_compressed
from ibidem_ingest.readers.formats import Choice, Format, IdFrom, guess_format, load_library, require
from ibidem_ingest.readers.inputs import InputFile, check, sources
from support.readings import parted


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "roe.txt").write_text("Roe v. Wade\n\fpage two")
    (tmp_path / "news.jsonl").write_text('{"id": 1, "text": "one", "court": "A"}\n{"id": 2}\n')
    (tmp_path / "page.html").write_text("<html><head><title>T</title></head><body><p>We the People</p></body></html>")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "scan.pdf").write_text("no pdf")
    (tmp_path / "photo.png").touch()
    return tmp_path


@pytest.mark.slow
def test_a_folder_gives_every_document_and_a_refusal_for_every_one_that_cannot_be(folder: Path) -> None:
    tally = Tally()
    (roe, news, page), (empty, no_text, scan) = parted(read([folder], tally=tally))
    assert roe == Document("cases/roe.txt", "Roe v. Wade\n\fpage two", "Roe v. Wade")
    assert empty == Refusal(f"{folder}/empty.txt", "empty.txt", "", "it is empty; leave it out")
    assert news == Document("1", "one", meta={"court": "A"})
    assert (no_text.where, no_text.id, no_text.field) == (f"{folder}/news.jsonl:2", "2", "text")
    assert page == Document("page.html", "We the People", "T")
    assert (scan.id, scan.field) == ("scan.pdf", "")
    assert tally == Tally(moved={"court": 1}, skipped_files={".png": 1})  # type: ignore[arg-type]  # a Counter equals its dict


def test_a_file_whose_name_is_no_utf_8_is_refused_in_words_that_can_travel(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("one")
    _, (refusal,) = parted(read([tmp_path]))
    assert (refusal.field, refusal.id) == ("id", "caf\\udce9.txt")
    assert "".join(astuple(refusal)).encode()


def files(*paths: Path | str, choice: Choice | None = None) -> list[InputFile]:
    return [each for each in sources(paths, choice or Choice(), Counter()) if isinstance(each, InputFile)]


def read_ids(*paths: Path | str, follow_links: bool = False) -> list[str]:
    return [source.id for source in files(*paths, choice=Choice(follow_links=follow_links))]


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


def test_a_hidden_folder_that_may_not_be_searched_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_dir(path: Path) -> bool:
        if path.parent.name == ".trash":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return path.exists()

    (tmp_path / ".trash").mkdir()
    (tmp_path / "a.txt").write_text("We the People")
    monkeypatch.setattr(Path, "is_dir", is_dir)
    assert [each.id for each in read([tmp_path])] == ["a.txt"]


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
    assert [f"{each.id} {each.format}" for each in files(tmp_path, choice=choice)] == read


@pytest.mark.parametrize(
    ("id_from", "ids"), [("path", ["sub/a.txt", "{0}/sub/a.txt"]), ("name", ["a.txt", "a.txt"]), ("hash", ["", ""])]
)
def test_ids_come_from_paths_names_or_texts_and_each_knows_its_file(
    tmp_path: Path, id_from: IdFrom, ids: list[str]
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").touch()
    paths_there = files(tmp_path, tmp_path / "sub" / "a.txt", choice=Choice(id_from=id_from))
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
    (inside / "none.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(inside / "pipe.txt")
    (tmp_path / "given").symlink_to(inside)
    skipped_files: Counter[str] = Counter()
    names = [source.id for source in sources([inside], Choice(), skipped_files) if isinstance(source, InputFile)]
    assert (names, skipped_files) == (["inside.txt"], {"link": 4, "named pipe": 1})
    assert read_ids(tmp_path / "given") == ["inside.txt"]
    assert read_ids(inside, follow_links=True) == [
        *("file.txt", "folder/outside.txt", "inside.txt", "loop.txt", "none.txt")
    ]


@pytest.mark.parametrize(
    ("name", "format_", "why"),
    [
        ("missing.txt", None, "missing.txt: No such file or directory; give files, folders or - for standard input"),
        (
            "LICENSE",
            None,
            r"LICENSE: its name does not .*; give it a suffix \(.txt, .pdf\), or, .*--format jsonl\|text\|html\|pdf",
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
        ({"text_format": "rtf"}, "html, markdown"),
    ],
)
def test_a_choice_that_cannot_be_meant_is_reported_first(arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        Choice(**arguments)


def test_standard_input_is_json_lines_and_nothing_else() -> None:
    check(["-"], Choice(Format.JSONL))
    with pytest.raises(UsageError, match="standard input is read as JSON Lines"):
        check(["-"], Choice(Format.TEXT))


SUFFIXES = {
    Format.JSONL: "news.jsonl, news.ndjson.zst, NEWS.JSONL.GZ",
    Format.TEXT: "brief.txt, index.rst, brief.txt.gz",
    Format.MARKDOWN: "readme.md",
    Format.HTML: "page.htm",
    Format.PDF: "scan.PDF",
    Format.CSV: "table.csv.bz2",
    None: "scan.pdf.gz, news.gz, LICENSE, photo.png",
}


def test_the_suffix_tells_the_format() -> None:
    for expected, names in SUFFIXES.items():
        assert {guess_format(name) for name in names.split(", ")} == {expected}, names


@pytest.mark.parametrize("format_", [Format.HTML, Format.PDF])
def test_a_missing_library_is_reported_with_the_remedy_and_before_anything_is_read(
    format_: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("trafilatura", "pypdfium2"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=r"not installed; install it with: pip install 'ibidem-search\[readers\]'"):
        require(format_)
    with pytest.raises(Unreadable, match=r"pip install 'ibidem-search\[readers\]'"):
        load_library(format_)


def test_an_id_that_a_prefix_makes_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "first", "text": "We the People"}\n')
    _, (refusal,) = parted(read([tmp_path], Choice(id_prefix="x" * 510)))
    assert (refusal.where, refusal.field, "515 bytes" in refusal.why) == (f"{tmp_path}/a.jsonl:1", "id", True)


LINES = b"".join(b'{"id": %d, "text": "We the People of the United States"}\n' % number for number in range(20_000))
LINE = b"We the People\n"
NOISE = os.urandom(10_000)
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}
EVERY = pytest.mark.parametrize("suffix", COMPRESS)


@pytest.mark.slow
@EVERY
@pytest.mark.parametrize("suffix_shown", [True, False])
def test_what_was_compressed_comes_out_again_also_where_the_suffix_does_not_tell(
    tmp_path: Path, suffix: str, suffix_shown: bool
) -> None:
    path = tmp_path / f"news{suffix if suffix_shown else ''}"
    path.write_bytes(COMPRESS[suffix](LINES))
    with open_compressed(path) as stream:
        assert stream.read() == LINES


@EVERY
def test_files_that_were_joined_are_read_to_the_end(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"news{suffix}"
    path.write_bytes(COMPRESS[suffix](b"one\n") + COMPRESS[suffix](NOISE) + COMPRESS[suffix](b"two\n"))
    with open_compressed(path) as stream:
        assert stream.read() == b"one\n" + NOISE + b"two\n"


@pytest.mark.slow
@EVERY
def test_a_bomb_is_never_unpacked_as_a_whole(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(COMPRESS[suffix](bytes(1 << 27)))
    tracemalloc.start()
    with open_compressed(path) as stream:
        assert sum(len(piece) for piece in iter(lambda: stream.read(1 << 16), b"")) == 1 << 27
    assert tracemalloc.get_traced_memory()[1] < 100_000_000
    tracemalloc.stop()


@pytest.mark.slow
@EVERY
def test_standard_input_may_be_compressed_and_stays_open(monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    raw = io.BytesIO(COMPRESS[suffix](LINES))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
    with open_compressed(None) as stream:
        assert stream.read() == LINES
    assert not raw.closed


def test_a_file_that_asks_for_more_memory_than_any_that_was_made_in_earnest_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "news.xz"
    chain = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    path.write_bytes(lzma.compress(LINE, filters=chain))
    with open_compressed(path) as stream, pytest.raises(lzma.LZMAError, match="emory"):
        _ = [stream.read() for _ in range(2)]  # what is there before the fault, then the fault
