"""Mails, alone and in mailboxes: each a document, whatever their encodings; what is broken is read or refused."""

from collections.abc import Callable
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, Unreadable, UsageError
from ibidem_ingest.mail.parts import part
from ibidem_ingest.readers import read
from ibidem_ingest.readers.mail import MAX_HEADER, ShortHeaders, mail_record, mails
from ibidem_ingest.readers.text import TimeLimit
from support.outlook_files import Message, compound_file
from support.readings import parted


def mail(text: str = "Dear Sir,\nthe rent has not arrived.", subject: str = "Ihre Miete für März") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Ann Landlord <ann@example.org>", "tenant@example.org"
    message["Subject"], message["Date"] = subject, "Mon, 19 Oct 1987 09:30:00 -0500"
    message["Message-ID"] = "<1@example.org>"
    message.set_content(text)
    return message


def read_mail(folder: Path, data: bytes) -> dict[str, object]:
    path = folder / "a.eml"
    path.write_bytes(data)
    return mail_record(path, 100_000)


def test_the_head_is_kept_as_fields(tmp_path: Path) -> None:
    message = mail(subject="AW: [lease] Re: Ihre Miete")
    message["In-Reply-To"], message["References"] = "<0@example.org>", "<a@example.org> <0@example.org>"
    assert read_mail(tmp_path, bytes(message))["meta"] == {
        "type": "mail",
        "from": "Ann Landlord <ann@example.org>",
        "to": "tenant@example.org",
        "message-id": "<1@example.org>",
        "in-reply-to": "<0@example.org>",
        "sent": "Mon, 19 Oct 1987 09:30:00 -0500",
        "subject": "Ihre Miete",
        "references": ["a@example.org", "0@example.org"],
    }


