"""Files are read in a process with limits of its own: what goes over them is refused, and the next file is read."""

import os
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import docx
import pytest

from faults.environment import wait_for
from faults.kill import kill, living
from ibidem_ingest.errors import Refusal, Unreadable
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import Format
from ibidem_ingest.readers.sandbox import SandboxedReader, SandboxPool
from support.pdf_files import pdf
from support.readings import parted

pytestmark = pytest.mark.slow

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


def test_the_process_says_nothing_of_itself(page: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with SandboxedReader(100_000) as apart:
        apart.parse_record(Format.HTML, page)
    assert capfd.readouterr() == ("", "")


def test_the_process_is_given_no_passwords(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("IBIDEM_BROKER", "ibidem_engine", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "amqp://me:s3cr3t@mq//")
    with SandboxedReader(1_000, 60, (sys.executable, "-c", TELLS)) as apart:
        record = apart.parse_record(Format.HTML, page)
    assert record["PATH"] == os.environ["PATH"]
    assert "s3cr3t" not in str(record)


def test_a_file_is_read_as_it_is_in_this_process(apart: SandboxedReader, page: Path) -> None:
    assert apart.parse_record(Format.HTML, page)["title"] == "Duty"
    with pytest.raises(Unreadable, match="cannot be read"):
        apart.parse_record(Format.HTML, page.with_name("b.html"))
    assert apart.parse_record(Format.HTML, page)["title"] == "Duty"


ENDLESS = "import sys; sys.stdin.readline(); all(sys.stdout.write('x' * 1_000_000) for _ in iter(int, 1))"


@pytest.mark.parametrize(
    ("program", "seconds", "why"),
    [
        pytest.param(HANGS, 0.2, "more than 0.2 seconds", id="takes too long"),
        pytest.param(ENDLESS, 60, "gives more than 25,189,824 bytes", id="answers without end"),
        pytest.param(ENDS, 60, "crashed the process", id="ends its process"),
    ],
)
def test_a_file_whose_reader_goes_wrong_is_refused_each_time(
    page: Path, program: str, seconds: float, why: str
) -> None:
    with SandboxedReader(1_000, seconds, (sys.executable, "-c", program)) as apart:
        for _ in range(2):
            with pytest.raises(Unreadable, match=why):
                apart.parse_record(Format.HTML, page)


STARTS = f"""
import sys
from pathlib import Path
from ibidem_ingest.readers.sandbox import SandboxedReader
from ibidem_ingest.readers.formats import Format
with SandboxedReader(1_000, 60, (sys.executable, "-c", {FOR_EVER!r})) as apart:
    apart.parse_record(Format.HTML, Path("a.html"))
"""


def test_a_process_that_reads_for_ever_does_not_outlive_what_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", STARTS], stderr=subprocess.PIPE, text=True) as starter:
        assert starter.stderr is not None
        reader = int(starter.stderr.readline())
        starter.kill()
    try:
        assert wait_for(lambda: not living(reader), 20)
    finally:
        assert not (living(reader) and kill(reader))


def test_a_small_pdf_that_unpacks_into_more_than_the_memory_allows_is_refused_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "bomb.pdf").write_bytes(bomb(40_000_000))
    (tmp_path / "good.pdf").write_bytes(pdf([["Twelve and Co."]]))
    (_,), (refusal,) = parted(read([tmp_path / "bomb.pdf", tmp_path / "good.pdf"], max_text=10_000, seconds=60))
    assert refusal.field == "text"


TELLS_LIMIT = """
import json, resource, sys
sys.stdin.readline()
print(json.dumps({"record": {"limit": sys.argv[1]}}))
"""


@pytest.mark.parametrize(
    ("max_text", "limit"), [(1_000, 850_000_000), (10_000_000, 850_000_000), (20_000_000, 1_850_000_000)]
)
def test_the_process_may_take_less_than_a_gigabyte_unless_longer_texts_are_allowed(
    page: Path, max_text: int, limit: int
) -> None:
    with SandboxedReader(max_text, 60, (sys.executable, "-c", TELLS_LIMIT)) as apart:
        assert apart.parse_record(Format.HTML, page) == {"limit": str(limit)}


# Prints what is read, and how many bytes the largest of the processes that read held.
READ = """
import resource, sys
from ibidem_ingest.readers import read
for item in read([sys.argv[1]], seconds=120):
    print(type(item).__name__, getattr(item, "where", item.id), getattr(item, "why", ""))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1_024)
"""


def test_a_small_word_file_of_more_memory_than_is_allowed_is_refused_with_the_limit_and_the_next_is_read(
    tmp_path: Path,
) -> None:
    (tmp_path / "bomb.docx").write_bytes(word_bomb(tmp_path / "plain.docx", 1_500_000))
    (tmp_path / "bomb.html").write_text(PAGE)
    (tmp_path / "plain.docx").unlink()
    assert (tmp_path / "bomb.docx").stat().st_size < 400_000
    # By a process of its own, whose children are those of this reading alone.
    done = subprocess.run([sys.executable, "-c", READ, str(tmp_path)], capture_output=True, text=True, check=True)
    refusal, good, peak = done.stdout.splitlines()
    assert refusal.startswith(f"Refusal {tmp_path / 'bomb.docx'} ")
    assert "850,000,000 bytes of memory" in refusal
    assert good.startswith("Document ")
    assert int(peak) < 1_000_000_000


def word_bomb(plain: Path, paragraphs: int) -> bytes:
    """Write a Word file of so many paragraphs of one letter."""
    docx.Document().save(str(plain))
    bomb = BytesIO()
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "word/document.xml":
                content = content.replace(
                    b"<w:sectPr", b"<w:p><w:r><w:t>a</w:t></w:r></w:p>" * paragraphs + b"<w:sectPr", 1
                )
            target.writestr(name, content)
    return bomb.getvalue()


def bomb(operators: int) -> bytes:
    """Write a PDF of one page that shows a word so many times."""
    packer = zlib.compressobj(9)
    packed = [packer.compress(b"BT /F1 1 Tf ")]
    packed += [packer.compress(b"(a)Tj " * 10_000) for _ in range(operators // 10_000)]
    return packed_pdf(b"".join([*packed, packer.compress(b" ET"), packer.flush()]), 1)


def packed_pdf(stream: bytes, layers: int) -> bytes:
    """Write a PDF of one page whose content was packed so many times."""
    content, filters = pdf([["a"]]), b" ".join([b"/FlateDecode"] * layers)
    start, end = content.index(b"<< /Length"), content.index(b"\nendstream")
    head = b"<< /Filter [%b] /Length %d >>\nstream\n" % (filters, len(stream))
    return content[:start] + head + stream + content[end:]


PAGES = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(PAGES):
        words = f"The export duty on wheat was raised by the ministry for the {number}. time, officials said."
        (tmp_path / f"{number:02}.html").write_text(f"<title>Duty</title><p>{words}</p>")
    (tmp_path / "03.html").write_text("<title>Nothing</title>")
    return tmp_path


@pytest.mark.parametrize("processes", [1, 3])
def test_documents_come_in_the_order_of_their_files(folder: Path, processes: int) -> None:
    documents = list(read([folder], processes=processes))
    assert [document.id for document in documents] == [f"{number:02}.html" for number in range(PAGES)]
    assert [number for number, document in enumerate(documents) if isinstance(document, Refusal)] == [3]


def test_a_file_in_hand_does_not_keep_a_run_from_ending(folder: Path) -> None:
    hangs = (sys.executable, "-c", "import sys, time; sys.stdin.readline(); time.sleep(600)")
    pool = SandboxPool(1_000, seconds=600)
    with pool:
        (reader,) = pool._readers
        reader.command = hangs
        documents = pool.results([lambda apart: apart.parse_record(Format.HTML, folder / "00.html")])
        threading.Timer(0.5, os.kill, (os.getpid(), 2)).start()
        with pytest.raises(KeyboardInterrupt):
            next(documents)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("reader")]


def test_mails_of_a_mailbox_are_parsed_at_once_and_leave_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(copies))
    head = "From a@b Mon Jan 01 00:00:00 2024\nSubject: Duty {0}\nContent-Type: text/plain\n\n"
    mail = head + "The duty was raised {0} times.\n\n"
    box = tmp_path / "all.mbox"
    box.write_text("".join(mail.format(number) for number in range(PAGES)))
    matches, _ = parted(read([box], processes=2))
    assert [document.title for document in matches] == [f"Duty {number}" for number in range(PAGES)]
    assert not list(copies.iterdir())
