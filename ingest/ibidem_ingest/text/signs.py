"""Signs between words that carry meaning, so that `-5,200` and `5,200`, `$5` and `€5`, `C++` and `C#` are told apart.

Each sign has a place, the number of words that begin before it. What only lays a text out is none: bullets, rules of
tables, Markdown, quote marks, hyphens and dashes between words. Looked at are the *shapes* of characters in normal form
(`tokens.normal_form`), one byte each: `a` a letter or mark, `0` a digit, `^` a superscript digit, a blank, a line's
end; `-` a minus, hyphen or short dash; `$` a currency; `%` per cent and its kin; `~` a comparison that is never layout
(≤ ≥ ≠ ≈); `*` a mathematical sign; `.` a decimal or thousands mark; `/` the slash of a fraction; `@` a ballot box or
an emoji; `< > = + # ! ( )` themselves; `_` anything else. A sign is

- a minus before a figure, maybe with a currency or a point between, and not behind a letter, digit or minus; and one
  behind a letter and a digit (`Fe2-`);
- a currency before a figure or behind one, per cent behind one, a blank between or not;
- `~`, `@`; `*` before a figure; `<` and `>` before a figure or between words (a<b, a < b), but no quote mark of a mail
  and no arrow, with the `=` behind; `!=`;
- one or two `+`, or a `#`, behind a word and not before one (`C++`, `GPL-2.0+`);
- a mark or `/` between two digits; a superscript behind a digit (`10²`), as `^`;
- `!` before a word (`!valid`); `(` before a figure with a mark that `)` closes, as in columns of losses.
"""

import re
from typing import Final

CHARACTERS: Final = {
    " ": " \t\xa0",
    "\n": "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029",
    "-": "-\u2010\u2011\u2012\u2013\u2212",
    "%": "%‰‱٪",
    "~": "≤≥≠≈≮≯⩽⩾≦≧",
    "*": "±∓×÷∞√¬",  # noqa: RUF001 - a sign of multiplication
    ".": ".,·'\u2019\u066b\u066c",
    "/": "\u2044",
    "@": "☐☑☒☹☺✅✓✔✗✘❌❎",
    "$": "$¢£¤¥֏؋৲৳฿៛",
    **{each: each for each in "<>=+#!()"},
}
"""The characters of each shape that are no letters, marks or digits; `RANGES` has more, from one up to another."""

RANGES: Final = {
    "$": ((0x20A0, 0x20D0),),
    "@": ((0x1F300, 0x1F3FB), (0x1F400, 0x1F650), (0x1F680, 0x1F700), (0x1F900, 0x1FB00)),
}

SUPERSCRIPT: Final = re.compile("[²³¹⁰⁴-⁹]")
OF_SUPERSCRIPT: Final = ord("^")

_FIGURE = r"=? ?\$?-?\.?[0^]"
_SIGN = re.compile(
    "|".join(
        (
            r"(?<![a0^-])-(?=[$.]?[0^])|(?<=a[0^])-(?=[ .)\n])",
            r"\$(?= ?-?\.?[0^])|(?<=[0^])[$%]|(?<=[0^] )[$%]",
            rf"[~@]|\*(?={_FIGURE})",
            rf"(?<![-=<>])[<>](?={_FIGURE})|(?<=[a0^])[<>](?==?[a0^])|(?<=[a0^] )[<>](?==? [a0^])|(?<=[<>!])=",
            r"(?<=[a0^])\+(?=\+?(?![a0^+]))|(?<=[a0^]\+)\+(?![a0^+])|(?<=[a0^])#(?![a0^])",
            r"(?<=[0^])[./](?=[0^])|(?<=0)\^",
            r"(?<![a0^!<])!(?=a)|!(?==)",
            r"\((?=\$?[0^]{1,9}(?:\.[0^]{1,9}){1,4}%?\))",
        )
    ).encode()
)
_QUOTED = re.compile(rb"^[ >]*>", re.MULTILINE)

# Characters that are the same sign.
_SAME = str.maketrans("\u2010\u2011\u2012\u2013\u2212\u2019\u066b\u066c٪", "-----'.,%")


def find(shapes: bytes) -> list[int]:
    """Return where the signs are among the shapes of a text's characters.

    >>> find(b"- a -0.000 a"), find(b"> 0 a"), find(b"a > 0 a a++")
    ([4, 6], [], [2, 9, 10])
    """
    unquoted = _QUOTED.sub(lambda match: b"_" * len(match[0]), shapes)
    return [match.start() for match in _SIGN.finditer(unquoted)]


def name(characters: str) -> str:
    """Return signs as they are written into a content hash.

    >>> name("\N{MINUS SIGN}5")
    '-^'
    """
    return "".join("^" if each.isdigit() else each for each in characters.translate(_SAME))
