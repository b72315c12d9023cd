"""Tokenizer `tok3`: a plain version for short texts, and a batched one without an object per word.

Words broken at the end of a line or page are joined, characters unknown to Unicode 14.0 become blanks; then NFKC, lower
case, NFKC, and letters that differ in marks alone are made one (`folding`). A token is a run of letters, marks and
digits that begins with a letter or digit; a *single* character is a token of its own, with the marks behind it:
characters of scripts that write no space between words (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar, by script,
or common to the first three by script extension). The table of characters is in `tok3.tsv`, pinned at Unicode 14.0,
since Python versions differ.

Terms are the tokens that count as evidence. A term has no digit and at least three letters, and is not a character of a
script without spaces between words.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from ibidem_ingest.kernel import loops
from ibidem_ingest.text import signs
from ibidem_ingest.text.folding import LATIN, fold
from ibidem_ingest.text.layout import close_figures
from ibidem_ingest.text.word_hash import Hashes, Places, hash_tokens

UNASSIGNED, OTHER, MARK, LETTER, LOWER, DIGIT, SINGLE, SINGLE_DIGIT = map(ord, "?-MLlDSs")


@cache
def kinds() -> NDArray[np.uint8]:
    """Return the kind of every code point, read once from the pinned table."""
    table = np.full(0x110000, UNASSIGNED, np.uint8)
    for line in resources.files(__package__).joinpath("tok3.tsv").read_text("ascii").splitlines():
        if not line.startswith("#"):
            first, last, kind = line.split("\t")
            table[int(first, 16) : int(last, 16) + 1] = ord(kind)
    table.flags.writeable = False
    return table


CodePoints = NDArray[np.uint32]
Octets = NDArray[np.uint8]


def code_points(text: str) -> CodePoints:
    """Return the code points of a text, lone surrogates included."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32, copy=False)


def _characters(points: CodePoints) -> str:
    return points.astype("<u4", copy=False).tobytes().decode("utf-32-le", "surrogatepass")


def character_kinds(text: str) -> bytes:
    """Return one byte for each character: its kind."""
    return kinds().take(code_points(text)).tobytes()


@cache
def shapes() -> NDArray[np.uint8]:
    """Return the shape of every code point, as `signs` names them."""
    table = np.full(0x110000, ord("_"), np.uint8)
    table[np.isin(kinds(), (LETTER, LOWER, MARK, SINGLE))] = ord("a")
    table[np.isin(kinds(), (DIGIT, SINGLE_DIGIT))] = ord("0")
    for shape, characters in signs.CHARACTERS.items():
        table[[ord(each) for each in characters]] = ord(shape)
    for shape, ranges in signs.RANGES.items():
        for first, end in ranges:
            table[first:end] = ord(shape)
    table.flags.writeable = False
    return table


MAX_EXPANSION = 18  # characters that normalising makes of one at most: U+FDFA is a whole sentence


def normal_length(text: str) -> int:
    """Return the number of characters of a text in NFKC, by short parts: sorting many marks takes quadratic time."""
    parts = (text[at : at + 100] for at in range(0, len(text), 100))
    return sum(len(unicodedata.normalize("NFKC", part)) for part in parts)


def kind(character: str) -> int:
    """Return the kind of one character."""
    return int(kinds()[ord(character)])


_LINE = r"[ \t]*+\r?\n[ \t]*+"
_PAGE = r"[ \t]*+(?:\r?\n[ \t]*+)?\f[ \t]*+(?:\r?\n[ \t]*+)?"
_ASCII_BREAK = re.compile(rf"(-)({_PAGE}|{_LINE})")
_BREAK = re.compile(rf"([-\u2010\u2011\u00ac\u00ad\u2223])({_PAGE}|{_LINE})")
_SOFT = frozenset("\u00ad\u2223")
_WORD = frozenset((LETTER, LOWER, MARK, DIGIT, SINGLE, SINGLE_DIGIT))


