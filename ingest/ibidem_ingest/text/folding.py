"""Folding of letters that differ only in diacritics, as the analyzers of search engines fold them.

The one text is written with its accents, its points or its vowel signs, the other without, or with fewer: polytonic and
plain Greek, vocalised Arabic and what newspapers print, French in capitals. So after NFKC, lower case and NFKC

- marks of Latin, Greek, Cyrillic and Hebrew letters go: all that the canonical decomposition parts from them, but not
  the breve of Cyrillic short i and u nor the dots of Ukrainian yi, which are other letters;
- the final form of the Greek sigma becomes the common one;
- of Arabic go the vowel signs, the signs of the Quran and the tatweel; alef with hamza, madda or wasla becomes alef,
  alef maksura and Persian ye become ye, teh marbuta becomes heh, Persian kaf becomes kaf (as Lucene's
  `ArabicNormalizer` and `PersianNormalizer` have them).

- letters of Latin that are no letter with a mark become those that Lucene's `ASCIIFoldingFilter` writes (`LATIN`);
- decimal digits of all scripts become those of ASCII.

Marks of other scripts are letters, or make other ones (the vowel signs of India, the voiced marks of Japan): they stay.
"""

import re
import unicodedata
from functools import cache

# Characters that go; U+0640 is the tatweel.
MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1ace\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]"
)

# Letters that are written as another.
FORMS = dict(
    zip(
        "\u03c2\u0622\u0623\u0625\u0629\u0649\u0671\u06a9\u06cc",
        "\u03c3\u0627\u0627\u0627\u0647\u064a\u0627\u0643\u064a",
        strict=True,
    )
)

LATIN = {
    "ß": "ss",
    "æ": "ae",
    "ð": "d",
    "ø": "o",
    "þ": "th",
    "đ": "d",
    "ħ": "h",
    "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    "ĸ": "q",
    "ł": "l",
    "ŋ": "n",
    "œ": "oe",
    "ŧ": "t",
}
DIGITS = range(0x0660, 0x1FC00)  # where decimal digits beyond ASCII are

EXCEPTIONS = frozenset("йўї")
# Where the letters are whose marks go: Latin, Greek and Cyrillic; from one up to another.
DECOMPOSITION_RANGES = ((0x00C0, 0x0590), (0x1E00, 0x2000))


@cache
def folds() -> dict[int, str]:
    """Return the replacement of each code point that changes, for `str.translate`."""
    marks = {point: "" for point in range(0x0300, 0xFE30) if MARKS.match(chr(point))}
    letters = {
        point: folded
        for first, end in DECOMPOSITION_RANGES
        for point in range(first, end)
        if chr(point) not in EXCEPTIONS and (folded := _without_marks(chr(point), marks)) != chr(point)
    }
    digits = {
        point: str(unicodedata.decimal(chr(point))) for point in DIGITS if unicodedata.category(chr(point)) == "Nd"
    }
    return letters | marks | {ord(letter): plain for letter, plain in (FORMS | LATIN).items()} | digits


def _without_marks(letter: str, marks: dict[int, str]) -> str:
    bare = unicodedata.normalize("NFC", unicodedata.normalize("NFD", letter).translate(marks))
    return LATIN.get(bare, bare)


def fold(text: str) -> str:
    """Fold a text in NFKC and lower case."""
    return unicodedata.normalize("NFKC", text.translate(folds()))