@pytest.mark.slow
def test_attachments_are_documents_that_point_to_their_mail(tmp_path: Path) -> None:
    message = mail()
    message.add_attachment("the lease itself", filename="lease.txt")
    message.add_attachment(b"\x00\x01", maintype="image", subtype="png", filename="roof.png")
    message.add_attachment(b"# Costs\n\nof the roof", maintype="application", subtype="x", filename="costs.md")
    message.add_attachment(b"%PDF no", maintype="application", subtype="pdf", filename="torn.pdf")
    inner = mail("an older mail", "Dach")
    message.add_attachment(inner)
    (tmp_path / "a.eml").write_bytes(bytes(message))
    documents, refusals = parted(read([tmp_path]))
    found = {each.id: each for each in documents}
    assert list(found) == ["a.eml", "a.eml/1", "a.eml/2", "a.eml/4"]
    assert {each.meta["family"] for each in found.values()} == {"a.eml"}
    assert found["a.eml"].meta["attachments"] == ["lease.txt", "roof.png", "costs.md", "torn.pdf", "Dach"]
    assert found["a.eml/1"].text.strip() == "the lease itself"
    assert "of the roof" in found["a.eml/2"].text
    assert found["a.eml/4"].meta["type"] == "mail"
    assert [each.id for each in refusals] == ["a.eml/3"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not a mail"),
        (b"no header at all", "not a mail"),
        (b"X: a\n\n", "empty"),
        (b"Content-Type: image/png\n\nx", "no text"),
    ],
)
def test_what_is_no_mail_or_holds_no_text_is_refused(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_mail(tmp_path, data)


@pytest.mark.parametrize(
    ("data", "title", "names"),
    [
        (b"Subject: Moved to three (EOM)\n\n", "Moved to three (EOM)", None),
        (b"Subject: Moved\nContent-Type: text/html\n\n<p> </p>", "Moved", None),
        (b"Subject: Cellar\nContent-Type: image/png\n\nx", "Cellar", None),
        (b'From: ann@example.org\nContent-Type: image/png; name="a.png"\n\nx', "", ["a.png"]),
        (b"Message-ID: <1@example.org>\n\n", "", None),
    ],
    ids=["subject", "html", "picture", "named picture", "id"],
)
def test_a_mail_without_text_is_kept(tmp_path: Path, data: bytes, title: str, names: list[str] | None) -> None:
    record = read_mail(tmp_path, data)
    meta = record["meta"]
    assert isinstance(meta, dict)
    assert (str(record["text"]).strip(), record["title"], meta.get("attachments")) == ("", title, names)


@pytest.mark.slow
def test_entries_of_a_mailbox_without_a_header_are_kept_by_their_body(tmp_path: Path) -> None:
    entries = [
        b"\nThe rent is due.\n",
        b"Gr\xc3\xbc\xc3\x9fe aus Ulm\n\nDie Miete ist da.\n",
        b"\n",
        b"Subject: Rent\n\nPaid.\n",
    ]
    (tmp_path / "in.mbox").write_bytes(b"".join(b"From x\n" + each + b"\n" for each in entries))
    (first, second, fourth), (third,) = parted(read([tmp_path]))
    assert third.where.endswith(":3")
    assert [first.text.strip(), first.title] == ["The rent is due."] * 2
    assert second.text.strip() == "Grüße aus Ulm\n\nDie Miete ist da."
    assert (fourth.title, fourth.text.strip()) == ("Rent", "Paid.")


@pytest.mark.parametrize("name", ["From", "To", "Subject", "References", "X-Other"])
def test_no_header_is_parsed_beyond_its_limit(name: str) -> None:
    words = b"ann@example.org " * 10_000
    data = b"X-First: a\n" + name.encode() + b": " + words + b"\nX-Last: b\n\nx"
    mail = message_from_bytes(data, policy=ShortHeaders())
    raw = dict(mail.raw_items())
    assert MAX_HEADER - 20 < len(raw[name]) <= MAX_HEADER
    assert set(raw[name].split()) == {"ann@example.org"}
    assert (raw["X-First"], raw["X-Last"]) == ("a", "b")


def test_the_headers_of_a_part_of_a_mail_are_cut_too(tmp_path: Path) -> None:
    name = "x" * 160_000
    part = f'--b\nContent-Type: text/plain; name="{name}"\nContent-Disposition: attachment\n\nthe lease\n'
    data = f"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n{part}--b--\n".encode()
    meta = read_mail(tmp_path, data)["meta"]
    assert isinstance(meta, dict)
    assert max(map(len, meta["attachments"])) <= MAX_HEADER


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"Subject: =?utf-8?b?4pyTIOK?=\nDate: soon\n\nx",
        b"Subject: a\nContent-Type: text/plain; charset=klingon\n\nx",
        b"Subject: a\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n!!!x",
        b"Subject: a\x00\xff\xfe\n\n\xff\xfe\x00x",
        b"Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nx\n",
        b"Subject: a\n" + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" * 3_000,
        b"From: " + b"(" * 50_000 + b"\n\nx",
    ],
    ids=["words", "charset", "base64", "bytes", "open", "nested", "comments"],
)
def test_a_broken_mail_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.eml").write_bytes(data)
    (tmp_path / "b.txt").write_text("We the People")
    first, second = read([tmp_path])
    assert isinstance(first, Refusal) or first.text.encode() is not None
    assert isinstance(second, Document)


def mailbox(*bodies: str) -> bytes:
    return b"".join(b"From ann@example.org Mon Oct 19 09:30:00 1987\n" + bytes(mail(body)) + b"\n" for body in bodies)


@pytest.mark.slow
def test_each_mail_of_a_mailbox_is_a_document_with_a_number(tmp_path: Path) -> None:
    (tmp_path / "in.mbox").write_bytes(mailbox("one", "two\n>From here on", "three"))
    matches, _ = parted(read([tmp_path]))
    assert [document.id for document in matches] == ["in.mbox#1", "in.mbox#2", "in.mbox#3"]
    assert [document.text.strip() for document in matches] == ["one", "two\nFrom here on", "three"]


