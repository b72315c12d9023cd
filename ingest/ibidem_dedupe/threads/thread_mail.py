"""A mail prepared for threading: its ids, its people, its time, and the words of each quotation depth."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from ibidem_dedupe.word_runs import NO_WORDS, RUN, Hashes, hash_words, runs, text_batches
from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import MESSAGE_ID, addresses, bare_subject, is_answer, is_mail, message_ids
from ibidem_ingest.mail.parts import part, unmarked

MAX_DEPTH = 250
HEADING = 500


@dataclass(frozen=True, eq=False, slots=True)
class ThreadMail:
    """A mail prepared for threading.

    Args:
        id: The document's id.
        message_id: The mail's own id; empty where it has none.
        ancestors: Ids of the mails that it names as answered, the nearest first.
        subject: Without prefixes, in lower case.
        answers: Whether the subject has the prefix of an answer or a forward.
        sender: Addresses of its author.
        names: Names of its author, in lower case.
        recipients: Addresses that it was sent to.
        time: Seconds since 1970; None where it has no date that can be read.
        heading: The line of attribution or the copied head above what it quotes, in lower case.
        words: Hashes of the words of each depth; depth 0 is what its author wrote, without the signature.
        attachments: Names of what is attached.
        run_levels: Hashes of the runs of words of each depth, in text order.
    """

    id: str
    message_id: str
    ancestors: Sequence[str]
    subject: str
    answers: bool
    sender: frozenset[str]
    names: frozenset[str]
    recipients: frozenset[str]
    time: float | None
    heading: str
    words: Sequence[Hashes]
    attachments: frozenset[str]
    run_levels: Sequence[Hashes]
    _cache: dict[str, Hashes] = field(default_factory=dict, repr=False)

    @property
    def own(self) -> Hashes:
        """The words that its author wrote."""
        return self.words[0] if self.words else NO_WORDS

    def runs(self, depth: int) -> Hashes:
        """Return the runs of words of a depth, in text order."""
        return self.run_levels[depth] if depth < len(self.run_levels) else NO_WORDS

    @property
    def all_runs(self) -> Hashes:
        """The distinct runs of all depths, sorted."""
        if "all" not in self._cache:
            self._cache["all"] = np.unique(np.concatenate(self.run_levels)) if self.run_levels else NO_WORDS
        return self._cache["all"]


def thread_mails(documents: Iterable[Document]) -> Iterator[ThreadMail]:
    """Split the mails among documents into their parts; other documents are skipped.

    Args:
        documents: In any order; read no further than a batch of some million characters ahead.
    """
    mails = (document for document in documents if document.meta and is_mail(document.meta))
    for some in text_batches(mails):
        texts, counts, headings = [], [], []
        for document in some:
            levels, heading = _levels(document.text)
            texts += levels
            counts.append(len(levels))
            headings.append(heading)
        hashes, ends = hash_words(texts)
        batch_runs = runs(hashes)
        place = 0
        for document, count, heading in zip(some, counts, headings, strict=True):
            offsets = ends[place : place + count + 1]
            words = [hashes[a:b] for a, b in pairwise(offsets)]
            run_levels = [batch_runs[a : max(a, b - RUN + 1)] for a, b in pairwise(offsets)]
            place += count
            yield _mail(document, words, run_levels, heading)


def _levels(text: str) -> tuple[list[str], str]:
    """Return the texts of each depth, and the heading above the quotation."""
    levels: dict[int, list[str]] = {0: []}
    heading = ""
    for piece in part(text):
        if piece.kind in ("new", "quoted"):
            levels.setdefault(min(piece.depth, MAX_DEPTH), []).append(unmarked(text, piece))
        elif piece.kind == "heading" and piece.depth == 1 and not heading:
            heading = text[piece.start : min(piece.end, piece.start + HEADING)].lower()
    return ["\n".join(levels.get(depth, ())) for depth in range(max(levels) + 1)], heading


def _mail(document: Document, words: Sequence[Hashes], run_levels: Sequence[Hashes], heading: str) -> ThreadMail:
    meta = document.meta
    own = message_ids(meta.get(MESSAGE_ID))
    named = [*message_ids(meta.get("in-reply-to")), *reversed(message_ids(meta.get("references")))]
    subject = document.title or str(meta.get("subject", ""))
    return ThreadMail(
        id=document.id,
        message_id=own[0] if own else "",
        ancestors=[each for each in dict.fromkeys(named) if each not in own],
        subject=bare_subject(subject).lower(),
        answers=is_answer(subject),
        sender=addresses(meta.get("from"), document.source),
        names=frozenset({_name(document.source)} - {""}),
        recipients=addresses(meta.get("to"), meta.get("cc")),
        time=seconds(document.date),
        heading=heading,
        words=words,
        attachments=_names(meta),
        run_levels=run_levels,
    )


def _name(source: str) -> str:
    """Return the name in a field such as `Ann Landlord <ann@example.org>`; empty for less than two words."""
    name = source.partition("<")[0].strip(" \"'").lower()
    return name if " " in name else ""


def _names(meta: Mapping[str, object]) -> frozenset[str]:
    names = meta.get("attachments")
    return frozenset(each for each in names if isinstance(each, str)) if isinstance(names, list) else frozenset()


def seconds(date: str) -> float | None:
    """Return a date as seconds since 1970; None if it is not a valid date.

    >>> seconds("1970-01-02"), seconds("soon"), seconds("")
    (86400.0, None, None)
    """
    try:
        time = datetime.fromisoformat(date)
    except ValueError:
        return None
    try:
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        return None
