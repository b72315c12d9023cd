"""Draw what each signature keeps of a text: two versions of one notice, signed as ibidem signs them.

    python docs/drawings/draw.py

Every value in the pictures comes out of the signatures' own code; `tests/test_drawings.py` draws them again and fails
when one is out of date.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.signatures import content, feature_set, minhash, text_profile
from ibidem_ingest.signatures.feature_set import candidates
from ibidem_ingest.text.tokens import tokens

HERE = Path(__file__).parent

A = """The shareholders of Calloway Shipping approved the merger with Northern Freight on Tuesday. The merger creates
the largest carrier of grain on the Great Lakes, with 41 vessels and 2,300 employees. Calloway said the vessels would
keep their names and their crews, and that the merger needs the consent of the Maritime Commission."""
# Two versions of an invented notice: one word exchanged, one moved, two dropped or added.
B = """The shareholders of Calloway Shipping approved the merger with Northern Freight on Tuesday. The merger creates
the biggest carrier of grain on the Great Lakes, with 41 vessels and 2,300 employees. Calloway said that the vessels
would keep their names and crews, and that the merger needs the consent of the Maritime Commission in Ottawa."""

WIDTH, LEFT, HIGH, GAP = 760, 90, 26, 6
STYLE = """
text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}
.name{font-family:system-ui,sans-serif;font-weight:600}
rect{fill:#f0f1f3;stroke:#d0d4da}
.same rect{fill:#dcebdd;stroke:#9cc3a0}
.own rect{fill:#f8e3d6;stroke:#e0b294}
@media(prefers-color-scheme:dark){text{fill:#e3e6ea}rect{fill:#2a2e34;stroke:#454b54}
.same rect{fill:#24402a;stroke:#4b7a54}.own rect{fill:#4a3020;stroke:#8a5f42}}
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a picture."""

    text: str
    kind: str = ""  # `same` in both documents, `own` in one alone, or empty

    @property
    def width(self) -> float:
        """Its width in pixels."""
        return 8 * len(self.text) + 14


Line = tuple[str, Sequence[Cell]]


def picture(title: str, lines: Sequence[Line]) -> str:
    """Draw lines of cells, each with a name before it."""
    drawn: list[str] = []
    top = 8.0
    for name, cells in lines:
        drawn.append(f'<text class="name" x="8" y="{top + 18:g}">{escape(name)}</text>')
        x = float(LEFT)
        for cell in cells:
            if x + cell.width > WIDTH and x > LEFT:
                x, top = float(LEFT), top + HIGH + GAP
            drawn.append(draw_cell(cell, x, top))
            x += cell.width + GAP
        top += HIGH + 2 * GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 8} {top:g}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>", *drawn, "</svg>"]) + "\n"


def draw_cell(cell: Cell, x: float, top: float) -> str:
    """Draw a cell at a place."""
    return (
        f'<g class="{cell.kind}"><rect x="{x:g}" y="{top:g}" width="{cell.width:g}" height="{HIGH}" rx="4"/>'
        f'<text x="{x + 7:g}" y="{top + 18:g}">{escape(cell.text)}</text></g>'
    )


def draw_words(name: str, own: Sequence[str], other: Sequence[str]) -> Line:
    """Make a line of one document's pieces, marked by whether the other has them."""
    return name, [Cell(piece, "same" if piece in other else "own") for piece in own]


def slot_by_slot(name: str, own: Sequence[str], other: Sequence[str]) -> Line:
    """Make a line of pieces that are compared with the other's at the same place."""
    return name, [Cell(piece, "same" if piece == its else "own") for piece, its in zip(own, other, strict=True)]


def drawings(table: Table) -> Iterator[tuple[str, str]]:
    """Draw every signature: the name of a picture and the picture."""
    a, b = tokens(A), tokens(B)
    yield "content", picture("Content hash: all words in their order, as one hash", content_lines(a, b))
    yield "fingerprint", picture("idf fingerprint: the six rarest terms and their places", rarest_lines(a, b, table))
    yield "termvector", picture("Feature set: the rarest terms as a set", set_lines(a, b, table))
    yield "minhash", picture("Min-hash: samples of the five-word runs, slot by slot", slot_lines(a, b))
    yield "profile", picture("Text profile: repeated words with coarse counts", profile_lines(a, b))
    yield "uniquewords", picture("Unique words: terms that occur once, in their order", unique_lines(a, b))


def content_lines(a: Sequence[str], b: Sequence[str]) -> list[Line]:
    """Show the hashes of both texts and of one in capital letters."""
    said = [content.sign(each, "") for each in (a, b, tokens(A.upper()))]
    return [
        (name, [Cell(" ".join(words[:5]) + " …"), Cell(f"{value[:20]}…", kind)])
        for name, words, value, kind in zip(
            ("first", "second", "FIRST"), (a, b, tokens(A.upper())), said, ("same", "own", "same"), strict=True
        )
    ]


def rarest_lines(a: Sequence[str], b: Sequence[str], table: Table) -> list[Line]:
    """Show the six rarest terms of both, with the places of their first occurrences, and the hashes."""
    lines: list[Line] = []
    both = [rarest(each, table) for each in (a, b)]
    for name, words, own, other in (("first", a, *both), ("second", b, *both[::-1])):
        lines.append(draw_words(name, own, other))
        lines.append(("", [Cell(f"SHA-1 → {feature_set.fingerprint(candidates(words, table)[0])[:20]}…")]))
    return lines


def rarest(words: Sequence[str], table: Table) -> list[str]:
    """Return the six rarest terms with their offsets."""
    terms = candidates(words, table)[0][: feature_set.FINGERPRINT_TERMS]
    origin = min(each.first for each in terms)
    return [f"{each.term}:{each.first - origin}" for each in terms]


def set_lines(a: Sequence[str], b: Sequence[str], table: Table) -> list[Line]:
    """Show the terms of both that the idf table counts as rare."""
    first, second = ([each.term for each in candidates(words, table)[0]] for words in (a, b))
    return [draw_words("first", first, second), draw_words("second", second, first)]


def slot_lines(a: Sequence[str], b: Sequence[str]) -> list[Line]:
    """Show the first two bands and more of both."""
    x, right = ([f"{slot:04x}" for slot in minhash.stored_slots(minhash.sign(words))[:24]] for words in (a, b))
    return [slot_by_slot("first", x, right), slot_by_slot("second", right, x)]


def profile_lines(a: Sequence[str], b: Sequence[str]) -> list[Line]:
    """Show the words that both repeat, with their counts made coarse."""
    first, second = (repeats(words) for words in (a, b))
    return [draw_words("first", first, second), draw_words("second", second, first)]


def repeats(words: Sequence[str]) -> list[str]:
    """Return words and coarse counts as the profile keeps them: quantum 2 in texts as short as these."""
    counts = Counter(word for word in words if len(word) >= text_profile.MIN_CHARACTERS)
    return [
        f"{word} {count // 2 * 2}" for word, count in sorted(counts.items(), key=lambda c: (-c[1], c[0])) if count > 1
    ]


def unique_lines(a: Sequence[str], b: Sequence[str]) -> list[Line]:
    """Show the terms that occur once in each."""
    first, second = (once(words) for words in (a, b))
    return [draw_words("first", first, second), draw_words("second", second, first)]


def once(words: Sequence[str]) -> list[str]:
    """Return the terms that occur once, in the order of the text."""
    counts = Counter(words)
    return [word for word in words if counts[word] == 1 and len(word) > 2 and word.isalpha()]


def main() -> None:
    """Draw all pictures into this folder."""
    with tempfile.TemporaryDirectory() as folder:
        table = Tables(folder).of("en")
        if table is None:
            raise SystemExit("no English table could be built: install wordfreq")
        for name, drawn in drawings(table):
            (HERE / f"{name}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
