"""Query syntax: parses text into words, phrases, fields, operators and parentheses.

`OR` joins its two neighbours and so binds before `AND`, which is the same as a space, as in legal search engines and on
the web. Nothing that is typed is an error here: what means nothing is left out or taken as words, and noted.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from ibidem_ingest.errors import UsageError

MAX_PARENTHESES = 20  # parentheses inside parentheses; SQLite reads 100

# Fields of which words are looked for; the others are followed by a value as in a filter.
WORD_FIELDS = ("title", "text")

UNPAIRED = "an unmatched parenthesis was ignored"
UNPAIRED_QUOTE = "an unmatched quotation mark was ignored; searched as words"

Kind = Literal["open", "close", "not", "or", "and", "field", "phrase", "word"]

_FIELD = re.compile(r"([^\W\d_][\w-]*(?:\.[\w-]+)*):(?=[^\s:)])")
_RANGE = re.compile(r"\[\s*(\S+)\s+TO\s+(\S+?)\s*\]")
_WORD = re.compile(r'[^\s"]+')
_SLOP = re.compile(r"~(\d{1,4})(?!\w)")
_OPERATORS: dict[str, Kind] = {"AND": "and", "&&": "and", "OR": "or", "||": "or", "NOT": "not"}
_STRANGE = re.compile(r"\w[~^][\d.]*$|\w[*?]\w|^[*?]\w")
_EDGES = string.punctuation + string.whitespace


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a query."""

    kind: Kind  # what it is
    text: str = ""  # a word, the words of a phrase, or the name of a field
    # Of a phrase how many other words may be between its words, in any order; None: they follow each other.
    slop: int | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase."""

    text: str  # the words, without punctuation around them
    field: str = ""  # the field that it follows; empty for none
    prefix: bool = False  # whether words that begin with it count too
    slop: int | None = None  # how many other words may be between its words, in any order; None: they follow each other


@dataclass(slots=True)
class Parentheses:
    """The content of one pair of parentheses, or of the whole query."""

    # Each entry must match, by any one of its parts.
    all_of: list[list["Term | Parentheses"]] = field(default_factory=list)
    none_of: list["Term | Parentheses"] = field(default_factory=list)  # parts that must not


def read_query(text: str, is_field: Callable[[str], bool]) -> tuple[Parentheses, tuple[str, ...]]:
    """Read a query, with straight quotation marks.

    >>> read_query('title:(grain OR wheat) NOT rice*', lambda name: name == "title")[0].none_of
    [Term(text='rice', field='', prefix=True, slop=None)]
    """
    notes: list[str] = []
    return _Reader(list(tokens(text, is_field, notes)), notes).group(), tuple(dict.fromkeys(notes))


def tokens(text: str, is_field: Callable[[str], bool], notes: list[str]) -> Iterator[Token]:
    """Split a query into tokens."""
    position, begins, valued = 0, True, False
    while position < len(text):
        character = text[position]
        if character.isspace():
            position, begins, valued = position + 1, True, False
        elif character == "(" and begins:
            yield Token("open")
            position, valued = position + 1, False
        elif character == ")":
            yield Token("close")
            position += 1
        elif character == "-" and begins and not valued and text[position + 1 : position + 2].strip():
            yield Token("not")
            position += 1
        elif character == '"':
            end = text.find('"', position + 1)
            slop = _SLOP.match(text, end + 1) if end > 0 else None
            if end > 0:
                yield Token("phrase", text[position + 1 : end], int(slop[1]) if slop else None)
            else:
                notes.append(UNPAIRED_QUOTE)
            position, begins, valued = (slop.end() if slop else (end if end > 0 else position) + 1), False, False
        elif valued and (span := _RANGE.match(text, position)):
            yield Token("phrase", "..".join("" if end == "*" else end for end in span.groups()))
            position, begins, valued = span.end(), False, False
        elif begins and not valued and (name := _FIELD.match(text, position)) and is_field(name[1]):
            yield Token("field", name[1])
            position, valued = name.end(), True
        else:
            piece = _word(text, position)
            position += len(piece)
            yield _read_word(piece, is_field, notes) if begins and not valued else Token("word", piece)
            begins = valued = False


def _word(text: str, position: int) -> str:
    """Return the word at a position, without closing parentheses of an outer group."""
    match = _WORD.match(text, position)
    piece = match[0] if match else text[position]
    while piece.endswith(")") and piece.count(")") > piece.count("("):
        piece = piece[:-1]
    return piece or text[position]


def _read_word(piece: str, is_field: Callable[[str], bool], notes: list[str]) -> Token:
    """Distinguish operators from words, and add notes on words that only look like operators."""
    if piece in _OPERATORS:
        return Token(_OPERATORS[piece])
    if (name := _FIELD.match(piece)) and not piece[name.end() :].startswith(("/", "\\")):
        notes.append(f"{piece}: field {name[1]!r} does not exist; searched as words")
    if piece.endswith(":") and is_field(piece[:-1]):
        notes.append(f"{piece} needs its word right behind it; searched as a word")
    return Token("word", piece)


@dataclass(slots=True)
class _State:
    """The parser's state within a group."""

    field: str  # the field that the next part follows
    after_part: bool = False  # whether a part was read last that must match, which an OR may join to
    joins: bool = False  # whether an OR was read behind it
    excludes: bool = False  # whether a NOT or a minus was read last
    spelled: bool = False  # whether an AND was between two parts

    def operate(self, piece: Token) -> None:
        """Process an operator or a field."""
        if piece.kind == "or":
            self.after_part, self.joins = False, self.after_part
        elif piece.kind == "and":
            self.spelled = self.spelled or self.after_part
            self.after_part = self.joins = False
        elif piece.kind == "not":
            self.excludes = True
        elif piece.kind == "field":
            self.field = piece.text


