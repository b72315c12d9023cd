"""Parents of mails: which mail each one answers, by its header, its quotation, or its subject, people and time.

A reason is used only where the ones before it say nothing. Headers are believed as they are. A quotation is the text
of another mail: runs of words of what is quoted are looked up among those that authors wrote. The subject decides last,
and only between people of whom one wrote to the other.

Cost grows with the text: of each mail some runs are noted, and a run that many mails have is passed over.
"""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal, cast

import numpy as np

from ibidem_dedupe.word_runs import RUN, Hashes
from ibidem_mail.thread_mail import ThreadMail

By = Literal["headers", "quotation", "subject"]

NOTED = 16  # runs that are noted of what an author wrote: those with the smallest hashes

CROWD = 50  # mails that share a run before it is passed over: it is a form

WAITING = 64  # runs of a quotation that are noted where the quoted mail does not exist yet

MIN_RUNS, MIN_SHARE = 3, 0.5
MOST_LIKELY = 6  # mails that are compared with a quotation, of those that share its runs

DAYS = 60 * 86_400
NEAREST = 20  # mails of one subject and one author that are looked at, the latest first

BY_ORDER = attrgetter("order")


@dataclass(eq=False, slots=True)
class Parents:
    """The known mails, and the parent of each.

    `add` may be called again whenever further mails arrive: only what they answer and what answers them is looked at.
    Parents that heads name are then those of all mails at once. A mail whose parent was found by quotation or subject
    keeps it, though a mail that arrives later would have been chosen before it.
    """

    mails: list[ThreadMail] = field(default_factory=list)
    parent: list[int | None] = field(default_factory=list)
    by: list[By | None] = field(default_factory=list)
    _ids: dict[str, int] = field(default_factory=dict)
    _runs: dict[int, list[int]] = field(default_factory=dict)
    _subjects: dict[tuple[str, str], list[tuple[float, int]]] = field(default_factory=dict)
    _named: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _quoted: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def find(cls, mails: Iterable[ThreadMail]) -> "Parents":
        """Find the parents of mails that are all in the collection."""
        parents = cls()
        parents.add(sorted(mails, key=BY_ORDER))
        return parents

    @classmethod
    def of_heads(cls, mails: Iterable[ThreadMail], known: Mapping[str, tuple[str, By]]) -> "Parents":
        """Return the parents named in headers; otherwise the parent that was found before, if any."""
        parents = cls(sorted(mails, key=BY_ORDER))
        numbers: dict[str, int] = {}
        for number, mail in enumerate(parents.mails):
            numbers.setdefault(mail.id, number)
            if mail.message_id:
                parents._ids.setdefault(mail.message_id, number)
        for number, mail in enumerate(parents.mails):
            parent, by = parents._by_headers(number, mail), "headers"
            if parent is None and mail.id in known:
                name, by = known[mail.id]
                parent = numbers.get(name)
            parents.parent.append(parent)
            parents.by.append(None if parent is None else cast("By", by))
        return parents

    def add(self, mails: Iterable[ThreadMail]) -> None:
        """Add mails, find their parents, and find mails added earlier that answer them."""
        first = len(self.mails)
        for mail in mails:
            self._note(len(self.mails), mail)
        again = {number for new in range(first, len(self.mails)) for number in self._waiting_for(self.mails[new])}
        for number in [*range(first, len(self.mails)), *sorted(each for each in again if each < first)]:
            self._resolve(number)

    def _note(self, number: int, mail: ThreadMail) -> None:
        self.mails.append(mail)
        self.parent.append(None)
        self.by.append(None)
        if mail.message_id:
            self._ids.setdefault(mail.message_id, number)
        for run in _smallest(mail.runs(0), NOTED):
            carriers = self._runs.setdefault(run, [])
            if len(carriers) <= CROWD:
                carriers.append(number)
        time = mail.time if mail.time is not None else float("-inf")
        for sender in mail.sender or ("",):
            insort(self._subjects.setdefault((mail.subject, sender), []), (time, number))

    def _waiting_for(self, mail: ThreadMail) -> Iterator[int]:
        """Yield the mails that were added earlier and may answer this mail."""
        yield from self._named.pop(mail.message_id, ()) if mail.message_id else ()
        for run in _smallest(mail.runs(0), NOTED) if self._quoted else ():
            yield from self._quoted.get(run, ())

    def _resolve(self, number: int) -> None:
        mail = self.mails[number]
        parent: int | None
        for by, find in (
            ("headers", self._by_headers),
            ("quotation", self._by_quotation),
            ("subject", self._by_subject),
        ):
            parent = find(number, mail)
            if parent is not None:
                self.parent[number], self.by[number] = parent, by  # type: ignore[call-overload]  # names of the table
                break
        if self.by[number] != "headers":
            for each in mail.ancestors[:1]:
                self._named[each].append(number)
            if self.by[number] is None and len(mail.words) > 1:
                for run in _smallest(mail.runs(1), WAITING):
                    self._quoted[run].append(number)

    def _by_headers(self, number: int, mail: ThreadMail) -> int | None:
        for name in mail.ancestors:
            found = self._ids.get(name)
            if found is not None and found != number:
                return found
        return None

    def _by_quotation(self, number: int, mail: ThreadMail) -> int | None:
        """Return the mail that contains the outermost quotation whose words are known."""
        for depth in range(1, len(mail.words)):
            quoted = mail.runs(depth)
            votes: Counter[int] = Counter()
            for run in quoted.tolist():
                carriers = self._runs.get(run, ())
                if len(carriers) <= CROWD:
                    votes.update(carriers)
            votes.pop(number, None)
            if votes and (best := self._best(mail, quoted, votes)) is not None:
                return best
            if depth == 1 and (short := self._by_short_quotation(number, mail)) is not None:
                return short
        return None

    def _best(self, mail: ThreadMail, quoted: Hashes, votes: Counter[int]) -> int | None:
        most = votes.most_common(MOST_LIKELY)
        scored = []
        for candidate, _ in most:
            other = self.mails[candidate]
            own = other.runs(0)
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
            own = self.mails[candidate].own
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
            candidates += line[max(0, end - NEAREST) : end]
        for sent, candidate in sorted(candidates, reverse=True)[:NEAREST]:
            if candidate != number and (mail.time is None or sent == float("-inf") or time - sent <= DAYS):
                yield candidate


def _smallest(values: Hashes, count: int) -> list[int]:
    """Return the `count` smallest distinct values."""
    distinct = np.unique(values)
    smallest: list[int] = distinct[:count].tolist()
    return smallest


def _fits(mail: ThreadMail, other: ThreadMail) -> tuple[bool, bool, float]:
    """Return how well a mail matches a quotation by other properties than its words."""
    sent = other.time if other.time is not None else float("-inf")
    earlier = mail.time is None or sent <= mail.time
    people = _is_named(mail, other) or bool(other.sender & mail.recipients)
    return earlier, people and mail.subject == other.subject, sent if earlier else -sent


def _is_named(mail: ThreadMail, other: ThreadMail) -> bool:
    """Return whether the heading of a quotation names the author of another mail."""
    return bool(mail.heading) and any(each in mail.heading for each in (*other.sender, *other.names))


def break_circles(parents: Sequence[int | None], order: Sequence[tuple[float, int]]) -> list[int]:
    """Return the mails to detach from their parent to break cycles: the earliest of each.

    >>> break_circles([1, 2, 0, 0], [(3, 0), (1, 1), (2, 2), (0, 3)])
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
            cut.append(min(path[path.index(position) :], key=lambda each: order[each]))
        for each in path:
            state[each] = 2
    return cut
