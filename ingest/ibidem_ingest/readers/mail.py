"""Mails: one in a file (`.eml`), or many in a mailbox (`.mbox`), by Python's own parser."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import BinaryIO

from ibidem_ingest.dates import iso_date
from ibidem_ingest.errors import Unreadable, translate_damage
from ibidem_ingest.readers.formats import Format, load_library
from ibidem_ingest.readers.text import BYTES_A_CHARACTER, EMPTY, content, first_line
from ibidem_ingest.readers.time_limit import TimeLimit

MOST_PARTS = 1_000
"""Parts of a mail that are read at most; only a malicious mail nests more."""

BEGIN = b"From "
"""The beginning of the line before each mail of a mailbox."""


def mail_record(path: Path, max_text: int) -> dict[str, object]:
    """Read a mail: its subject is the title, its sender the source; attached texts are further pages.

    Args:
        path: The file.
        max_text: The most characters that its texts may have.

    Raises:
        Unreadable: It is no mail, holds no text, or is too large; or the library for HTML is missing.
    """
    data = content(path, max_text)
    with translate_damage("mail"):
        mail = message_from_bytes(data, policy=policy.default)
        if not isinstance(mail, EmailMessage) or not mail.keys():
            raise Unreadable("it is no mail: it begins with no header; give its format with --format, or leave it out")
        pages = [text for text in _texts(mail) if text.strip()]
        record = _head(mail)
    if not pages:
        raise Unreadable(EMPTY if not mail.get_payload() else "it holds no text; leave it out", "text")
    return record | {"pages": [_clean(page) for page in pages], "title": record["title"] or first_line(pages[0])}


def mails(stream: BinaryIO, max_text: int, time_limit: TimeLimit) -> Iterator[bytes | None]:
    """Cut a mailbox into mails; None is yielded for one that is larger than any text that is taken.

    Args:
        stream: The mailbox.
        max_text: The most characters that a text may have.
        time_limit: Checked with each line.
    """
    limit = max_text * BYTES_A_CHARACTER
    mail: bytearray | None = None
    size, blank = 0, True
    while line := stream.readline(limit + 1):
        time_limit.check()
        if blank and line.startswith(BEGIN):
            if mail is not None:
                yield bytes(mail) if size <= limit else None
            mail, size = bytearray(), 0
        elif mail is not None:
            size += len(line)
            if size <= limit:
                mail += line[1:] if line.startswith(b">From ") else line
        blank = not line.strip()
    if mail is not None:
        yield bytes(mail) if size <= limit else None


def _head(mail: EmailMessage) -> dict[str, object]:
    """Read the fields of the head, and the names of attachments that are no text."""
    names = [name for part in _parts(mail) if (name := part.get_filename())]
    meta = {name: value for name in ("to", "cc", "message-id", "in-reply-to") if (value := _line(mail, name))}
    return {
        "title": _line(mail, "subject"),
        "source": _line(mail, "from"),
        "date": iso_date(_line(mail, "date")),
        "meta": meta | ({"attachments": [_clean(name) for name in names]} if names else {}),
    }


def _texts(mail: EmailMessage) -> Iterator[str]:
    """Yield the body, then each text that is attached."""
    body = mail.get_body(("plain", "html"))
    if isinstance(body, EmailMessage):
        yield _text(body)
    for part in _parts(mail):
        if part is not body and part.get_content_maintype() == "text" and part.is_attachment():
            yield _text(part)


def _parts(mail: EmailMessage) -> Iterator[EmailMessage]:
    for number, part in enumerate(mail.walk()):
        if number == MOST_PARTS:
            raise Unreadable(f"it has more than {MOST_PARTS:,} parts; leave it out", "text")
        if isinstance(part, EmailMessage):
            yield part


def _text(part: EmailMessage) -> str:
    """Decode a text by the encoding that it names, or as UTF-8 when that is unknown."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        text = data.decode(part.get_content_charset("utf-8"), errors="replace")
    except LookupError:
        text = data.decode(errors="replace")
    if part.get_content_subtype() != "html":
        return text
    body = load_library(Format.HTML).html2txt(_clean(text)) if text.strip() else ""
    return str(body or "")


def _line(mail: EmailMessage, name: str) -> str:
    return _clean(" ".join(str(mail.get(name, "")).split()))


def _clean(text: str) -> str:
    """Replace null bytes and lone surrogates, which no document may hold."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()
