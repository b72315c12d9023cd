"""Threads of mails: which answers which, which holds another whole; and quotations, with the words that they alter."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from ibidem.comparison.word_diff import Words, token_offsets
from ibidem_dedupe.relations import NO_WORDS, RUN, Hashes, runs
from ibidem_ingest.mail.parts import COLONS, LABEL, Kind, Part, part
from ibidem_ingest.text.word_hash import wh1
from ibidem_mail.parents import By, Parents, Piece, ThreadMail, break_circles

MAX_COMPARED = 500_000  # characters of a body up to which its quotations are compared with what they quote

MAX_AUTHOR = 120

QUOTATION: tuple[Kind, ...] = ("quoted", "heading")


class Change(NamedTuple):
    """Words of an original, and the words that a quotation has instead."""

    start: int  # the first character of the words, in the body of the mail that quotes
    end: int  # the character behind their last
    original: str  # the words in their place in the mail that is quoted; empty where words were put in


class BodySection(NamedTuple):
    """A section of a body: the author's text, a quotation with its own quotations, or a signature."""

    kind: Kind  # `new`, `quoted` or `signature`
    start: int  # its first character
    end: int  # the character behind its last
    author: str = ""  # the author of the quotation, by the line above it; empty if unknown
    lines: int = 0  # number of quoted lines with words
    changes: Sequence[Change] = ()  # what it alters, in the order of the text


def body_sections(body: str, originals: Sequence[str] = ()) -> list[BodySection]:
    r"""Split the body of a mail into sections.

    >>> for each in body_sections("Yes.\n\nOn 3 May 2004, Ann wrote:\n> Is it due?\n"):
    ...     print(each.kind, each.author, each.lines)
    new  0
    quoted On 3 May 2004, Ann wrote 1
    """
    parts = part(body)
    changes = find_changes(body, parts, originals)
    sections = []
    for kind, some in groupby(parts, lambda each: "quoted" if each.kind in QUOTATION else each.kind):
        members = list(some)
        start, end = members[0].start, members[-1].end
        inside = [each for each in changes if start <= each.start < end]
        quoted = (body[each.start : each.end] for each in members if each.kind == "quoted")
        lines = sum(any(map(str.isalnum, line)) for text in quoted for line in text.splitlines())
        sections.append(BodySection(kind, start, end, _author(body, members), lines, inside))  # type: ignore[arg-type]  # a kind
    return sections


def find_changes(body: str, parts: Sequence[Part], originals: Sequence[str]) -> list[Change]:
    """Return the words that differ between quotations and their originals, in text order."""
    changes: list[Change] = []
    for depth, original in enumerate(originals, 1):
        if max(len(body), len(original)) > MAX_COMPARED:
            continue
        own, quoted = _words(original, part(original), 0), _words(body, parts, depth)
        for change in altered_words(_hashes(own), _hashes(quoted)):
            first, last = quoted.starts[change.quoted[0]], quoted.ends[change.quoted[1] - 1]
            start, end = change.words
            text = original[own.starts[start] : own.ends[end - 1]] if start < end else ""
            changes.append(Change(first, last, " ".join(text.split())))
    return sorted(changes, key=lambda each: each.start)


def _words(body: str, parts: Sequence[Part], depth: int) -> Words:
    """Return the words of a depth, with their places in the body; depth 0 is the author's own text."""
    found = Words([], [], [])
    for each in parts:
        if each.depth == depth and each.kind in ("new", "quoted"):
            words = token_offsets(body[each.start : each.end])
            found.tokens.extend(words.tokens)
            found.starts.extend(each.start + place for place in words.starts)
            found.ends.extend(each.start + place for place in words.ends)
    return found


def _hashes(words: Words) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    return np.array([wh1(word) for word in words.tokens], np.uint64)


def _author(body: str, parts: Sequence[Part]) -> str:
    """Return the author of a quotation: the sender in a copied header, or the attribution line."""
    if parts[0].kind != "heading":
        return ""
    lines = [line.strip(" >*") for line in body[parts[0].start : parts[0].end].splitlines()]
    for line in lines:
        if (match := LABEL.match(line)) and match.lastgroup == "from":
            return line[match.end() :].strip()[:MAX_AUTHOR]
    return " ".join(" ".join(lines).split()).rstrip(f"{COLONS} ")[:MAX_AUTHOR]


