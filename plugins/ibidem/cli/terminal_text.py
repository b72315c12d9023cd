"""Text of documents for a terminal: control characters removed, on one line, with matches highlighted."""

from collections.abc import Iterable

from rich.text import Text

from ibidem.comparison.word_diff import Piece, shorten
from ibidem_engines.engine import HIGHLIGHT

OPEN, CLOSE = HIGHLIGHT


def sanitize(text: str) -> str:
    r"""Put a text on one line and drop control characters, which could steer a terminal, and the marks.

    >>> sanitize("a\x1b[2Jb\n  c")
    'a[2Jb c'
    """
    return "".join(filter(str.isprintable, " ".join(text.split())))


def highlight(passage: str, *, styled: bool) -> Text:
    """Mark the query's words in a passage: by style where there is one, by asterisks elsewhere.

    Args:
        passage: A snippet or title with `HIGHLIGHT` marks.
        styled: Whether the terminal shows styles.

    >>> highlight("the " + OPEN + "court" + CLOSE + " held", styled=False).plain
    'the *court* held'
    """
    shown = Text()
    head, *rest = " ".join(passage.split()).split(OPEN)
    shown.append(sanitize_part(head))
    for part in rest:
        word, _, after = part.partition(CLOSE)
        shown.append(sanitize(word) if styled else f"*{sanitize(word)}*", "word")
        shown.append(sanitize_part(after))
    return shown


def one_line(line: Text) -> Text:
    """Keep a text on one line; what does not fit is cut with an ellipsis."""
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def sanitize_part(text: str) -> str:
    """Make a part of a line harmless and keep the blanks at its ends."""
    before, after = text[:1].isspace(), text[-1:].isspace()
    inner = sanitize(text)
    return f"{' ' * before}{inner}{' ' * after}" if inner else " " * (before or after)


def format_difference(pieces: Iterable[Piece]) -> Text:
    """Write a difference on one line: `[only in the lead → only in the duplicate]`, common words around it.

    >>> pieces = [Piece("same", ("rose",)), Piece("lead", ("5",)), Piece("duplicate", ("6",)), Piece("gap")]
    >>> format_difference(pieces).plain
    'rose [5 → 6] …'
    """
    line = Text()
    pieces = list(pieces)
    for number, piece in enumerate(pieces):
        after = pieces[number + 1].kind if number + 1 < len(pieces) else ""
        before = pieces[number - 1].kind if number else ""
        replaced = piece.kind == "duplicate" and before == "lead"
        if line and not replaced:
            line.append(" ")
        line.append_text(format_piece(piece, replaced=replaced, goes_on=piece.kind == "lead" and after == "duplicate"))
    return line


def format_piece(piece: Piece, *, replaced: bool, goes_on: bool) -> Text:
    """Write one piece.

    Args:
        piece: What to write.
        replaced: Whether it is in the place of the lead's words just written.
        goes_on: Whether the duplicate's words follow in its place.
    """
    run = sanitize(shorten(piece.words))
    if piece.kind == "lead":
        return Text.assemble("[", (run if goes_on else f"- {run}", "removed"), "" if goes_on else "]")
    if piece.kind == "duplicate":
        return Text.assemble(" → " if replaced else "[", (run if replaced else f"+ {run}", "added"), "]")
    return Text(run or "…")
