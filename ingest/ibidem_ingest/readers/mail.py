"""Mails: one per file (`.eml`, or a file of a Maildir), many in a mailbox (`.mbox`), or saved by Outlook (`.msg`).

Those of Outlook are compound files of properties, converted to mails in MIME format. Source: [MS-OXMSG] for the
streams, [MS-OXPROPS] for the numbers of the properties.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, message_from_string, policy
from email.message import EmailMessage
from email.utils import format_datetime, formataddr
from mimetypes import guess_type
from pathlib import Path
from struct import unpack_from
from typing import Any, BinaryIO

from typing_extensions import override

from ibidem_ingest.dates import iso_date
from ibidem_ingest.errors import Unreadable, translate_errors
from ibidem_ingest.mail.head import MAIL, TYPE, bare_subject, message_ids
from ibidem_ingest.mail.html_body import html_to_text
from ibidem_ingest.readers.formats import Format, load_library
from ibidem_ingest.readers.text import BYTES_A_CHARACTER, EMPTY_REMEDY, TimeLimit, content, first_line

MAX_PARTS = 1_000  # parts of a mail that are read at most; only a malicious mail nests more

MAX_HEADER = 8_192  # characters of a header field that are parsed: Python's parser takes minutes for 160,000

FROM_LINE = b"From "  # the beginning of the line before each mail of a mailbox

_HEADER = re.compile(rb"From |[!-9;-~]+:")  # how a mail with a header begins
_NO_HEADER = b"Content-Type: text/plain; charset=utf-8\n\n"

# Field of a mail's record with the records of what is attached, until `inputs` makes documents of them.
ATTACHED = "attached"

# Reads an attachment in a foreign format by its name and content; raises `Unreadable`.
ParseFile = Callable[[str, bytes], dict[str, object]]


def mail_record(path: Path, max_text: int, parse: ParseFile | None = None) -> dict[str, object]:
    """Read a mail: its subject is the title, its sender the source; attachments are under `attached`."""
    data = content(path, max_text)
    with translate_errors("mail"):
        mail = message_from_bytes(data, policy=ShortHeaders())
        if not isinstance(mail, EmailMessage) or not mail.keys():
            raise Unreadable(
                "it is not a mail: it does not begin with a header; give its format with --format, or leave it out"
            )
        return mail_fields(mail, parse)


class ShortHeaders(policy.EmailPolicy):
    """Python's default policy, which also cuts long header fields before they are parsed."""

    @override
    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, cut_header(value)


def cut_header(value: str) -> str:
    """Cut a header field to the characters that are parsed, between two words."""
    return value if len(value) <= MAX_HEADER else value[:MAX_HEADER].rsplit(maxsplit=1)[0]


def mail_fields(mail: EmailMessage, parse: ParseFile | None) -> dict[str, object]:
    """Return the record of a parsed mail; see `mail_record`.

    A mail without text is one of its thread all the same, so that it is kept if anything else is known of it.
    """
    contents = _Contents(parse)
    contents.read(mail)
    text = contents.text()
    record = _head(mail, contents.names)
    is_known = record["title"] or record["source"] or contents.names or _line(mail, "message-id")
    if not text.strip() and not is_known:
        raise Unreadable(EMPTY_REMEDY if not mail.get_payload() else "it contains no text; leave it out", "text")
    record |= {"text": text, "title": record["title"] or first_line(text)}
    attachments = [_sub_record(mail, each) for each in contents.attached]
    return record | ({ATTACHED: attachments} if attachments else {})


def mails(stream: BinaryIO, max_text: int, time_limit: TimeLimit) -> Iterator[bytes | None]:
    """Split a mailbox into mails; None is yielded for a mail over the maximum size of a text.

    An entry without a header gets one, so that it is read as a text.
    """
    limit = max_text * BYTES_A_CHARACTER
    mail: bytearray | None = None
    size, blank = 0, True
    while True:
        line = stream.readline(limit + 1)
        time_limit.check()
        if not line or (blank and line.startswith(FROM_LINE)):
            if mail is not None:
                whole = bytes(mail) if _HEADER.match(mail) else _NO_HEADER + mail
                yield whole if size <= limit else None
            if not line:
                return
            mail, size = bytearray(), 0
        elif mail is not None:
            size += len(line)
            if size <= limit:
                mail += line[1:] if line.startswith(b">From ") else line
        blank = not line.strip()


