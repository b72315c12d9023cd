"""A message that Outlook saved is read as the mail that it is, or refused by name."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ibidem_ingest.document import Document
from ibidem_ingest.errors import Refusal, UsageError
from ibidem_ingest.mail.parts import part
from ibidem_ingest.readers.inputs import read
from support.outlook_files import Message, compound_file
from support.readings import parted

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
RECIPIENTS = [(1, "Ann Lee", "ann@example.org"), (2, "Cy", "cy@example.org"), (3, "Hidden", "hidden@example.org")]
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