# Share of a mail's runs that its answer has at the least; below, what it lacks was left out and not altered.
MIN_COVERED = 0.3

NO_PIECE = Piece("new", NO_WORDS)


class Alteration(NamedTuple):
    """Words of a mail that another quotes differently."""

    words: tuple[int, int]  # first word of the mail that differs, and the one behind the last, counted from 0
    quoted: tuple[int, int]  # the same in what the other quotes at depth 1


def holds(holder: ThreadMail, mail: ThreadMail) -> bool:
    """Return whether a mail contains all words and attachments of another, including its quotations.

    The words of each depth are looked for first. Where marks are damaged, or answers stand between quoted lines, a
    depth of the one is not that of the other: then each part is looked for in whatever the holder reads as.
    """
    if not mail.attachments <= holder.attachments:
        return False
    return _holds_levels(holder, mail) or all(
        _holds_piece(holder, before.words, piece.words)
        for before, piece in pairwise([NO_PIECE, *mail.pieces])
        if piece.kind in ("new", "quoted")
    )


def _holds_levels(holder: ThreadMail, mail: ThreadMail) -> bool:
    """Return whether the words of each depth of a mail occur at one depth of the holder."""
    for depth, words in enumerate(mail.words):
        if words.size >= RUN:
            if not _is_subset(mail.runs[depth], holder.all_runs):
                return False
        elif words.size and not any(_occurs(words, level) for level in holder.words):
            return False
    return True


def _holds_piece(holder: ThreadMail, before: Hashes, words: Hashes) -> bool:
    """Return whether the words of a part occur in the holder, at any depth of its quote marks.

    Few words, such as `Yes.`, have to begin a part that is quoted, or to follow what they follow in their own mail.
    """
    if words.size >= RUN:
        return _is_subset(runs(words), holder.reading_runs)
    if any(np.array_equal(piece.words[: words.size], words) for piece in holder.pieces if piece.kind == "quoted"):
        return True
    joined = runs(np.concatenate([before, words])[-RUN:])
    return bool(joined.size) and _is_subset(joined, holder.reading_runs)


def _is_subset(values: Hashes, others: Hashes) -> bool:
    """Return whether all values are in `others`, which is sorted."""
    if not others.size:
        return not values.size
    places = np.searchsorted(others, values)
    return bool((others[np.minimum(places, others.size - 1)] == values).all())


def _occurs(words: Hashes, text: Hashes) -> bool:
    """Return whether a few words are adjacent in a text."""
    starts = np.flatnonzero(text[: text.size - words.size + 1] == words[0]) if text.size >= words.size else ()
    return any(np.array_equal(text[at : at + words.size], words) for at in starts)


def altered_words(words: Hashes, quotation: Hashes) -> list[Alteration]:
    """Return the words that differ in a quotation; omitted words do not count."""
    own, quoted = runs(words), runs(quotation)
    if own.size < 2 or quoted.size < 2:
        return []
    place = _places(own, quoted)
    known = np.flatnonzero(place >= 0)
    if known.size < MIN_COVERED * own.size or known.size == own.size:
        return []
    changes: list[Alteration] = []
    if known[0] > 0 and place[known[0]] == known[0]:
        changes.append(Alteration((0, int(known[0])), (0, int(known[0]))))
    for before, after in zip(known[:-1].tolist(), known[1:].tolist(), strict=True):
        start, end = int(place[before]) + RUN, int(place[after])
        if after > before + 1 and start <= end < start + 4 * (after - before) and end > start:
            changes.append(Alteration((before + RUN, max(after, before + RUN)), (start, end)))
    last = int(known[-1])
    missing = own.size - 1 - last
    if 0 < missing <= RUN and int(place[last]) + RUN + missing <= quotation.size:
        start = int(place[last]) + RUN
        changes.append(Alteration((last + RUN, words.size), (start, start + missing)))
    return changes


