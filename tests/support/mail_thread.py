"""A thread about a lease: a question, answers that quote it, one that alters it, and one by a hostile author."""

from ibidem_ingest.document import Document

EVIL = '<script>document.title="caught"</script><img src=x onerror="document.title=\'caught\'">'
RENT = (
    "The rent of the house at the harbour is thirty marks a month,\n"
    "due on the first of May, and the roof has to be mended before.\n"
    "Please send the keys to the office of the notary in the town hall.\n"
)


def quote(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines())


def _mail(id_: str, text: str, sender: str, date: str, parent: str = "") -> Document:
    meta: dict[str, object] = {"type": "mail", "message-id": f"<{id_}@x>", "from": sender, "subject": "The lease"}
    if parent:
        meta["in-reply-to"] = f"<{parent}@x>"
    return Document(id_, text, title=f"{'Re: ' if parent else ''}The lease", date=date, source=sender, meta=meta)


ANN, BOB = "Ann Landlord <ann@example.org>", "Bob Tenant <bob@example.org>"
WROTE = "On 3 May 2004 at 10:00, Ann Landlord <ann@example.org> wrote:\n"
FAITHFUL = f"Thank you, I shall pay on Friday.\n\n{WROTE}{quote(RENT)}-- \nBob\n"
MAILS = [
    _mail("question", RENT, ANN, "2004-05-03T10:00:00Z"),
    _mail("faithful", FAITHFUL, BOB, "2004-05-03T12:00:00Z", "question"),
    _mail(
        "altered",
        f"I found this in my papers, as you wrote it then.\n\n{WROTE}{quote(RENT.replace('thirty', 'twenty'))}",
        BOB,
        "2004-05-04T09:30:00Z",
        "question",
    ),
    _mail(
        "inline",
        f"{WROTE}{quote(RENT.splitlines()[0])}It was twenty, I believe.\n\n{quote(RENT.splitlines()[2])}"
        f"They are with the neighbour.\n",
        "Carla Rossi <carla@example.org>",
        "2004-05-04T11:00:00Z",
        "question",
    ),
    _mail(
        "last",
        f"Then all is well, and we can sign.\n\nOn 3 May 2004 at 12:00, Bob Tenant <bob@example.org> wrote:\n"
        f"{quote(FAITHFUL)}",
        ANN,
        "2004-05-05T08:00:00Z",
        "faithful",
    ),
    _mail(
        "evil",
        f"{EVIL}\n\nOn 3 May 2004 at 10:00, {EVIL} <x@example.org> wrote:\n{quote(RENT.replace('thirty', EVIL))}",
        EVIL,
        "2004-05-06T08:00:00Z",
        "question",
    ),
]
