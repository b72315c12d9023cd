"""Header fields of a mail: its ids, its people, its subject without reply and forward prefixes."""

import re
from collections.abc import Mapping
from hashlib import md5

# Fields with the id of a mail, of the mail that it answers, and of all before it in the thread.
MESSAGE_ID, ANSWERED, REFERENCES = "message-id", "in-reply-to", "references"

MIH = "mih"  # field with EDRM's Message Identification Hash

FAMILY = "family"  # field of a mail's attachment with the id of the mail, and of a mail that has some with its own

TYPE, MAIL = "type", "mail"  # field that says that a document is a mail, and its value

_PREFIX = re.compile(
    r"\s*+(?:(?:re|r|aw|antw?|antwort|sv|vs|rv|rif|ref|res|fwd?|wg|tr|i|enc|doorst|vl|vb|fs|odp|pd|ynt|ilt|továbbítás"
    r"|回复|答复|回覆|转发|轉寄|答覆|回信|отв|ответ|ha|hl|bls)\s*+(?:\[\d++\]|\(\d++\)|\^\d++)?\s*+[:\uff1a]|\[[^\]\s]{1,40}\](?=\s*+\S)|\(fwd\))",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\s*+(?:\[[^\]\s]{1,40}\]\s*+)?(?:re|aw|antw?|antwort|sv|vs|rv|rif|ref|res|odp|ynt|回复|答复|回覆|отв|ответ|ha|fwd?|wg|tr|i"
    r"|enc|doorst|vl|vb|pd|转发)\s*+(?:\[\d++\]|\(\d++\)|\^\d++)?\s*+[:\uff1a]",
    re.IGNORECASE,
)
_ID = re.compile(r"<([^<>\s]{1,998})>")
_FIRST_ID = re.compile(r"\s*(<[^>]*>|\S+)")
_ADDRESS = re.compile(r"[\w.+'=/&-]{1,64}@[\w.-]+")
MAX_SUBJECT = 1_000


def bare_subject(subject: str) -> str:
    """Return a subject without reply and forward prefixes, and without a list name in brackets."""
    text = " ".join(subject[:MAX_SUBJECT].split())
    position = 0
    while (match := _PREFIX.match(text, position)) is not None:
        position = match.end()
    text = text[position:].strip()
    return text.removesuffix("(fwd)").strip()


def is_answer(subject: str) -> bool:
    """Return whether a subject has a reply or forward prefix."""
    return _ANSWER.match(subject) is not None


def message_ids(value: object) -> list[str]:
    r"""Parse the message ids of a field, in order, without repeats.

    >>> message_ids("<a@x> (comment)\n <b@x> <a@x>"), message_ids(["c@x"]), message_ids(7)
    (['a@x', 'b@x'], ['c@x'], [])
    """
    texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    return list(dict.fromkeys(name for text in texts for name in _ID.findall(text) or text.split()[:1]))


def with_hash(meta: Mapping[str, object]) -> Mapping[str, object]:
    """Add EDRM's Message Identification Hash to the fields of a mail: the MD5 of its first message id as it stands.

    Source: EDRM, Cross Platform Email Duplicate Identification. Angle brackets count; a hash in the record is kept.

    >>> with_hash({"message-id": "<CALckR-a8UDkRjO4xJyjd_s0GPxQWw@mail.gmail.com>"})["mih"]
    '1de319c276884bd0c9e2f1621ada26cc'
    """
    value = meta.get(MESSAGE_ID)
    first = value[0] if isinstance(value, list) and value else value
    match = _FIRST_ID.match(first) if isinstance(first, str) and MIH not in meta else None
    return {**meta, MIH: md5(match[1].encode(errors="replace"), usedforsecurity=False).hexdigest()} if match else meta


def ancestor_ids(meta: Mapping[str, object]) -> list[str]:
    """Return the message ids that a header names as answered, the nearest first, without the mail's own id.

    >>> ancestor_ids({"message-id": "<c@x>", "in-reply-to": "<b@x>", "references": ["a@x", "b@x", "c@x"]})
    ['b@x', 'a@x']
    """
    own = message_ids(meta.get(MESSAGE_ID))
    named = [*message_ids(meta.get(ANSWERED)), *reversed(message_ids(meta.get(REFERENCES)))]
    return [each for each in dict.fromkeys(named) if each not in own]


def family_id(meta: Mapping[str, object], own_id: str) -> str:
    """Return the id of the mail that a document is attached to; empty for documents that are not attachments.

    >>> family_id({"family": "in.mbox#3"}, "in.mbox#3/1"), family_id({"family": "in.mbox#3"}, "in.mbox#3")
    ('in.mbox#3', '')
    """
    family = meta.get(FAMILY)
    return family if isinstance(family, str) and family != own_id else ""


def addresses(*values: object) -> frozenset[str]:
    """Parse the addresses of people, in lower case; names if a field has no address.

    >>> sorted(addresses("Ann <Ann@Example.org>, bob@example.org", None, "Smith; Jones"))
    ['ann@example.org', 'bob@example.org', 'jones', 'smith']
    """
    people: set[str] = set()
    for value in values:
        if isinstance(value, str) and value:
            text = value.lower()
            names = _ADDRESS.findall(text) or [name.strip(" \"'") for name in re.split("[;,]", text)]
            people.update(name for name in names if name)
    return frozenset(people)


def is_mail(meta: Mapping[str, object]) -> bool:
    """Return whether the fields of a document belong to a mail."""
    return bool(meta) and (meta.get(TYPE) == MAIL or MESSAGE_ID in meta)
