"""Mails saved by Outlook (`.msg`): compound files of properties, converted to mails in MIME format.

Source: [MS-OXMSG] for the streams, [MS-OXPROPS] for the numbers of the properties.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_string, policy
from email.message import EmailMessage
from email.utils import format_datetime, formataddr
from mimetypes import guess_type
from pathlib import Path
from struct import unpack_from
from typing import Any

from ibidem_ingest.errors import Unreadable, translate_damage
from ibidem_ingest.readers.formats import Format, load_library
from ibidem_ingest.readers.mail import MAX_PARTS, ParseFile, cut_header, mail_fields
from ibidem_ingest.readers.text import content

SUBJECT, SENT, DELIVERED, HEADERS = 0x0037, 0x0039, 0x0E06, 0x007D
SENDER_NAME, SENDER_SMTP, SENDER_ADDRESS = 0x0C1A, 0x5D01, 0x0C1F
MESSAGE_ID, IN_REPLY_TO, REFERENCES = 0x1035, 0x1042, 0x1039
BODY, HTML, RTF = 0x1000, 0x1013, 0x1009
BODY_CODE_PAGE, TEXT_CODE_PAGE = 0x3FDE, 0x3FFD
RECIPIENT_TYPE, NAME, SMTP, ADDRESS = 0x0C15, 0x3001, 0x39FE, 0x3003
LONG_FILE_NAME, FILE_NAME, DATA, MEDIA_TYPE = 0x3707, 0x3704, 0x3701, 0x370E  # numbers of properties

# Types of the properties that have a stream of their own.
UNICODE, TEXT, BINARY, OBJECT = "001F", "001E", "0102", "000D"

INTEGER, TIME = 0x0003, 0x0040  # types of the properties that are in the stream of all fixed ones

STREAM = "__substg1.0_"
PROPERTIES = "__properties_version1.0"
EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
RECIPIENTS = {1: "To", 2: "Cc"}
# Headers that are taken as they were transported; the others describe a body that Outlook has taken apart.
HEADER_NAMES = ("from", "to", "cc", "date", "subject", "message-id", "in-reply-to", "references")

MAX_DEPTH = 20  # mails that are attached to one another; only a malicious file nests more

NO_MESSAGE = "it is not a message of Outlook; give its format with --format, or leave it out"
REMEDY = "convert it with msgconvert (libemail-outlook-message-perl), and read the .eml"


def outlook_record(path: Path, max_text: int, parse: ParseFile | None = None) -> dict[str, object]:
    """Read a mail saved by Outlook, as `mail_record` reads an `.eml` file."""
    data = content(path, max_text)
    library = load_library(Format.MSG)
    with translate_damage("message of Outlook"):
        if not library.isOleFile(data=data):
            raise Unreadable(NO_MESSAGE)
        try:
            with library.OleFileIO(data) as file:
                entries = [tuple(path) for path in file.listdir(streams=True, storages=True)]
                if (PROPERTIES,) not in entries:
                    raise Unreadable(NO_MESSAGE)
                mail = Storage(file, entries).mail()
        except OSError as error:  # the library's own: the file is in memory
            raise Unreadable(
                f"it is not a valid message of Outlook ({error}); save it again, or leave it out"
            ) from error
        return mail_fields(mail, parse)


@dataclass(frozen=True, eq=False, slots=True)
class Storage:
    """The properties of a message, of a recipient, or of an attachment."""

    file: Any  # the compound file
    entries: list[tuple[str, ...]]  # the paths of everything in the storage
    path: tuple[str, ...] = ()  # its own
    depth: int = 0  # how many messages it is in

    def mail(self) -> EmailMessage:
        """Return the message as a mail."""
        if self.depth > MAX_DEPTH:
            raise Unreadable(f"its mails are nested more than {MAX_DEPTH} deep; leave it out", "text")
        mail = EmailMessage()
        for name, value in self._headers().items():
            with suppress(ValueError, IndexError, TypeError):  # since Python's address parser fails on some of them
                mail[name] = value
        coded = self.stream(HTML, BINARY)
        html = _decode(coded, self.integer(BODY_CODE_PAGE)) if coded else self.text(HTML)
        text = self.text(BODY)
        if text.strip() or not html.strip():
            if not text.strip() and self.stream(RTF, BINARY):
                raise Unreadable(f"it has its text only as RTF; {REMEDY}", "text")
            mail.set_content(text)
        else:
            mail.set_content(html, subtype="html")
        for attachment in self.below("__attach_version1.0_#"):
            attachment.attach_to(mail)
        return mail

    def attach_to(self, mail: EmailMessage) -> None:
        """Attach the content of this storage to a mail: a file, or another message."""
        name = cut_header(next(filter(None, map(self.text, (LONG_FILE_NAME, FILE_NAME, NAME))), ""))
        inner = (*self.path, f"{STREAM}{DATA:04X}{OBJECT}")
        if inner in self.entries:
            below = Storage(self.file, self.entries, inner, self.depth + 1)
            if (*inner, PROPERTIES) in self.entries:
                mail.add_attachment(below.mail(), filename=name or None)
            else:  # an embedded object of another program: only its name is kept
                mail.add_attachment(b"", "application", "octet-stream", filename=name)
            return
        kind = self.text(MEDIA_TYPE) or guess_type(name)[0] or ""
        kind = kind if re.fullmatch(r"(?!multipart|message)[\w.+-]+/[\w.+-]+", kind) else "application/octet-stream"
        mail.add_attachment(self.stream(DATA, BINARY), *kind.split("/"), filename=name)

    def _headers(self) -> Mapping[str, str]:
        """Return the headers: transmitted ones first, missing ones built from the properties."""
        transported = message_from_string(self.text(HEADERS), policy=policy.compat32)
        headers = {name.title(): str(transported[name]) for name in HEADER_NAMES if transported[name]}
        return {name: line for name, value in (self._made_headers() | headers).items() if (line := _line(value))}

    def _made_headers(self) -> dict[str, str]:
        sent = self.time(SENT) or self.time(DELIVERED)
        recipients: dict[str, list[str]] = {"To": [], "Cc": []}
        for recipient in self.below("__recip_version1.0_#"):
            header = RECIPIENTS.get(recipient.integer(RECIPIENT_TYPE))
            if header:
                recipients[header].append(recipient.person(NAME, SMTP, ADDRESS))
        return {
            "From": self.person(SENDER_NAME, SENDER_SMTP, SENDER_ADDRESS),
            **{name: ", ".join(filter(None, people)) for name, people in recipients.items()},
            "Date": format_datetime(sent) if sent else "",
            "Subject": self.text(SUBJECT),
            "Message-Id": self.text(MESSAGE_ID),
            "In-Reply-To": self.text(IN_REPLY_TO),
            "References": self.text(REFERENCES),
        }

    def person(self, name: int, *addresses: int) -> str:
        """Return a name and address in header format; addresses of Exchange are left out."""
        address = next((value for value in map(self.text, addresses) if "@" in value), "")
        called = _line(self.text(name))
        return formataddr((called if called != address else "", _line(address))) if address else called

    def below(self, prefix: str) -> Iterator["Storage"]:
        """Yield the storages of recipients or attachments."""
        depth = len(self.path)
        names = {entry[depth] for entry in self.entries if entry[:depth] == self.path and len(entry) > depth}
        numbered_runs = sorted(name for name in names if name.startswith(prefix))
        if len(numbered_runs) > MAX_PARTS:
            raise Unreadable(f"it has more than {MAX_PARTS:,} parts; leave it out", "text")
        for name in numbered_runs:
            yield Storage(self.file, self.entries, (*self.path, name), self.depth)

    def stream(self, number: int, kind: str) -> bytes:
        """Return the stream of a property; empty if it is missing."""
        path = (*self.path, f"{STREAM}{number:04X}{kind}")
        return bytes(self.file.openstream(list(path)).read()) if path in self.entries else b""

    def text(self, number: int) -> str:
        """Return a text property; empty if it is missing."""
        if data := self.stream(number, UNICODE):
            return data.decode("utf-16-le", errors="replace").rstrip("\x00")
        return _decode(self.stream(number, TEXT), self.integer(TEXT_CODE_PAGE) or self.integer(BODY_CODE_PAGE))

    def integer(self, number: int) -> int:
        """Return an integer property; 0 if it is missing."""
        return int(unpack_from("<i", value)[0]) if (value := self._fixed(number, INTEGER)) else 0

    def time(self, number: int) -> datetime | None:
        """Return a time property; None if it is missing or outside the calendar."""
        value = self._fixed(number, TIME)
        with suppress(OverflowError):
            return EPOCH + timedelta(microseconds=unpack_from("<Q", value)[0] // 10) if value else None
        return None

    def _fixed(self, number: int, kind: int) -> bytes:
        """Return the eight bytes of a property of fixed length; empty if it is missing."""
        path = (*self.path, PROPERTIES)
        data = bytes(self.file.openstream(list(path)).read()) if path in self.entries else b""
        head = len(data) % 16  # 24 or 32 bytes in a message, else 8; then 16 for each property
        for at in range(head, len(data), 16):
            if unpack_from("<HH", data, at) == (kind, number):
                return data[at + 8 : at + 16]
        return b""


def _decode(data: bytes, code_page: int) -> str:
    """Decode an 8-bit text by its code page; Windows-1252 if it has none or an unknown one."""
    names = {65001: "utf-8", 20127: "latin-1", 28591: "latin-1", 50220: "iso2022_jp", 50221: "iso2022_jp"}
    try:
        text = data.decode(names.get(code_page, f"cp{code_page or 1252}"), errors="replace")
    except LookupError:
        text = data.decode("cp1252", errors="replace")
    return text.rstrip("\x00")


def _line(value: str) -> str:
    """Return a header value on one line, without characters that headers must not contain."""
    clean = "".join(each if each.isprintable() else " " for each in value.encode(errors="replace").decode())
    return cut_header(" ".join(clean.split()))
