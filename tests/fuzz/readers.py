"""Files of every format, and dates."""

from collections.abc import Callable, Mapping

import orjson

from fuzz.target import Target, as_any_text, check_message, folder
from ibidem_ingest.dates import interval, iso_date
from ibidem_ingest.document import Document, read_record
from ibidem_ingest.errors import Refusal, Refused, Unreadable
from ibidem_ingest.readers import read
from ibidem_ingest.readers.formats import Format
from ibidem_ingest.readers.sandbox import RECORDS
from ingest.readers.test_inputs import COMPRESS
from ingest.readers.test_text import write_book, write_epub
from support.outlook_files import Message
from support.pdf_files import pdf

MAX_TEXT = 20_000  # characters of a text, few enough for a small file to unpack into more

LINES = b"""\
{"id": "a", "text": "We the People", "title": "Preamble", "date": "1787-09-17", "language": "en-US", "version": 3}
{"id": 7, "pages": ["One page.\\f", "Another, \\u00e9."], "court": "9th Cir.", "meta": {"docket": ["12-1", 2.5, null]}}

{"id": "b", "text": "\\ud83d\\ude00 \\ud800", "source": "AP", "url": "https://example.org/a?b=c"}
not JSON
"""
BOMB = b'{"id": "z", "text": "' + b"0" * 300_000 + b'"}\n'
PAGE = b"""<!DOCTYPE html><html lang="en-GB"><head><meta charset="utf-8"><title>A page</title>
<meta property="article:published_time" content="1987-10-19T09:30:00Z"><link rel="canonical" href="https://example.org/a">
<script>var a = "</p>";</script></head><body><nav><ul><li><a href="/">Home</a></li></ul></nav><article><h1>Grain</h1>
<p>The export duty on wheat &amp; rice was raised by the ministry on Monday, officials said in the capital.</p>
<table><tr><td>1</td><td>2</td></tr></table><p>Traders had expected it &#8212; and sold before.</p>
</article></body></html>"""
MARKUP = (
    b"<div>",
    b"</div>",
    b"<p>",
    b"<!--",
    b"-->",
    b"&#x0;",
    b"&lt;",
    b"<table><tr><td>",
    b"<meta charset=",
    b"<![CDATA[",
)
MAILS = (
    b"From: =?utf-8?q?Ann?= <a@b.c>\nSubject: Rent\nDate: Mon, 19 Oct 1987 09:30:00 GMT\n\nDear Sir\n",
    (
        b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>x</p>\n--b\n"
        b"Content-Disposition: attachment; filename=a.txt\nContent-Transfer-Encoding: base64\n\nV2U=\n--b--\n"
    ),
)


def letter() -> bytes:
    """Write a small message of Outlook with a recipient, a file and another message."""
    inner = Message({0x0037: "Before", 0x1000: "Is it due?"})
    texts = {0x0037: "Rent", 0x1000: "It may wait.", 0x0C1A: "Bo", 0x007D: "Date: Sun, 3 May 2026 08:00:00 +0000\n\n"}
    return Message(texts, recipients=[(1, "Ann", "a@b.example")], attachments=[("a.txt", b"x"), ("b", inner)]).file()


def check(outcome: Document | Refusal) -> None:
    """See that a document is one when it is read again, and that a refusal can be written down."""
    if isinstance(outcome, Refusal):
        check_message(outcome.why)
        check_message(str(Refused(outcome)))
        orjson.dumps(outcome)
    else:
        assert len(outcome.text) <= MAX_TEXT
        assert read_record(orjson.loads(orjson.dumps(outcome.as_record())), "again") == outcome


def write_file(name: str) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        path = folder() / name
        path.write_bytes(data)
        for outcome in read([path], max_text=MAX_TEXT):
            check(outcome)

    return run


