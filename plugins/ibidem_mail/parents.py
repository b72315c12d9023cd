"""Parents of mails: which mail each one answers, by its header, its quotation, or its subject, people and time.

A reason is used only where the ones before it say nothing. Headers are believed as they are. A quotation is the text
of another mail: runs of words of what is quoted are looked up among those that authors wrote. The subject decides last,
and only between people of whom one wrote to the other.

Cost grows with the text: of each mail some runs are noted, and a run that many mails have is passed over.
"""

import re
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import accumulate, islice, pairwise
from operator import attrgetter
from typing import Literal, NamedTuple

import numpy as np

from ibidem_dedupe.relations import NO_WORDS, RUN, Hashes, hash_words, runs
from ibidem_ingest.document import Document, text_batches
from ibidem_ingest.mail import head
from ibidem_ingest.mail.parts import Kind, Part, part, unmarked

MAX_DEPTH = 250
HEADING = 500
_NUMBERS = re.compile("([0-9]+)")


class Piece(NamedTuple):
    """The words of one part of a body."""

    kind: Kind  # who wrote it
    words: Hashes  # hashes of its words


@dataclass(frozen=True, eq=False)
class ThreadMail:
    id: str  # the document's id
    message_id: str  # the mail's own id; empty if it has none
    mih: str  # EDRM's hash of it
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
    runs: Sequence[Hashes]  # hashes of the runs of words of each depth, in text order
    pieces: Sequence[Piece] = ()  # the parts of its body in text order, with headings and signatures

    @property
    def order(self) -> tuple[bool, float, tuple[Sequence[tuple[int, str]], str]]:
        """Sort key of the mail: by time, mails without a date last, ties by id.

        The order of writing says nothing: in a cluster, a place that is stored is a later write.
        """
        parts = _NUMBERS.split(self.id)
        parts[1::2] = [number.lstrip("0") for number in parts[1::2]]
        # Ids in the order of the values of their numbers, as those of the mails of a mailbox.
        sizes = [(len(part) if at % 2 else 0, part) for at, part in enumerate(parts)]
        return self.time is None, self.time or 0.0, (sizes, self.id)

    @cached_property
    def all_runs(self) -> Hashes:
        """The distinct runs of all depths, sorted."""
        return np.unique(np.concatenate([NO_WORDS, *self.runs]))

    @cached_property
    def reading_runs(self) -> Hashes:
        """The distinct runs of all depths, of the whole body and of all its quotations, sorted.

        A quotation whose marks are damaged changes its depth from one line to the next, and still reads on.
        """
        whole = [piece.words for piece in self.pieces]
        quoted = [piece.words for piece in self.pieces if piece.kind in ("quoted", "heading")]
        readings = (runs(np.concatenate([NO_WORDS, *words])) for words in (whole, quoted))
        return np.unique(np.concatenate([self.all_runs, *readings]))


def thread_mails(documents: Iterable[Document]) -> Iterator[ThreadMail]:
    """Split the mails among documents into their parts; other documents are skipped."""
    mails = (document for document in documents if document.meta and head.is_mail(document.meta))
    for some in text_batches(mails):
        bodies = [part(document.text) for document in some]
        texts = [unmarked(document.text, each) for document, body in zip(some, bodies, strict=True) for each in body]
        hashes, ends = hash_words(texts)
        words = (hashes[start:end] for start, end in pairwise(ends))
        pieces = [[Piece(each.kind, next(words)) for each in body] for body in bodies]
        levels = list(map(_levels, bodies, pieces))
        yield from map(_mail, some, bodies, pieces, levels, _runs(levels))


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


