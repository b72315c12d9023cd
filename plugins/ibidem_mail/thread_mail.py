"""A mail prepared for threading: its ids, its people, its time, and the words of its parts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

import numpy as np

from ibidem_dedupe.word_runs import NO_WORDS, RUN, Hashes, hash_words, runs, text_batches
from ibidem_ingest.document import Document
from ibidem_ingest.mail.head import MESSAGE_ID, addresses, ancestor_ids, bare_subject, is_answer, is_mail, message_ids
from ibidem_ingest.mail.lines import Kind
from ibidem_ingest.mail.parts import Part, part, unmarked

MAX_DEPTH = 250
HEADING = 500
_NUMBERS = re.compile("([0-9]+)")


class Piece(NamedTuple):
    """The words of one part of a body."""

    kind: Kind  # who wrote it
    words: Hashes  # hashes of its words


@dataclass(frozen=True, eq=False, slots=True)
class ThreadMail:
    """A mail prepared for threading."""

    id: str  # the document's id
    message_id: str  # the mail's own id; empty if it has none
    ancestors: Sequence[str]  # ids of the mails that it names as answered, the nearest first
    subject: str  # without prefixes, in lower case
    answers: bool  # whether the subject has the prefix of an answer or a forward
    sender: frozenset[str]  # addresses of its author
    names: frozenset[str]  # names of its author, in lower case
    recipients: frozenset[str]  # addresses that it was sent to
    time: float | None  # seconds since 1970; None if it has no date that can be read
    heading: str  # the line of attribution or the copied head above what it quotes, in lower case
    # Hashes of the words of each depth; depth 0 is what its author wrote, without the signature.
    words: Sequence[Hashes]
    attachments: frozenset[str]  # names of the attachments
    run_levels: Sequence[Hashes]  # hashes of the runs of words of each depth, in text order
    pieces: Sequence[Piece] = ()  # the parts of its body in text order, with headings and signatures
    _cache: dict[str, Hashes] = field(default_factory=dict, repr=False)

    @property
    def order(self) -> tuple[bool, float, tuple[Sequence[tuple[int, str]], str]]:
        """Sort key of the mail: by time, mails without a date last, ties by id.

        The order of writing says nothing: in a cluster, a place that is stored is a later write.
        """
        return self.time is None, self.time or 0.0, id_order(self.id)

    @property
    def own(self) -> Hashes:
        """The words of the mail that its author wrote."""
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

    @property
    def reading_runs(self) -> Hashes:
        """Return the distinct runs of all depths, of the whole body and of all its quotations, sorted.

        A quotation whose marks are damaged changes its depth from one line to the next, and still reads on.
        """
        if "reading" not in self._cache:
            whole, quoted = (runs(np.concatenate([NO_WORDS, *words])) for words in self._readings())
            self._cache["reading"] = np.unique(np.concatenate([self.all_runs, whole, quoted]))
        return self._cache["reading"]

    def _readings(self) -> tuple[list[Hashes], list[Hashes]]:
        """Return the words of the whole body, and the words of all its quotations."""
        return (
            [piece.words for piece in self.pieces],
            [piece.words for piece in self.pieces if piece.kind in ("quoted", "heading")],
        )


def thread_mails(documents: Iterable[Document]) -> Iterator[ThreadMail]:
    """Split the mails among documents into their parts; other documents are skipped."""
    mails = (document for document in documents if document.meta and is_mail(document.meta))
    for some in text_batches(mails):
        bodies = [part(document.text) for document in some]
        texts = [unmarked(document.text, each) for document, body in zip(some, bodies, strict=True) for each in body]
        hashes, ends = hash_words(texts)
        words = (hashes[start:end] for start, end in pairwise(ends))
        pieces = [[Piece(each.kind, next(words)) for each in body] for body in bodies]
        levels = list(map(_levels, bodies, pieces))
        for document, body, some_pieces, some_levels, some_runs in zip(
            some, bodies, pieces, levels, _runs(levels), strict=True
        ):
            yield _mail(document, _heading(document.text, body), some_pieces, some_levels, some_runs)


def _levels(body: Sequence[Part], pieces: Sequence[Piece]) -> list[Hashes]:
    """Return the words of each depth."""
    levels: dict[int, list[Hashes]] = {0: []}
    for part_, piece in zip(body, pieces, strict=True):
        if piece.kind in ("new", "quoted"):
            levels.setdefault(min(part_.depth, MAX_DEPTH), []).append(piece.words)
    found = [levels.get(depth, ()) for depth in range(max(levels) + 1)]
    return [words[0] if len(words) == 1 else np.concatenate([NO_WORDS, *words]) for words in found]


def _runs(mails: Sequence[Sequence[Hashes]]) -> Iterator[list[Hashes]]:
    """Yield the runs of the depths of each mail, hashed at once."""
    levels = [level for mail in mails for level in mail]
    hashed = runs(np.concatenate([NO_WORDS, *levels]))
    ends = accumulate((level.size for level in levels), initial=0)
    places = pairwise(ends)
    for mail in mails:
        yield [hashed[start : max(start, end - RUN + 1)] for start, end in islice(places, len(mail))]


def _heading(text: str, body: Sequence[Part]) -> str:
    """Return the heading above the quotation."""
    first = next((piece for piece in body if piece.kind == "heading" and piece.depth == 1), None)
    return text[first.start : min(first.end, first.start + HEADING)].lower() if first else ""


def _mail(
    document: Document,
    heading: str,
    pieces: Sequence[Piece],
    levels: Sequence[Hashes],
    run_levels: Sequence[Hashes],
) -> ThreadMail:
    meta = document.meta
    own = message_ids(meta.get(MESSAGE_ID))
    subject = document.title or str(meta.get("subject", ""))
    return ThreadMail(
        id=document.id,
        message_id=own[0] if own else "",
        ancestors=ancestor_ids(meta),
        subject=bare_subject(subject).lower(),
        answers=is_answer(subject),
        sender=addresses(meta.get("from"), document.source),
        names=frozenset({_name(document.source)} - {""}),
        recipients=addresses(meta.get("to"), meta.get("cc")),
        time=seconds(document.date),
        heading=heading,
        words=levels,
        attachments=_names(meta),
        run_levels=run_levels,
        pieces=pieces,
    )


def _name(source: str) -> str:
    """Return the name in a field such as `Ann Landlord <ann@example.org>`; empty for fewer than two words."""
    name = source.partition("<")[0].strip(" \"'").lower()
    return name if " " in name else ""


def _names(meta: Mapping[str, object]) -> frozenset[str]:
    names = meta.get("attachments")
    return frozenset(each for each in names if isinstance(each, str)) if isinstance(names, list) else frozenset()


def id_order(id_: str) -> tuple[Sequence[tuple[int, str]], str]:
    """Return a key by which ids are sorted, with numbers by their values, as those of the mails of a mailbox.

    >>> sorted(["in.mbox#10", "in.mbox#9", "a"], key=id_order)
    ['a', 'in.mbox#9', 'in.mbox#10']
    """
    parts = _NUMBERS.split(id_)
    parts[1::2] = [number.lstrip("0") for number in parts[1::2]]
    return [(len(part) if at % 2 else 0, part) for at, part in enumerate(parts)], id_


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
