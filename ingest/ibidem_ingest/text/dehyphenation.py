"""Words broken at the end of a line or page, joined again: the first step of `tok1`."""

import re
from dataclasses import dataclass, field

from ibidem_ingest.text.unicode_kinds import DIGIT, LETTER, LOWER, MARK, SINGLE, SINGLE_DIGIT, kind

_LINE = r"[ \t]*+\r?\n[ \t]*+"
_PAGE = r"[ \t]*+(?:\r?\n[ \t]*+)?\f[ \t]*+(?:\r?\n[ \t]*+)?"
_ASCII_BREAK = re.compile(rf"(-)({_PAGE}|{_LINE})")
_BREAK = re.compile(rf"([-\u2010\u2011\u00ac\u00ad\u2223])({_PAGE}|{_LINE})")
_SOFT = frozenset("\u00ad\u2223")
_WORD = frozenset((LETTER, LOWER, MARK, DIGIT, SINGLE, SINGLE_DIGIT))


def join_broken_words(text: str) -> str:
    r"""Take out the hyphens at the ends of lines and pages, and the breaks after them, where one word goes on.

    A soft hyphen (U+00AD) or U+2223 goes with the break after it; `-`, U+2010, U+2011 and `¬` only when a lower-case
    letter stands on both sides (marks on the letter before are passed over). A break is optional blanks, CR? LF,
    optional blanks; or a form feed with at most one line break and blanks on each side. Over a form feed the whole
    word precedes it, so the text still has as many pages, and every word is on the page where it begins.

    >>> join_broken_words("the defen-\n  dant in the hol-\fding, Franco-\nPrussian")
    'the defendant in the holding\x0c, Franco-\nPrussian'
    """
    pattern = _ASCII_BREAK if text.isascii() else _BREAK
    joined = None
    for match in pattern.finditer(text):
        if _is_joint(text, match):
            joined = joined or _Joined(text)
            joined.cut(match)
    return joined.rest() if joined else text


def _is_joint(text: str, match: re.Match[str]) -> bool:
    if match[1] in _SOFT:
        return True
    before = match.start() - 1
    while before >= 0 and kind(text[before]) == MARK:
        before -= 1
    after = match.end()
    return before >= 0 and after < len(text) and kind(text[before]) == LOWER == kind(text[after])


@dataclass(slots=True)
class _Joined:
    """The pieces between the breaks that were cut out, and the form feeds that wait for their word to end."""

    text: str
    pieces: list[str] = field(default_factory=list)
    start: int = 0
    waiting: int = 0

    def cut(self, match: re.Match[str]) -> None:
        self._add(match.start())
        self.start = match.end()
        self.waiting += match[2].count("\f")

    def rest(self) -> str:
        self._add(len(self.text))
        return "".join([*self.pieces, "\f" * self.waiting])

    def _add(self, end: int) -> None:
        word_end = self.start
        while self.waiting and word_end < end and kind(self.text[word_end]) in _WORD:
            word_end += 1
        self.pieces.append(self.text[self.start : word_end])
        if word_end < end:
            self.pieces.append("\f" * self.waiting)
            self.waiting = 0
        self.pieces.append(self.text[word_end:end])
