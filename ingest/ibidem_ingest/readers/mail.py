"""Mails: one per file (`.eml`, or a file of a Maildir), or many in a mailbox (`.mbox`)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import EmailPolicy
from pathlib import Path
from typing import BinaryIO

from typing_extensions import override

from ibidem_ingest.dates import iso_date
from ibidem_ingest.errors import Unreadable, translate_damage
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
    with translate_damage("mail"):
        mail = message_from_bytes(data, policy=ShortHeaders())
        if not isinstance(mail, EmailMessage) or not mail.keys():
            raise Unreadable(
                "it is not a mail: it does not begin with a header; give its format with --format, or leave it out"
            )
        return mail_fields(mail, parse)


class ShortHeaders(EmailPolicy):
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
    attachments = [_sub_record(mail, each) for each in contents.attached]
    record = _head(mail)
    is_known = record["title"] or record["source"] or contents.names or _line(mail, "message-id")
    if not text.strip() and not is_known:
        raise Unreadable(EMPTY_REMEDY if not mail.get_payload() else "it contains no text; leave it out", "text")
    record |= {"text": text, "title": record["title"] or first_line(text)}
    meta = dict(record["meta"]) if isinstance(record["meta"], dict) else {}
    if contents.names:
        meta["attachments"] = contents.names
    return record | {"meta": meta} | ({ATTACHED: attachments} if attachments else {})


def mails(stream: BinaryIO, max_text: int, time_limit: TimeLimit) -> Iterator[bytes | None]:
    """Split a mailbox into mails; None is yielded for a mail over the maximum size of a text.

    An entry without a header gets one, so that it is read as a text.
    """
    limit = max_text * BYTES_A_CHARACTER
    mail: bytearray | None = None
    size, blank = 0, True
    while line := stream.readline(limit + 1):
        time_limit.check()
        if blank and line.startswith(FROM_LINE):
            if mail is not None:
                yield _with_header(mail) if size <= limit else None
            mail, size = bytearray(), 0
        elif mail is not None:
            size += len(line)
            if size <= limit:
                mail += line[1:] if line.startswith(b">From ") else line
        blank = not line.strip()
    if mail is not None:
        yield _with_header(mail) if size <= limit else None


def _with_header(mail: bytearray) -> bytes:
    return bytes(mail) if _HEADER.match(mail) else _NO_HEADER + mail


def _head(mail: EmailMessage) -> dict[str, object]:
    subject, sent = _line(mail, "subject"), _line(mail, "date")
    meta: dict[str, object] = {TYPE: MAIL}
    values = {name: _line(mail, name) for name in ("from", "to", "cc", "message-id", "in-reply-to")}
    values["sent"], values["subject"] = sent, bare_subject(subject)
    meta |= {name: value for name, value in values.items() if value}
    if references := message_ids(_line(mail, "references")):
        meta["references"] = references
    return {"title": subject, "source": values["from"], "date": iso_date(sent) or sent, "meta": meta}


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
        else:
            self._take_file(part, name)

    def _take_file(self, part: EmailMessage, name: str) -> None:
        data = part.get_payload(decode=True)
        record: dict[str, object] = {}
        if self.parse is not None and name and isinstance(data, bytes):
            try:
                record = self.parse(name, data)
            except Unreadable as error:
                record = {"unreadable": error.why}
        if name:
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