class _Reader:
    """Parses tokens into groups."""

    def __init__(self, pieces: list[Token], notes: list[str]) -> None:
        self._pieces = iter(pieces)
        self._notes = notes

    def group(self, depth: int = 0, field: str = "") -> Parentheses:
        """Parse up to the closing parenthesis, or to the end."""
        if depth > MAX_PARENTHESES:
            raise UsageError(
                f"more than {MAX_PARENTHESES} parentheses inside one another", "write the query with fewer"
            )
        group, state = Parentheses(), _State(field)
        for piece in self._pieces:
            if piece.kind == "close" and depth:
                break
            if piece.kind == "close":
                self._notes.append(UNPAIRED)
            elif piece.kind in ("open", "phrase", "word"):
                part = self.group(depth + 1, state.field) if piece.kind == "open" else self._term(piece, state.field)
                self._add(group, part, state)
                state = _State(field, after_part=bool(part) and not state.excludes, spelled=state.spelled)
            else:
                state.operate(piece)
        else:
            self._notes += [UNPAIRED] * bool(depth)
        if state.spelled and len(group.all_of) > 1 and any(len(entry) > 1 for entry in group.all_of):
            self._notes.append("OR was applied before AND; parentheses change that")
        return _flat(group)

    def _add(self, group: Parentheses, part: Term | Parentheses | None, state: _State) -> None:
        """Add a part to a group; empty parentheses are ignored."""
        if part is None or (isinstance(part, Parentheses) and not (part.all_of or part.none_of)):
            return
        if state.excludes:
            self._notes += ["OR cannot join excluded words"] * state.joins
            group.none_of.append(part)
        elif state.joins:
            group.all_of[-1].append(part)
        else:
            group.all_of.append([part])

    def _term(self, piece: Token, field: str) -> Term | None:
        """Parse the words of a token, without surrounding punctuation; None if there are no words."""
        if field not in ("", *WORD_FIELDS):
            return Term(piece.text.strip(), field)
        words = piece.text.strip(_EDGES)
        if not any(map(str.isalnum, words)):
            return None
        if piece.kind == "phrase":
            return Term(" ".join(words.split()), field, slop=piece.slop if len(words.split()) > 1 else None)
        prefix = piece.text.rstrip(_EDGES.replace("*", "")).endswith("*")
        if prefix and not all(map(_letter, words)):
            self._notes.append(f"{piece.text}: * is allowed after one word of letters and digits; searched as words")
            prefix = False
        elif _STRANGE.search(piece.text):
            self._notes.append(f"{piece.text}: *, ?, ~ and ^ have no meaning there; searched as words")
        return Term(words, field, prefix)


def _flat(group: Parentheses) -> Parentheses:
    """Replace nested groups that are equivalent to their parts by these parts."""
    flat = Parentheses(none_of=[each for part in group.none_of for each in _alternatives(part) or [part]])
    for entry in group.all_of:
        parts = [each for part in entry for each in _alternatives(part) or [part]]
        if len(parts) == 1 and isinstance(alone := parts[0], Parentheses):
            flat.all_of += alone.all_of
            flat.none_of += alone.none_of
        else:
            flat.all_of.append(parts)
    return flat


def _alternatives(part: Term | Parentheses) -> list[Term | Parentheses]:
    """Return the alternatives of a disjunction; empty for other groups."""
    if isinstance(part, Term):
        return [part]
    return part.all_of[0] if len(part.all_of) == 1 and not part.none_of else []


def _letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")
