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

import unicodedata
from functools import cache

# Code points that go, from one up to another; U+0640 is the tatweel.
MARKS = (
    (0x0300, 0x0370),
    (0x0483, 0x0488),
    (0x0591, 0x05BE),
    (0x05BF, 0x05C0),
    (0x05C1, 0x05C3),
    (0x05C4, 0x05C6),
    (0x05C7, 0x05C8),
    (0x0610, 0x061B),
    (0x0640, 0x0641),
    (0x064B, 0x0660),
    (0x0670, 0x0671),
    (0x06D6, 0x06DD),
    (0x06DF, 0x06E5),
    (0x06E7, 0x06E9),
    (0x06EA, 0x06EE),
    (0x1AB0, 0x1ACF),
    (0x1DC0, 0x1E00),
    (0x20D0, 0x20F1),
    (0xFE20, 0xFE30),
)

# Letters that are written as another.
FORMS = {
    0x03C2: 0x03C3,
    0x0622: 0x0627,
    0x0623: 0x0627,
    0x0625: 0x0627,
    0x0629: 0x0647,
    0x0649: 0x064A,
    0x0671: 0x0627,
    0x06A9: 0x0643,
    0x06CC: 0x064A,
}

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
    marks = {point: "" for first, end in MARKS for point in range(first, end)}
    letters = {
        point: folded
        for first, end in DECOMPOSITION_RANGES
        for point in range(first, end)
        if chr(point) not in EXCEPTIONS and (folded := _without_marks(chr(point), marks)) != chr(point)
    }
    digits = {
        point: str(unicodedata.decimal(chr(point))) for point in DIGITS if unicodedata.category(chr(point)) == "Nd"
    }
    latin = {ord(letter): plain for letter, plain in LATIN.items()}
    return letters | marks | {point: chr(form) for point, form in FORMS.items()} | latin | digits


def _without_marks(letter: str, marks: dict[int, str]) -> str:
    bare = unicodedata.normalize("NFC", unicodedata.normalize("NFD", letter).translate(marks))
    return LATIN.get(bare, bare)


def fold(text: str) -> str:
    """Fold a text in NFKC and lower case."""
    return unicodedata.normalize("NFKC", text.translate(folds()))