def join_broken_words(text: str) -> str:
    """Remove hyphens at the ends of lines and pages, with the breaks after them, inside broken words.

    A soft hyphen (U+00AD) or U+2223 goes with the break after it; `-`, U+2010, U+2011 and `¬` only when a lower-case
    letter is on both sides (marks on the letter before are passed over). A break is optional blanks, CR? LF,
    optional blanks; or a form feed with at most one line break and blanks on each side. Over a form feed the whole
    word precedes it, so the text still has as many pages, and every word is on the page where it begins.
    """
    pattern = _ASCII_BREAK if text.isascii() else _BREAK
    joints = [match for match in pattern.finditer(text) if _is_joint(text, match)]
    pieces, start, breaks = [], 0, 0  # breaks of pages that are put behind the word that goes on
    for end, match in [*((match.start(), match) for match in joints), (len(text), None)]:
        word_end = start
        while breaks and word_end < end and kind(text[word_end]) in _WORD:
            word_end += 1
        pieces.append(text[start:word_end])
        if word_end < end:
            pieces += ["\f" * breaks, text[word_end:end]]
            breaks = 0
        if match:
            start, breaks = match.end(), breaks + match[2].count("\f")
    return "".join([*pieces, "\f" * breaks]) if joints else text


def _is_joint(text: str, match: re.Match[str]) -> bool:
    if match[1] in _SOFT:
        return True
    start = match.start() - 1
    while start >= 0 and kind(text[start]) == MARK:
        start -= 1
    end = match.end()
    return start >= 0 and end < len(text) and kind(text[start]) == LOWER == kind(text[end])


_TOKEN = re.compile(rb"[LlD][LlDM]*+|[Ss]M*+")
_ASCII_TOKEN = re.compile("[a-z0-9]+")
# Characters that nobody sees within a word: soft hyphen, zero-width space and joiners, marks of direction.
INVISIBLE = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_BLANKED = re.compile("[\x1a\u2025\u2026]")  # dots that NFKC parts, and the mark of superscripts
_MARK = "\x1a"
_ASCII_FOLD = bytes(ord(chr(c).lower()) if c < 128 and chr(c).isalnum() else 32 for c in range(256))
_SPACE = 32
_TAIL = b" " * 9
_BLOCK = 8  # bytes that the loops copy at once; up to as many are written past the end
_SIMPLE_BELOW = 0x3000
_NOT_SIMPLE, _CHANGED = 0xFFFFFFFF, 0xFFFFFFFE
_JAMO = range(0x1100, 0x1200)

Flags = NDArray[np.bool_]


def tokens(text: str) -> list[str]:
    """Return the tokens of a text, one string each.

    >>> tokens("The Court's ruling (No. 12-B) stands; 東京.")
    ['the', 'court', 's', 'ruling', 'no', '12', 'b', 'stands', '東', '京']
    """
    text = join_broken_words(text)
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
    text = normal_form(text)
    return [text[match.start() : match.end()] for match in _TOKEN.finditer(character_kinds(text))]


def tokens_and_signs(text: str) -> tuple[list[str], str]:
    """Return the tokens of a text, and its signs: each with the number of words that begin before it.

    Figures are closed up, with full-width thousands marks among the signs.

    >>> tokens_and_signs("In C++, -5.2 % of 1,200²")
    (['in', 'c', '5', '2', 'of', '1', '2002'], '2+ 2+ 2- 3. 4% 6, 7^')
    >>> tokens_and_signs("1,200.5")
    (['1200', '5'], '1\uff0c 1.')
    """
    return cut_tokens_and_signs(join_broken_words(text))