@pytest.mark.slow
def test_a_broken_mail_harms_no_other_of_its_mailbox(tmp_path: Path) -> None:
    broken_message = b"From x\nContent-Type: image/png\n\nx\n\n"
    large = b"From x\nSubject: a\n\n" + b"x" * 60_000 + b"\n\n"
    (tmp_path / "in.mbox").write_bytes(mailbox("one") + broken_message + large + mailbox("two"))
    (_, _), refusals = parted(read([tmp_path], max_text=10_000))
    assert [(each.where, each.field) for each in refusals] == [
        (f"{tmp_path}/in.mbox:2", "text"),
        (f"{tmp_path}/in.mbox:3", "text"),
    ]


@pytest.mark.parametrize("data", [b"", b"not a mailbox", b"\n\n"])
def test_what_is_no_mailbox_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "in.mbox").write_bytes(data)
    _, (refusal,) = parted(read([tmp_path]))
    assert "not a mailbox" in refusal.why


def test_no_line_of_a_mailbox_is_kept_beyond_the_limit() -> None:
    (mail,) = mails(BytesIO(b"From x\n" + b"y" * 100_000), 1_000, TimeLimit(60))
    assert mail is None


def test_of_two_forms_of_a_body_the_plain_one_is_read_and_html_alone_by_what_it_shows(tmp_path: Path) -> None:
    mailbox = mail()
    mailbox.add_alternative("<p>Dear Sir</p>", subtype="html")
    assert read_mail(tmp_path, bytes(mailbox))["text"] == "Dear Sir,\nthe rent has not arrived.\n"
    alone = mail()
    alone.set_content(
        "<style>p {}</style><p>Dear <b>Sir</b>, the rent of the last month has not arrived.</p>", subtype="html"
    )
    page = str(read_mail(tmp_path, bytes(alone))["text"])
    assert "Sir" in page
    assert "<" not in page


SUBJECT, BODY, HEADERS, SENDER, SENDER_SMTP, MESSAGE_ID = 0x0037, 0x1000, 0x007D, 0x0C1A, 0x5D01, 0x1035
TEXTS = {
    SUBJECT: "RE: The rent of May",
    BODY: "It may wait until Monday.\r\n\r\nFrom: Ann Lee\r\nSent: Friday, 1 May 2026 10:00\r\nTo: Bo Ray\r\n"
    "Subject: The rent of May\r\n\r\nIs the rent due?\r\n",
    SENDER: "Bo Ray",
    SENDER_SMTP: "bo@example.org",
    MESSAGE_ID: "<2@example.org>",
    0x1042: "<1@example.org>",
}
SENT = {0x0039: datetime(2026, 5, 2, 9, 30, tzinfo=UTC)}
RECIPIENTS = [(1, "Ann Lee", "ann@example.org"), (2, "Cy", "cy@example.org"), (3, "Hidden", "hidden@exämple.org")]
MESSAGE = Message(TEXTS, times=SENT, recipients=RECIPIENTS)

Take = Callable[..., tuple[list[Document], list[Refusal]]]


@pytest.fixture
def take(tmp_path: Path) -> Take:
    """Reads a file with this content."""

    def take(data: bytes) -> tuple[list[Document], list[Refusal]]:
        (tmp_path / "note.msg").write_bytes(data)
        return parted(read([str(tmp_path / "note.msg")], seconds=60))

    return take


