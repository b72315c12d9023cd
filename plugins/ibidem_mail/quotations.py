"""Quotations in the body of a mail: the author and the lines of each, and the words that differ from the original."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ibidem.comparison.word_places import Words, token_offsets
from ibidem_ingest.mail.lines import Kind
from ibidem_ingest.mail.parts import Part, part
from ibidem_ingest.mail.phrases import COLONS, LABEL
from ibidem_ingest.text.word_hash import wh1
from ibidem_mail.forest import altered_words

MAX_COMPARED = 500_000  # characters of a body up to which its quotations are compared with what they quote

MAX_AUTHOR = 120

QUOTATION: tuple[Kind, ...] = ("quoted", "heading")


@dataclass(frozen=True, slots=True)
class Change:
    """Words of an original, and the words that a quotation has instead."""

    start: int  # the first character of the words, in the body of the mail that quotes
    end: int  # the character behind their last
    original: str  # the words in their place in the mail that is quoted; empty where words were put in


@dataclass(frozen=True, slots=True)
class BodySection:
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
    changes = list(find_changes(body, parts, originals))
    sections = []
    for kind, some in groupby(parts, lambda each: "quoted" if each.kind in QUOTATION else each.kind):
        members = list(some)
        start, end = members[0].start, members[-1].end
        inside = [each for each in changes if start <= each.start < end]
        sections.append(BodySection(kind, start, end, _author(body, members), _lines(body, members), inside))  # type: ignore[arg-type]  # a kind
    return sections


def find_changes(body: str, parts: Sequence[Part], originals: Sequence[str]) -> Iterator[Change]:
    """Yield the words that differ between quotations and their originals, in text order."""
    changes: list[Change] = []
    for depth, original in enumerate(originals, 1):
        if max(len(body), len(original)) > MAX_COMPARED:
            continue
        own, quoted = _words(original, part(original), 0), _words(body, parts, depth)
        for change in altered_words(_hashes(own), _hashes(quoted)):
            first, last = quoted.starts[change.quoted[0]], quoted.ends[change.quoted[1] - 1]
            changes.append(Change(first, last, _text(original, own, *change.words)))
    yield from sorted(changes, key=lambda each: each.start)


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


def _text(body: str, words: Words, first: int, end: int) -> str:
    """Return the text of a range of words, with lines joined by one space."""
    return " ".join(body[words.starts[first] : words.ends[end - 1]].split()) if first < end else ""


def _lines(body: str, parts: Sequence[Part]) -> int:
    quoted = (body[each.start : each.end] for each in parts if each.kind == "quoted")
    return sum(any(map(str.isalnum, line)) for text in quoted for line in text.splitlines())


def _author(body: str, parts: Sequence[Part]) -> str:
    """Return the author of a quotation: the sender in a copied header, or the attribution line."""
    if parts[0].kind != "heading":
        return ""
    lines = [line.strip(" >*") for line in body[parts[0].start : parts[0].end].splitlines()]
    for line in lines:
        if (match := LABEL.match(line)) and match.lastgroup == "from":
            return line[match.end() :].strip()[:MAX_AUTHOR]
    return " ".join(" ".join(lines).split()).rstrip(f"{COLONS} ")[:MAX_AUTHOR]