def _mail(
    document: Document, body: Sequence[Part], pieces: Sequence[Piece], words: Sequence[Hashes], runs: list[Hashes]
) -> ThreadMail:
    meta = document.meta
    own = head.message_ids(meta.get(head.MESSAGE_ID))
    subject = document.title or str(meta.get("subject", ""))
    name = document.source.partition("<")[0].strip(" \"'").lower()  # of `Ann Landlord <ann@example.org>`
    files = meta.get("attachments")
    headings = (each for each in body if each.kind == "heading" and each.depth == 1)
    heading = next((document.text[each.start : min(each.end, each.start + HEADING)] for each in headings), "")
    return ThreadMail(
        id=document.id,
        message_id=own[0] if own else "",
        mih=str(head.with_hash(meta).get(head.MIH, "")),
        ancestors=head.ancestor_ids(meta),
        subject=head.bare_subject(subject).lower(),
        answers=head.is_answer(subject),
        sender=head.addresses(meta.get("from"), document.source),
        names=frozenset({name} if " " in name else ()),  # a single word may be anybody's
        recipients=head.addresses(meta.get("to"), meta.get("cc")),
        time=seconds(document.date),
        heading=heading.lower(),
        words=words,
        attachments=frozenset(each for each in (files if isinstance(files, list) else ()) if isinstance(each, str)),
        runs=runs,
        pieces=pieces,
    )


def seconds(date: str) -> float | None:
    """Return a date as seconds since 1970; None if it is not a valid date.

    >>> seconds("1970-01-02"), seconds("soon"), seconds("")
    (86400.0, None, None)
    """
    try:
        time = datetime.fromisoformat(date)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        return None


By = Literal["headers", "quotation", "subject"]

RUN_SAMPLE = 16  # runs that are noted of what an author wrote: those with the smallest hashes

MAX_HOLDERS = 50  # mails that share a run before it is passed over: it is a form

MIN_RUNS, MIN_SHARE = 3, 0.5
MOST_LIKELY = 6  # mails that are compared with a quotation, of those that share its runs

MAX_SECONDS = 60 * 86_400
MAX_CANDIDATES = 20  # mails of one subject and one author that are looked at, the latest first

BY_ORDER = attrgetter("order")