def write_record(format_: Format) -> Callable[[bytes], None]:
    """Return what reads an input as a file of a format that is read in a process of its own, in this one."""

    def run(data: bytes) -> None:
        path = folder() / f"a.{format_}"
        path.write_bytes(data)
        try:
            check(read_record(RECORDS[format_](path, MAX_TEXT) | {"id": "a"}, "a file", MAX_TEXT))
        except Unreadable as error:
            check_message(error.why)

    return run


def date(data: bytes) -> None:
    """Read a date as documents have them, and as other programs write them."""
    text = as_any_text(data)
    try:
        interval(text)
    except ValueError as error:
        check_message(str(error))
    interval(iso_date(text))
    interval(iso_date(float(len(text)) * int.from_bytes(data[:7], "little")))


TARGETS: Mapping[str, Target] = {
    "jsonl": Target(
        write_file("a.jsonl"), (LINES, b"\xef\xbb\xbf" + LINES), (b'"id"', b"null", b"1e999", b"\\ud800", b"[[[[")
    ),
    "text": Target(
        write_file("a.txt"), (b"\n  COMPLAINT FOR DAMAGES\r\n1. Plaintiff\x0cPage 2, \xc3\xa9", b"\xef\xbb\xbfa")
    ),
    "html": Target(write_record(Format.HTML), (PAGE, PAGE.decode().encode("utf-16")), MARKUP),
    "pdf": Target(
        write_record(Format.PDF),
        (pdf([["Twelve and Co.", "second line"], ["page two"]], "A title"), pdf([["locked"]], encrypted=True)),
        (b"obj", b"endobj", b"stream", b"/Kids [2 0 R]", b"/Length 99999999", b"/Count -1", b"<<", b"2 0 R"),
    ),
    "markdown": Target(
        write_record(Format.MARKDOWN),
        (b"---\na: b\n---\n# A *title*\n\nSee [it](a.b) and ![p](c)\n\n| a |\n|---|\n| b |\n\n```\ncode\n```\n> x\n",),
        (b"[", b"](", b"**", b"`", b"|", b"> ", b"<!--", b"---\n", b"\x00"),
    ),
    "eml": Target(
        write_record(Format.EML), MAILS, (b"Content-Type: ", b"=?utf-8?b?", b"--b\n", b"boundary=b", b"charset=")
    ),
    "msg": Target(
        write_record(Format.MSG), (letter(),), (b"__substg1.0_", b"\x1f\x00", b"\xfe\xff\xff\xff", b"\xff\xff")
    ),
    "mbox": Target(
        write_file("a.mbox"),
        tuple(b"From a\n" + mail + b"\nFrom b\n" + mail for mail in MAILS),
        (b"\nFrom ", b">From "),
    ),
    "docx": Target(
        write_record(Format.DOCX), (write_book(folder() / "docx").read_bytes(),), (b"PK\x03\x04", b"word/document.xml")
    ),
    "epub": Target(
        write_record(Format.EPUB),
        (write_epub(folder() / "epub").read_bytes(),),
        (b"PK\x03\x04", b"META-INF/container.xml"),
    ),
    "csv": Target(
        write_file("a.csv"),
        (b'id,text,date,more\na,"We, the ""People""",1787,x\n\nb,Union,,y\n', b"\xef\xbb\xbftext;version\nx;3\n"),
        (b'"', b",", b";", b"\t", b"\r", b"\x00", b"text"),
    ),
    "date": Target(
        date,
        (
            b"1787-09-17T12:00:00.5+02:00",
            b"1787-09",
            b"1787/09/17 09:30:00",
            b"Mon, 19 Oct 1987 09:30:00 GMT",
            b"561600000",
        ),
        (b"-", b"0000", b"9999", b"T24:00", b"+99:99"),
    ),
    **{
        f"jsonl{suffix}": Target(write_file(f"a.jsonl{suffix}"), (file(LINES), file(LINES) * 2, file(BOMB)))
        for suffix, file in COMPRESS.items()
    },
}