@pytest.mark.slow
class TestRead:
    def test_a_message_is_read_as_a_mail_with_its_head_and_its_parts(self, take: Take) -> None:
        (mail,), _ = take(MESSAGE.file())
        assert (mail.title, mail.source) == ("RE: The rent of May", "Bo Ray <bo@example.org>")
        assert mail.date == "2026-05-02T09:30:00+00:00"
        assert {name: mail.meta.get(name) for name in ("to", "cc", "message-id", "in-reply-to", "subject", "type")} == {
            "to": "Ann Lee <ann@example.org>",
            "cc": "Cy <cy@example.org>",
            "message-id": "<2@example.org>",
            "in-reply-to": "<1@example.org>",
            "subject": "The rent of May",
            "type": "mail",
        }
        assert "hidden" not in str(mail.meta)
        assert {each.kind for each in part(mail.text)} >= {"new", "heading", "quoted"}

    @pytest.mark.parametrize(("code_page", "word"), [(1252, "Müller"), (1251, "Миша"), (932, "東京"), (1253, "Αθήνα")])
    def test_texts_of_before_unicode_are_read_by_their_code_page(self, take: Take, code_page: int, word: str) -> None:
        (mail,), _ = take(Message({SUBJECT: word, BODY: f"{word} writes."}, code_page=code_page).file())
        assert (mail.title, mail.text.strip()) == (word, f"{word} writes.")

    def test_what_is_attached_are_documents_of_its_family_also_what_is_attached_to_an_attached_message(
        self, take: Take
    ) -> None:
        inner = Message(
            {SUBJECT: "The first question", BODY: "Is it due?"}, attachments=[("list.txt", b"roof, drains")]
        )
        attachments = [("page.html", b"<p>The drains are blocked.</p>"), ("first.msg", inner), ("photo.bin", b"\0\1")]
        (mail, *others), _ = take(Message(TEXTS, attachments=attachments).file())
        assert mail.meta["attachments"] == ["page.html", "first.msg", "photo.bin"]
        assert [(each.id.rpartition("/")[2], each.text.strip()) for each in others] == [
            ("1", "The drains are blocked."),
            ("2", "Is it due?"),
            ("3", "roof, drains"),
        ]
        assert {each.meta["family"] for each in others} == {mail.id}

    def test_a_file_of_a_damaged_attachment_is_refused_alone(self, take: Take) -> None:
        (_,), (refused,) = take(Message(TEXTS, attachments=[("deed.pdf", b"no PDF")]).file())
        assert "deed.pdf" in refused.why


@pytest.mark.slow
class TestRefuse:
    def test_a_body_that_is_there_as_rtf_alone_is_refused_with_what_to_do(self, take: Take) -> None:
        _, (refused,) = take(Message({SUBJECT: "x"}, {0x1009: b"\x20\0\0\0"}).file())
        assert "msgconvert" in refused.why

    def test_messages_in_messages_without_end_are_refused(self, take: Take) -> None:
        message = Message({BODY: "the innermost"})
        for _ in range(30):
            message = Message({BODY: "outer"}, attachments=[("inner.msg", message)])
        _, (refused,) = take(message.file())
        assert "more than 20 deep" in refused.why

    @pytest.mark.parametrize(
        "data",
        [
            b"From: a@b.example\n\nno message",
            b"",
            MESSAGE.file()[:700],
            MESSAGE.file()[:1536],
            compound_file({"x": b"y"}),
        ],
        ids=["a mail", "empty", "cut in its table", "cut", "another compound file"],
    )
    def test_what_is_no_message_is_refused(self, take: Take, data: bytes) -> None:
        documents, (refused,) = take(data)
        assert (documents, bool(refused.why)) == ([], True)


class TestMailboxes:
    @pytest.mark.parametrize(("name", "remedy"), [("archive.pst", "readpst -e"), ("Archive.OST", "as .pst")])
    def test_a_mailbox_of_outlook_is_refused_by_name_with_what_converts_it(
        self, tmp_path: Path, name: str, remedy: str
    ) -> None:
        (tmp_path / name).write_bytes(b"!BDN")
        with pytest.raises(UsageError, match=remedy):
            list(read([str(tmp_path / name)]))
        (tmp_path / "note.txt").write_text("a note")
        (_,), (refused,) = parted(read([str(tmp_path)]))
        assert name in refused.where
        assert remedy in refused.why
