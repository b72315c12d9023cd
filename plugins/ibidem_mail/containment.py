"""Containment of mails: whether one contains another completely, and which quoted words it alters."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ibidem_dedupe.word_runs import NO_WORDS, RUN, Hashes, runs
from ibidem_mail.thread_mail import Piece, ThreadMail

# Share of a mail's runs that its answer has at the least; below, what it lacks was left out and not altered.
MIN_COVERED = 0.3

NOTHING = Piece("new", NO_WORDS)


@dataclass(frozen=True, slots=True)
class Alteration:
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
        for before, piece in pairwise([NOTHING, *mail.pieces])
        if piece.kind in ("new", "quoted")
    )


def _holds_levels(holder: ThreadMail, mail: ThreadMail) -> bool:
    """Return whether the words of each depth of a mail occur at one depth of the holder."""
    for depth, words in enumerate(mail.words):
        if words.size >= RUN:
            if not _is_subset(mail.runs(depth), holder.all_runs):
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


def alterations(mail: ThreadMail, answer: ThreadMail) -> list[Alteration]:
    """Return the words of a mail that its answer quotes differently; omitted words do not count."""
    return altered_words(mail.own, answer.words[1]) if len(answer.words) > 1 else []


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