def cut_tokens_and_signs(text: str) -> tuple[list[str], str]:
    """Return tokens and signs of a text whose broken words are joined; joining twice would also join other words."""
    outlines, points, characters, cuts = _separate(f"    {text}    ")
    positions = np.array(signs.find(outlines.tobytes()), np.int64)
    found = code_points(signs.name(_characters(points[positions]))).copy()
    positions += np.searchsorted(cuts, positions, "right")
    characters = close_figures(characters, positions, found)
    starts = np.flatnonzero((characters[1:] != _SPACE) & (characters[:-1] == _SPACE)) + 1
    places = zip(np.searchsorted(starts, positions).tolist(), _characters(found), strict=True)
    return _characters(characters).split(), " ".join(f"{place}{sign}" for place, sign in places)


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """The tokens of several documents in one buffer, with their hashes."""

    buffer: bytes  # UTF-8 of all tokens in order, a space or more before and behind each, at least eight at the end
    starts: Places  # byte offset of each token, int64
    ends: Places  # byte offset behind each token, int64
    hashes: Hashes  # `wh1` of each token, uint64
    leading: Hashes  # its first eight bytes as a little-endian word, zeros behind a shorter one, uint64
    offsets: Places  # token offset of each document and of the end, int64, documents + 1

    @classmethod
    def tokenize(cls, texts: Sequence[str]) -> "TokenBatch":
        """Tokenize texts, with the same tokens as `tokens`."""
        buffer, begins, _ = _normal_buffer(texts, np.zeros(len(texts), bool), with_signs=False)
        return cls._cut(buffer, begins)

    @classmethod
    def tokenize_pages(cls, pages: Sequence[str], first: Places) -> tuple["TokenBatch", list[bytes]]:
        """Tokenize the pages of texts, and return the signs of each text as `tokens_and_signs` does.

        `first` is the number of each text's first page; where a text has several, its broken words are joined already.
        """
        sizes, texts = np.diff(first), first.size - 1
        buffer, begins, (positions, found) = _normal_buffer(pages, np.repeat(sizes > 1, sizes), with_signs=True)
        batch = cls._cut(close_figures(np.frombuffer(buffer, np.uint8), positions, found).tobytes(), begins)
        columns = (batch.starts, batch.starts.size, positions, found, positions.size, begins[first])
        room = loops.MAX_NUMBER_BYTES * positions.size + 1
        return batch, loops.lines("ibidem_write_signs", room, texts, (*columns, batch.offsets[first], texts))

    @classmethod
    def _cut(cls, buffer: bytes, begins: Places) -> "TokenBatch":
        """Cut a buffer at its spaces; each document begins at one of some places."""
        places = np.empty((2, len(buffer) // 2), np.int64)
        starts, ends = places[:, : loops.call("ibidem_cut", buffer, len(buffer), *places)]
        return cls(buffer, starts, ends, *hash_tokens(buffer, starts, ends), np.searchsorted(starts, begins))

    def __len__(self) -> int:
        return self.offsets.size - 1

    @cached_property
    def lengths(self) -> Places:
        return np.diff(self.offsets)

    @cached_property
    def shapes(self) -> "TokenShapes":
        """Kinds of characters in the tokens."""
        return TokenShapes.classify(self.buffer, self.starts, self.ends)

    @cached_property
    def documents(self) -> Places:
        return np.repeat(np.arange(len(self)), self.lengths)

    def select(self, tokens: slice | Places | Flags, offsets: Places) -> "TokenBatch":
        """Return some of the tokens over the same buffer, in documents with these offsets."""
        starts, ends = self.starts[tokens], self.ends[tokens]
        return TokenBatch(self.buffer, starts, ends, self.hashes[tokens], self.leading[tokens], offsets)

    def keep(self, kept: Flags) -> "TokenBatch":
        """Return the batch with some of its tokens, in a buffer of their own: runs of letters are read from it."""
        texts = self.select(kept, np.append(0, kept.cumsum())[self.offsets]).join_tokens()
        return self._cut(b" ".join([b"", *texts, _TAIL]), _begins(texts))

    def token(self, number: int) -> str:
        return self.buffer[self.starts[number] : self.ends[number]].decode()

    def join_tokens(self) -> list[bytes]:
        """Return the tokens of each document, joined by one space, as UTF-8."""
        columns = (self.buffer, self.starts, self.ends, self.offsets, len(self))
        return loops.lines("ibidem_join", len(self.buffer) + _BLOCK, len(self), columns)


def visible(text: str) -> str:
    """Return a text without the characters that nobody sees within words."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def normal_form(text: str) -> str:
    """Blank out characters unknown to Unicode 14.0, so that all Python versions agree; then normalise and fold."""
    text = _BLANKED.sub(" ", visible(text))
    points = code_points(text)
    unknown = kinds().take(points) == UNASSIGNED
    if unknown.any():
        text = _characters(np.where(unknown, np.uint32(_SPACE), points))
    return fold(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower()))


def _signed_form(text: str) -> tuple[str, list[int]]:
    """Return the normal form of a text, and the positions of its superscript digits, which it has as plain ones."""
    if not signs.SUPERSCRIPT.search(text):
        return normal_form(text), []
    marked = signs.SUPERSCRIPT.sub(rf"{_MARK}\g<0>", _BLANKED.sub(" ", visible(text)))
    pieces = [normal_form(each) for each in marked.split(_MARK)]
    return "".join(pieces), list(accumulate(len(piece) for piece in pieces))[:-1]


_NO_SIGNS = np.zeros(0, np.int64), np.zeros(0, np.uint32)
Found = tuple[Places, CodePoints]  # where signs are, in bytes, and which


def _normal_bytes(text: str, *, with_signs: bool) -> tuple[bytes, Found]:
    """Return the tokens of a text with joined words, separated by spaces, as UTF-8; and its signs."""
    if text.isascii():
        raw = text.encode()
        return raw.translate(_ASCII_FOLD), _ascii_signs(raw) if with_signs else _NO_SIGNS
    outlines, points, characters, cuts = _fold_simple(text) or _separate(text)
    positions = _sign_places(outlines.tobytes()) if with_signs else _NO_SIGNS[0]
    encoded = _characters(characters).encode()
    if not positions.size:
        return encoded, _NO_SIGNS
    named = signs.name(unicodedata.normalize("NFKC", _characters(points[positions])))
    positions = positions + np.searchsorted(cuts, positions, "right")
    widths = (characters >= 0x80).astype(np.int64) + (characters >= 0x800) + (characters >= 0x10000)
    return encoded, (positions + (widths.cumsum() - widths)[positions], code_points(named))


def _ascii_signs(raw: bytes) -> Found:
    positions = _sign_places(raw, shapes()[:256].tobytes())
    return positions, np.frombuffer(raw, np.uint8)[positions].astype(np.uint32)


def _sign_places(text: bytes, outlines: bytes = bytes(range(256))) -> Places:
    """Run `signs.find` in compiled code: `outlines` is the shape of each of the 256 bytes."""
    positions = np.empty(len(text), np.int64)
    return positions[: loops.call("ibidem_signs", text, len(text), outlines, positions)].copy()


def find_signs(outlines: bytes) -> list[int]:
    """Return where the signs are among shapes, as `signs.find` does."""
    return _sign_places(outlines).tolist() if loops.IN_USE else signs.find(outlines)


# The shapes of a text's characters, the characters, these separated by spaces, and where spaces were put between them.
Separated = tuple[Octets, CodePoints, CodePoints, Places]


def _fold_simple(text: str) -> Separated | None:
    """Fold a text of low code points that no neighbour can change, by tables; None for another."""
    points = code_points(text)
    if points.max() >= _SIMPLE_BELOW:
        return None
    table, outlines = _simple_tables()
    characters = table.take(points)
    if characters.max() == _CHANGED:
        points = code_points(_CHANGES.sub(lambda match: _EXPANDED.get(match[0], ""), text))
        characters = table.take(points)
    return None if characters.max(initial=0) >= _CHANGED else (outlines.take(points), points, characters, _NO_SIGNS[0])


# Low letters that become two of ASCII; these and invisible characters are replaced before the tables are used.
_EXPANDED = {
    form: plain for each, plain in LATIN.items() for form in {each, each.upper()} if len(plain) == 2 and len(form) == 1
}
_CHANGES = re.compile(f"[{INVISIBLE}{''.join(_EXPANDED)}]")


@cache
def _simple_tables() -> tuple[CodePoints, Octets]:
    """Return for each low code point the normalised character, and the shape of its normal form."""
    normal_forms = [normal_form(chr(point)) for point in range(_SIMPLE_BELOW)]
    outlines = shapes().take(code_points("".join(normal[:1] or " " for normal in normal_forms)))
    characters = np.full(_SIMPLE_BELOW, _NOT_SIMPLE, np.uint32)
    for point, normal in enumerate(normal_forms):
        inside = set(character_kinds(normal))
        if signs.SUPERSCRIPT.match(chr(point)):
            outlines[point] = signs.OF_SUPERSCRIPT
        if _CHANGES.match(chr(point)):
            characters[point] = _CHANGED
        elif len(normal) != 1 or point in _JAMO:
            continue
        elif inside <= {OTHER, UNASSIGNED}:
            characters[point] = _SPACE
        elif inside <= {LETTER, LOWER, DIGIT}:
            characters[point] = ord(normal)
    return characters, outlines


def _separate(text: str) -> Separated:
    """Normalise a text, replace separators by blanks, and put spaces around single characters and their marks."""
    text, superscripts = (text.lower(), []) if text.isascii() else _signed_form(text)
    points = code_points(text)
    outlines, kind_ = shapes().take(points), kinds().take(points)
    outlines[superscripts] = signs.OF_SUPERSCRIPT
    mark = kind_ == MARK
    base = np.maximum.accumulate(np.where(mark, 0, np.arange(points.size)))  # a mark stands on a sign before it
    mask = ~np.isin(kind_.take(base), (OTHER, UNASSIGNED, MARK))
    single = np.isin(kind_, (SINGLE, SINGLE_DIGIT))
    cut = single | ~mark & np.concatenate(([False], single.take(base)[:-1]))
    cuts = np.flatnonzero(cut)
    return outlines, points, np.insert(np.where(mask, points, np.uint32(_SPACE)), cuts, np.uint32(_SPACE)), cuts


def _normal_buffer(texts: Sequence[str], is_joined: Flags, *, with_signs: bool) -> tuple[bytes, Places, Found]:
    """Normalise texts into one buffer, and find their signs."""
    if all(map(str.isascii, texts)):
        texts, raw = _with_joined_words(texts, is_joined)
        folded = np.empty(len(raw), np.uint8)
        loops.call("ibidem_fold", raw, len(raw), folded)
        return folded.tobytes(), _begins(texts), _ascii_signs(raw) if with_signs else _NO_SIGNS
    sources = (text if skip else join_broken_words(text) for text, skip in zip(texts, is_joined, strict=True))
    several = [_normal_bytes(text, with_signs=with_signs) for text in sources]
    parts = [part for part, _ in several]
    begins = _begins(parts)
    found = [
        (positions + (begin + 1), characters)
        for begin, (_, (positions, characters)) in zip(begins[:-1], several, strict=True)
    ]
    positions, characters = map(np.concatenate, zip(_NO_SIGNS, *found, strict=True))
    return b" ".join([b"", *parts, _TAIL]), begins, (positions, characters)


def _begins(parts: Sequence[str] | Sequence[bytes]) -> Places:
    return np.concatenate(([0], np.cumsum([len(part) + 1 for part in parts], dtype=np.int64)))


def _with_joined_words(texts: Sequence[str], is_joined: Flags) -> tuple[Sequence[str], bytes]:
    """Join the broken words of ASCII texts, searching all of them at once for hyphens before white space."""
    raw = "\n".join(["", *texts, _TAIL.decode()]).encode()
    if loops.call("ibidem_hyphen", raw, len(raw)) < 0:
        return texts, raw
    octets = np.frombuffer(raw, np.uint8)
    hyphen = octets[:-1] == ord("-")
    hyphen &= octets[1:] <= _SPACE
    hyphens = np.flatnonzero(hyphen)
    hyphens = hyphens[octets.take(hyphens - 1) >= ord("a")]
    if not hyphens.size:
        return texts, raw
    numbers = np.searchsorted(_begins(texts), hyphens, "right") - 1
    text_numbers = set(numbers[~is_joined[numbers]].tolist())
    texts = [join_broken_words(text) if number in text_numbers else text for number, text in enumerate(texts)]
    return texts, "\n".join(["", *texts, _TAIL.decode()]).encode()


MIN_LETTERS = 3

_TERM = re.compile(rb"(?:[Ll]M*+){3,}+")


def is_term(token: str) -> bool:
    """Return whether a token is a term."""
    if token.isascii():
        return token.isalpha() and len(token) >= MIN_LETTERS
    return _TERM.fullmatch(character_kinds(token)) is not None


def has_digit(token: str) -> bool:
    if token.isascii():
        return not token.isalpha()
    return not {DIGIT, SINGLE_DIGIT}.isdisjoint(character_kinds(token))


@dataclass(frozen=True, eq=False, slots=True)
class TokenShapes:
    characters: Places  # number of characters of each
    is_term: Flags  # whether each is a term
    has_digit: Flags  # whether each holds a digit

    @classmethod
    def classify(cls, buffer: bytes, starts: Places, ends: Places) -> "TokenShapes":
        """Classify the tokens in the buffer of a batch."""
        sizes = ends - starts
        digit, non_ascii = np.empty((2, starts.size), np.uint8)
        loops.call("ibidem_shapes", buffer, starts, ends, starts.size, digit, non_ascii)
        has_digit, unusual = digit != 0, np.flatnonzero(non_ascii)
        is_term = (sizes >= MIN_LETTERS) & ~has_digit
        if unusual.size:  # these are checked again, character by character
            bounds = zip(starts.take(unusual).tolist(), ends.take(unusual).tolist(), strict=True)
            words = [buffer[start:end].decode() for start, end in bounds]
            sizes[unusual] = list(map(len, words))
            owner = np.repeat(np.arange(unusual.size), sizes.take(unusual))
            shapes = kinds().take(code_points("".join(words)))
            letters = np.bincount(owner[np.isin(shapes, (LETTER, LOWER))], minlength=unusual.size)
            digits = np.bincount(owner[np.isin(shapes, (DIGIT, SINGLE_DIGIT))], minlength=unusual.size)
            has_digit[unusual] = digits > 0
            is_term[unusual] = (letters >= MIN_LETTERS) & (digits == 0)
        return cls(sizes, is_term, has_digit)


@dataclass(frozen=True, eq=False, slots=True)
class TermGroups:
    """The distinct (word, document) pairs of a batch, unordered."""

    word: Places  # number of the word in the vocabulary
    document: Places  # number of the document
    first: Places  # place of the word's first occurrence in the document, counted in tokens of the batch
    count: Places  # how often it occurs in the document
    vocabulary: TokenBatch  # the distinct words of all documents, unordered; a word may occur twice

    @classmethod
    def group(cls, batch: TokenBatch) -> "TermGroups":
        """Group the tokens of a batch."""
        groups, places = np.empty((4, batch.hashes.size), np.int64), np.empty(batch.hashes.size + 1, np.int64)
        columns = (batch.buffer, batch.starts, batch.ends, batch.hashes, batch.offsets, len(batch), loops.SALT)
        count = loops.call("ibidem_groups", *columns, *groups, places, places[-1:])
        word, document, first, number = groups[:, :count]
        vocabulary = batch.select(places[: places[-1]], np.array([0, places[-1]]))
        return cls(word, document, first, number, vocabulary)