def _places(values: Hashes, text: Hashes) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the first position of each value in a text; -1 if it is missing."""
    order = np.argsort(text, kind="stable")
    ordered = text[order]
    found = np.minimum(np.searchsorted(ordered, values), text.size - 1)
    return np.where(ordered[found] == values, order[found], -1)


MAX_HOLDERS = 200  # mails that are named as holding one; of more, the nearest are


@dataclass(frozen=True, slots=True)
class ThreadedMail:
    thread: str  # id of the first mail of the thread
    id: str  # its own id
    parent: str | None  # id of the mail that it answers; None at a root
    by: By | None  # what says so; None at a root
    inclusive: bool  # whether no other mail of the thread holds all of it
    contained_in: Sequence[str]  # ids of the mails that do
    mih: str  # EDRM's hash of its Message-ID


@dataclass(frozen=True, eq=False, slots=True)
class Forest:
    parents: Parents  # the mails, and what each answers
    parent: Sequence[int | None]  # the parent of each, without circles
    thread: Sequence[int]  # the number of the first mail of its thread, of each
    holders: Sequence[Sequence[int]]  # numbers of the mails that hold each whole, the nearest first

    @classmethod
    def grow(cls, parents: Parents) -> "Forest":
        """Build the threads from parents."""
        parent = list(parents.parent)
        for number in break_circles(parent):
            parent[number] = None
        return cls(parents, parent, _threads(parents, parent), _holders(parents, parent))

    def rows(self) -> Iterator[ThreadedMail]:
        """Yield the mails thread by thread, in the order of time."""
        mails = self.parents.mails
        for number in sorted(range(len(mails)), key=self.thread.__getitem__):
            parent, holders = self.parent[number], self.holders[number]
            yield ThreadedMail(
                mails[self.thread[number]].id,
                mails[number].id,
                None if parent is None else mails[parent].id,
                None if parent is None else self.parents.by[number],
                not holders,
                [mails[each].id for each in holders],
                mails[number].mih,
            )

    def altered(self) -> Iterator[tuple[str, str, Sequence[Alteration]]]:
        """Yield each answer that alters its quotation: id of the quoted mail, its own id, and the words."""
        mails = self.parents.mails
        for number, parent in enumerate(self.parent):
            if parent is not None and number not in self.holders[parent]:
                for quotation in mails[number].words[1:2]:
                    if changes := altered_words(mails[parent].words[0], quotation):
                        yield mails[parent].id, mails[number].id, changes


def _threads(parents: Parents, parent: Sequence[int | None]) -> list[int]:
    """Join mails that answer each other or the same missing mail; returns the first of each thread."""
    root = list(range(len(parent)))

    def find(position: int) -> int:
        while root[position] != position:
            root[position] = root[root[position]]
            position = root[position]
        return position

    missing: dict[str, int] = {}
    for number, mail in enumerate(parents.mails):
        above = parent[number]
        others = [missing.setdefault(name, number) for name in (*mail.ancestors, mail.message_id) if name]
        for other in others if above is None else [*others, above]:
            first, second = sorted((find(number), find(other)))
            root[second] = first
    return [find(number) for number in range(len(root))]


def _holders(parents: Parents, parent: Sequence[int | None]) -> list[list[int]]:
    """Find the mails that contain each mail: among its direct and indirect answers, and its copies."""
    children: list[list[int]] = [[] for _ in parent]
    for number, above in enumerate(parent):
        if above is not None:
            children[above].append(number)
    holders: list[list[int]] = [[] for _ in parent]
    order = [number for number, above in enumerate(parent) if above is None]
    for number in order:
        order += children[number]
    for number in reversed(order):  # answers before the mails that they answer
        mail = parents.mails[number]
        found: dict[int, None] = {}
        waiting = list(children[number])
        for child in waiting:
            if child not in found and holds(parents.mails[child], mail):
                found[child] = None
                found.update(dict.fromkeys(holders[child]))
                waiting += children[child]
            if len(found) > MAX_HOLDERS:
                break
        holders[number] = list(found)[:MAX_HOLDERS]
    first: dict[str, int] = {}  # the first copy of a mail holds the others: one message, in two mailboxes
    for number, mail in enumerate(parents.mails):
        copy = first.setdefault(mail.message_id, number) if mail.message_id else number
        if copy != number and holds(parents.mails[copy], mail):
            holders[number] = [*holders[number], copy][:MAX_HOLDERS]
    return holders
