"""Mails of three people about a lease, as documents."""

from ibidem_ingest.document import Document
from support.mail_thread import quote

LEASE = "The rent of the house at the harbour is due on the first of May, and the roof has to be mended before."
ROOF = "I shall mend the roof as soon as the tiles have come, but the rent is yours to pay in any case."
PAID = "It was paid on Monday by cheque, and the tiles are in the yard behind the old stable since then."


def mail(
    id_: str,
    text: str,
    *,
    parent: str = "",
    hour: int | None = None,
    sender: str = "ann@example.org",
    to: str = "bob@example.org",
    subject: str = "lease",
    number: str = "",
    attachments: list[str] | None = None,
) -> Document:
    """Write a mail; `parent` is the one that its head names."""
    meta: dict[str, object] = {"type": "mail", "from": sender, "to": to}
    if number:
        meta["message-id"] = f"<{number}>"
    if parent:
        meta["in-reply-to"] = f"<{parent}>"
    if attachments:
        meta["attachments"] = attachments
    date = "" if hour is None else f"2004-05-{1 + hour // 24:02}T{hour % 24:02}:00:00Z"
    return Document(id_, text, title=subject, date=date, source=sender, meta=meta)


def answer(own: str, quoted: str) -> str:
    return f"{own}\n\nOn 3 May 2004 at 10:00, Ann <ann@example.org> wrote:\n{quote(quoted)}"
