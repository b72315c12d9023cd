"""Files are read in a process with limits of its own: what goes over them is refused, and the next file is read."""

import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.environment import wait_for
from faults.kill import kill, living
from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, Unreadable
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import Format
from ibidem_ingest.readers.sandbox import SandboxedReader
from support.pdf_files import pdf

PAGE = "<title>Duty</title><p>The export duty on wheat was raised by the ministry on Monday, officials said.</p>"
HANGS = "import sys, time; sys.stdin.readline(); time.sleep(60)"
ENDS = "import os, sys; sys.stdin.readline(); os.abort()"


TELLS = "import json, os, sys; sys.stdin.readline(); print(json.dumps({'record': dict(os.environ)}))"


FOR_EVER = """
import os, sys
from ibidem_ingest.readers import sandbox

def reads(*_):
    os.write(2, str(os.getpid()).encode() + b"\\n")
    while True:
        pass

sandbox.RECORDS[sandbox.Format.HTML] = reads
sys.argv[2:] = ["0.5"]  # seconds for a file; what started it would wait for longer
sandbox.main()
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "a.html"
    path.write_text(PAGE)
    return path


@pytest.fixture
def apart() -> Iterator[SandboxedReader]:
    with SandboxedReader(100_000) as apart:
        yield apart


@pytest.mark.slow
def test_the_process_says_nothing_of_itself(page: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with SandboxedReader(100_000) as apart:
        apart.parse_record(Format.HTML, page)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_the_process_is_given_no_passwords(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IBIDEM_BROKER", "ibidem_engine", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "amqp://me:s3cr3t@mq//")
    with SandboxedReader(1_000, 60, (sys.executable, "-c", TELLS)) as apart:
        record = apart.parse_record(Format.HTML, page)
    assert record["PATH"] == os.environ["PATH"]
    assert "s3cr3t" not in str(record)


@pytest.mark.slow
def test_a_file_is_read_as_it_is_in_this_process(apart: SandboxedReader, page: Path) -> None:
    assert apart.parse_record(Format.HTML, page)["title"] == "Duty"
    with pytest.raises(Unreadable, match="cannot be read"):
        apart.parse_record(Format.HTML, page.with_name("b.html"))
    assert apart.parse_record(Format.HTML, page)["title"] == "Duty"


@pytest.mark.slow
def test_a_file_that_takes_too_long_is_refused(page: Path) -> None:
    with (
        SandboxedReader(1_000, 0.2, (sys.executable, "-c", HANGS)) as apart,
        pytest.raises(Unreadable, match="more than"),
    ):
        apart.parse_record(Format.HTML, page)


STARTS = f"""
import sys
from pathlib import Path
from ibidem_ingest.readers.sandbox import SandboxedReader
from ibidem_ingest.readers.formats import Format
with SandboxedReader(1_000, 60, (sys.executable, "-c", {FOR_EVER!r})) as apart:
    apart.parse_record(Format.HTML, Path("a.html"))
"""


@pytest.mark.slow
def test_a_process_that_reads_for_ever_does_not_outlive_what_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTS], stderr=subprocess.PIPE, text=True) as starter:
        assert starter.stderr is not None
        reader = int(starter.stderr.readline())
        starter.kill()
    try:
        assert wait_for(lambda: not living(reader), 20)
    finally:
        assert not (living(reader) and kill(reader))


@pytest.mark.slow
def test_a_file_that_ends_the_process_is_refused_each_time(page: Path) -> None:
    with SandboxedReader(1_000, 60, (sys.executable, "-c", ENDS)) as apart:
        for _ in range(2):
            with pytest.raises(Unreadable, match="ended the process"):
                apart.parse_record(Format.HTML, page)


@pytest.mark.slow
def test_a_small_pdf_that_unpacks_into_more_than_the_memory_allows_is_refused_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "bomb.pdf").write_bytes(bomb(40_000_000))
    (tmp_path / "good.pdf").write_bytes(pdf([["Twelve and Co."]]))
    refusal, good = read([tmp_path / "bomb.pdf", tmp_path / "good.pdf"], max_text=10_000, seconds=60)
    assert isinstance(refusal, Refusal)
    assert refusal.field == "text"
    assert isinstance(good, Document)


def bomb(operators: int) -> bytes:
    """Write a PDF of one page that shows a word so many times."""
    packer = zlib.compressobj(9)
    packed = [packer.compress(b"BT /F1 1 Tf ")]
    packed += [packer.compress(b"(a)Tj " * 10_000) for _ in range(operators // 10_000)]
    stream = b"".join([*packed, packer.compress(b" ET"), packer.flush()])
    content = pdf([["a"]])
    start, end = content.index(b"<< /Length"), content.index(b"\nendstream")
    return content[:start] + b"<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(stream) + stream + content[end:]