def _head(mail: EmailMessage, attachments: Sequence[str] = ()) -> dict[str, object]:
    subject, sent, sender = _line(mail, "subject"), _line(mail, "date"), _line(mail, "from")
    values: dict[str, object] = {TYPE: MAIL, "from": sender}
    values |= {name: _line(mail, name) for name in ("to", "cc", "message-id", "in-reply-to")}
    values |= {"sent": sent, "subject": bare_subject(subject), "references": message_ids(_line(mail, "references"))}
    meta = {name: value for name, value in (values | {"attachments": attachments}).items() if value}
    return {"title": subject, "source": sender, "date": iso_date(sent) or sent, "meta": meta}


@dataclass(eq=False, slots=True)
class _Contents:
    """Contents of a mail: the texts of its body, and its attachments."""

    parse: ParseFile | None  # as for `mail_record`
    body: list[str] = field(default_factory=list)
    attached: list[dict[str, object]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    parts: int = 0

    def text(self) -> str:
        """Return the body; several texts are joined as a mail program shows them."""
        return _clean("\n".join(text for text in self.body if text.strip())).replace("\f", "\n")

    def read(self, mail: EmailMessage) -> None:
        """Read the parts of a mail, without recursion."""
        waiting = [mail]
        while waiting:
            part = waiting.pop()
            self.parts += 1
            if self.parts > MAX_PARTS:
                raise Unreadable(f"it has more than {MAX_PARTS:,} parts; leave it out", "text")
            if part.get_content_type() == "multipart/alternative":
                waiting += _alternative(part)
            elif part.get_content_maintype() == "multipart":
                waiting += reversed(_below(part))
            else:
                self._take(part)

    def _take(self, part: EmailMessage) -> None:
        name = _clean(part.get_filename() or "")
        if part.get_content_type() == "message/rfc822":
            for mail in _below(part):  # its attachments belong to the same family
                contents = _Contents(self.parse, parts=self.parts)
                contents.read(mail)
                self.parts = contents.parts
                record = _head(mail) | {"text": contents.text()}
                self._attach(name or str(record["title"]), record)
                self.attached += contents.attached
        elif part.get_content_maintype() == "text" and not part.is_attachment() and not name:
            self.body.append(_text(part))
        elif part.get_content_maintype() == "text":
            self._attach(name, {"text": _clean(_text(part))})
        elif name:
            record, data = {}, part.get_payload(decode=True)
            if self.parse is not None and isinstance(data, bytes):
                try:
                    record = self.parse(name, data)
                except Unreadable as error:
                    record = {"unreadable": error.why}
            self._attach(name, record)

    def _attach(self, name: str, record: dict[str, object]) -> None:
        self.names.append(name or f"part {self.parts}")
        if record:
            self.attached.append(record | {"attachment": self.names[-1]})


def _sub_record(mail: EmailMessage, record: dict[str, object]) -> dict[str, object]:
    """Complete the record of an attachment: its file name is the title, sender and date are those of the mail."""
    date, source = iso_date(_line(mail, "date")), _line(mail, "from")
    name = record["attachment"]
    meta = record.get("meta")
    fields = meta if isinstance(meta, dict) else {}
    own = {key: value for key, value in record.items() if key != "attachment" and value}
    return {"title": name, "date": date, "source": source} | own | {"meta": fields | {"attachment": name}}


def _below(part: EmailMessage) -> list[EmailMessage]:
    payload = part.get_payload()
    return [each for each in payload if isinstance(each, EmailMessage)] if isinstance(payload, list) else []


def _alternative(part: EmailMessage) -> list[EmailMessage]:
    """Choose one of several alternatives: plain text if it has words, else the last readable one."""
    forms = _below(part)
    plain = [each for each in forms if each.get_content_type() == "text/plain" and _text(each).strip()]
    others = [each for each in forms if each.get_content_type() != "text/plain"]
    others = [each for each in others if each.get_content_maintype() in ("text", "multipart")]
    chosen = plain[:1] or others[-1:] or forms[:1]
    calendar = [each for each in forms if each.get_filename() and each not in chosen]
    return [*calendar, *chosen]


def _text(part: EmailMessage) -> str:
    """Decode a text with its declared charset, or as UTF-8 if it is unknown."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        text = data.decode(part.get_content_charset("utf-8"), errors="replace")
    except LookupError:
        text = data.decode(errors="replace")
    if part.get_content_subtype() != "html":
        return text.replace("\r\n", "\n")
    load_library(Format.HTML)
    return html_to_text(_clean(text))


def _line(mail: EmailMessage, name: str) -> str:
    return _clean(" ".join(str(mail.get(name, "")).split()))


def _clean(text: str) -> str:
    """Replace null bytes and lone surrogates, which are not allowed in documents."""
    return text.replace("\x00", "\ufffd").encode(errors="replace").decode()


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
OLE_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
# Headers that are taken as they were transported; the others describe a body that Outlook has taken apart.
HEADER_NAMES = ("from", "to", "cc", "date", "subject", "message-id", "in-reply-to", "references")

MAX_DEPTH = 20  # mails that are attached to one another; only a malicious file nests more

NO_MESSAGE = "it is not a message of Outlook; give its format with --format, or leave it out"
REMEDY = "convert it with msgconvert (libemail-outlook-message-perl), and read the .eml"


def outlook_record(path: Path, max_text: int, parse: ParseFile | None = None) -> dict[str, object]:
    """Read a mail saved by Outlook, as `mail_record` reads an `.eml` file."""
    data = content(path, max_text)
    library = load_library(Format.MSG)
    with translate_errors("message of Outlook"):
        if not library.isOleFile(data=data):
            raise Unreadable(NO_MESSAGE)
        with library.OleFileIO(data) as file:
            entries = [tuple(path) for path in file.listdir(streams=True, storages=True)]
            if (PROPERTIES,) not in entries:
                raise Unreadable(NO_MESSAGE)
            return mail_fields(_Storage(file, entries).mail(), parse)


@dataclass(frozen=True, eq=False, slots=True)
class _Storage:
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
            if line := _header_line(value):
                with suppress(ValueError, IndexError, TypeError):  # Python's address parser fails on some of them
                    mail[name] = line
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
            below = _Storage(self.file, self.entries, inner, self.depth + 1)
            if (*inner, PROPERTIES) in self.entries:
                mail.add_attachment(below.mail(), filename=name or None)
            else:  # an embedded object of another program: only its name is kept
                mail.add_attachment(b"", "application", "octet-stream", filename=name)
            return
        kind = self.text(MEDIA_TYPE) or guess_type(name)[0] or ""
        kind = kind if re.fullmatch(r"(?!multipart|message)[\w.+-]+/[\w.+-]+", kind) else "application/octet-stream"
        mail.add_attachment(self.stream(DATA, BINARY), *kind.split("/"), filename=name)

    def _headers(self) -> dict[str, str]:
        """Return the headers: transmitted ones first, missing ones built from the properties."""
        sent = self.time(SENT) or self.time(DELIVERED)
        people: dict[int, list[str]] = {1: [], 2: []}  # by the type of recipient
        for recipient in self.below("__recip_version1.0_#"):
            if (kind := recipient.integer(RECIPIENT_TYPE)) in people:
                people[kind].append(recipient.person(NAME, SMTP, ADDRESS))
        made = {
            "From": self.person(SENDER_NAME, SENDER_SMTP, SENDER_ADDRESS),
            "To": ", ".join(filter(None, people[1])),
            "Cc": ", ".join(filter(None, people[2])),
            "Date": format_datetime(sent) if sent else "",
            "Subject": self.text(SUBJECT),
            "Message-Id": self.text(MESSAGE_ID),
            "In-Reply-To": self.text(IN_REPLY_TO),
            "References": self.text(REFERENCES),
        }
        transported = message_from_string(self.text(HEADERS), policy=policy.compat32)
        return made | {name.title(): str(transported[name]) for name in HEADER_NAMES if transported[name]}

    def person(self, name: int, *addresses: int) -> str:
        """Return a name and address in header format; addresses of Exchange are left out."""
        address = next((value for value in map(self.text, addresses) if "@" in value), "")
        called = _header_line(self.text(name))
        return formataddr((called if called != address else "", _header_line(address))) if address else called

    def below(self, prefix: str) -> Iterator["_Storage"]:
        """Yield the storages of recipients or attachments."""
        depth = len(self.path)
        names = {entry[depth] for entry in self.entries if entry[:depth] == self.path and len(entry) > depth}
        numbered_runs = sorted(name for name in names if name.startswith(prefix))
        if len(numbered_runs) > MAX_PARTS:
            raise Unreadable(f"it has more than {MAX_PARTS:,} parts; leave it out", "text")
        for name in numbered_runs:
            yield _Storage(self.file, self.entries, (*self.path, name), self.depth)

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
            return OLE_EPOCH + timedelta(microseconds=unpack_from("<Q", value)[0] // 10) if value else None
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


def _header_line(value: str) -> str:
    """Return a header value on one line, without characters that headers must not contain."""
    clean = "".join(each if each.isprintable() else " " for each in value.encode(errors="replace").decode())
    return cut_header(" ".join(clean.split()))