@dataclass(eq=False, slots=True)
class Parents:
    """The known mails in the order of time, and the parent of each."""

    mails: Sequence[ThreadMail]
    parent: list[int | None] = field(default_factory=list)
    by: list[By | None] = field(default_factory=list)
    _ids: dict[str, int] = field(default_factory=dict)
    _runs: dict[int, list[int]] = field(default_factory=dict)
    _subjects: dict[tuple[str, str], list[tuple[float, int]]] = field(default_factory=dict)

    @classmethod
    def find(cls, mails: Iterable[ThreadMail]) -> "Parents":
        """Return the parent of each mail, by whatever says first whom it answers."""
        parents = cls(sorted(mails, key=BY_ORDER))
        for number, mail in enumerate(parents.mails):
            parents._note(number, mail)
        ways: Sequence[tuple[By, Callable[[int, ThreadMail], int | None]]] = (
            ("headers", parents._by_headers),
            ("quotation", parents._by_quotation),
            ("subject", parents._by_subject),
        )
        for number, mail in enumerate(parents.mails):
            answers = ((parent, by) for by, find in ways if (parent := find(number, mail)) is not None)
            parents._append(*next(answers, (None, None)))
        return parents

    @classmethod
    def of_heads(cls, mails: Iterable[ThreadMail], known: Mapping[str, tuple[str, By]]) -> "Parents":
        """Return the parents named in headers; otherwise the parent that was found before, if any."""
        parents = cls(sorted(mails, key=BY_ORDER))
        numbers: dict[str, int] = {}
        for number, mail in enumerate(parents.mails):
            numbers.setdefault(mail.id, number)
            parents._ids.setdefault(mail.message_id, number)
        for number, mail in enumerate(parents.mails):
            if (parent := parents._by_headers(number, mail)) is not None:
                parents._append(parent, "headers")
            else:
                name, by = known.get(mail.id, ("", None))
                parents._append(numbers.get(name), by)
        return parents

    def _append(self, parent: int | None, by: By | None) -> None:
        self.parent.append(parent)
        self.by.append(None if parent is None else by)

    def _note(self, number: int, mail: ThreadMail) -> None:
        self._ids.setdefault(mail.message_id, number)
        for run in np.unique(mail.runs[0])[:RUN_SAMPLE].tolist():
            holders = self._runs.setdefault(run, [])
            if len(holders) <= MAX_HOLDERS:
                holders.append(number)
        time = mail.time if mail.time is not None else float("-inf")
        for sender in mail.sender or ("",):
            insort(self._subjects.setdefault((mail.subject, sender), []), (time, number))

    def _by_headers(self, number: int, mail: ThreadMail) -> int | None:
        for name in mail.ancestors:
            found = self._ids.get(name)
            if found is not None and found != number:
                return found
        return None

    def _by_quotation(self, number: int, mail: ThreadMail) -> int | None:
        """Return the mail that contains the outermost quotation whose words are known."""
        for depth in range(1, len(mail.words)):
            quoted = mail.runs[depth]
            votes: Counter[int] = Counter()
            for run in quoted.tolist():
                holders = self._runs.get(run, ())
                if len(holders) <= MAX_HOLDERS:
                    votes.update(holders)
            votes.pop(number, None)
            if votes and (best := self._best(mail, quoted, votes)) is not None:
                return best
            if depth == 1 and (short := self._by_short_quotation(number, mail)) is not None:
                return short
        return None

    def _best(self, mail: ThreadMail, quoted: Hashes, votes: Counter[int]) -> int | None:
        scored = []
        for candidate, _ in votes.most_common(MOST_LIKELY):
            other = self.mails[candidate]
            own = other.runs[0]
            shared = int(np.isin(own, quoted).sum())
            if shared >= MIN_RUNS or shared >= MIN_SHARE * own.size:
                copy = other.message_id != "" and other.message_id == mail.message_id
                scored.append((not copy, _is_named(mail, other), shared, _fits(mail, other), candidate))
        best = max(scored, default=None)
        return best[-1] if best is not None and best[0] else None

    def _by_short_quotation(self, number: int, mail: ThreadMail) -> int | None:
        """Return a short mail with the same subject whose words begin the quotation."""
        quoted = mail.words[1]
        for candidate in self._earlier(number, mail):
            own = self.mails[candidate].words[0]
            if 0 < own.size < RUN and np.array_equal(own, quoted[: own.size]) and _fits(mail, self.mails[candidate])[1]:
                return candidate
        return None

    def _by_subject(self, number: int, mail: ThreadMail) -> int | None:
        if not mail.answers or not mail.subject:
            return None
        named = [each for each in self._earlier(number, mail) if _is_named(mail, self.mails[each])]
        if mail.heading and named:
            return named[0]
        return next(self._earlier(number, mail), None)

    def _earlier(self, number: int, mail: ThreadMail) -> Iterator[int]:
        """Yield the mails with the same subject that a recipient of this mail wrote, the latest first."""
        time = mail.time if mail.time is not None else float("inf")
        candidates: list[tuple[float, int]] = []
        for person in mail.recipients or ("",):
            line = self._subjects.get((mail.subject, person), ())
            end = bisect_left(line, (time, number))
            candidates += line[max(0, end - MAX_CANDIDATES) : end]
        for sent, candidate in sorted(candidates, reverse=True)[:MAX_CANDIDATES]:
            if candidate != number and (mail.time is None or sent == float("-inf") or time - sent <= MAX_SECONDS):
                yield candidate


def _fits(mail: ThreadMail, other: ThreadMail) -> tuple[bool, bool, float]:
    """Return how well a mail matches a quotation by other properties than its words."""
    sent = other.time if other.time is not None else float("-inf")
    earlier = mail.time is None or sent <= mail.time
    people = _is_named(mail, other) or bool(other.sender & mail.recipients)
    return earlier, people and mail.subject == other.subject, sent if earlier else -sent


def _is_named(mail: ThreadMail, other: ThreadMail) -> bool:
    """Return whether the heading of a quotation names the author of another mail."""
    return bool(mail.heading) and any(each in mail.heading for each in (*other.sender, *other.names))


def break_circles(parents: Sequence[int | None]) -> list[int]:
    """Return the mails to detach from their parent to break cycles: the first of each.

    >>> break_circles([3, 2, 3, 1])
    [1]
    """
    state = [0] * len(parents)
    cut: list[int] = []
    for start in range(len(parents)):
        path: list[int] = []
        position: int | None = start
        while position is not None and not state[position]:
            state[position] = 1
            path.append(position)
            position = parents[position]
        if position is not None and state[position] == 1:
            cut.append(min(path[path.index(position) :]))
        for each in path:
            state[each] = 2
    return cut
