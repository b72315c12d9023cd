"""The evidence that put a duplicate at its level, in words that need no knowledge of signatures."""

from collections.abc import Callable, Mapping

from ibidem.pagenumbers import spanned

Why = Mapping[str, object]


def counted(number: object, one: str, many: str = "") -> str:
    """Name a number of things.

    >>> counted(1, "day"), counted(1200, "day"), counted(2, "copy", "copies")
    ('1 day', '1,200 days', '2 copies')
    """
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {many or one + 's'}"


def percent(share: object) -> str:
    """Write a share as a whole percentage.

    >>> percent(0.984)
    '98 %'
    """
    return f"{float(str(share)):.0%}".replace("%", " %")


SIGNATURES: Mapping[str, Callable[[Why], str]] = {
    "content": lambda _: "the same words in the same order",
    "fingerprint": lambda _: "the same six rarest terms at the same places",
    "profile": lambda _: "the same frequent words equally often",
    "minhash": lambda why: f"{why['shared']} of {why['of']} samples of five-word runs equal",
    "termvector": lambda why: f"{why['shared']} of {why['of']} rare terms shared",
    "override": lambda why: f"declared the same by {why.get('author') or 'a reader'}",
    "shingles": lambda why: f"about {percent(why['estimate'])} of the shorter one's five-word runs",
}
"""For each signature what its evidence says."""

LONG = frozenset(("pages", "chunks", "words"))
"""Signatures of long texts: of these the relation says all that matters."""

LONGEST_TITLE = 80
"""Characters of another text's title; those of old books fill a paragraph."""


RELATIONS: Mapping[str, str] = {
    "same_pagination": "the same text on the same pages",
    "different_pagination": "the same text on other pages",
    "overlapping_text": "texts that overlap",
}
"""Relations without a direction."""

DIRECTIONS: Mapping[object, str] = {"part_of": "part of", "contains": "contains"}
"""What a document is to the other."""


def relation(why: Why, other: str, own: str = "") -> str:
    """Say what a long text is to another, and where.

    Args:
        why: The evidence: `relation`, `direction`, `parts` and the ranges `own` and `other`.
        other: The other's title or id; may be empty.
        own: Its own name, where both are told in one sentence.
    """
    name = str(why["relation"])
    direction = DIRECTIONS.get(why.get("direction", name))
    if direction is None:
        places = " with ".join(part for side in ("own", "other") if (part := place(why, side)))
        return f"{RELATIONS[name]}: {places}" if name == "overlapping_text" and places else RELATIONS[name]
    where = place(why, "other" if direction == "part of" else "own")
    if len(other) > LONGEST_TITLE:
        other = f"{other[:LONGEST_TITLE].rsplit(' ', 1)[0]} …"
    if own:
        told = f"{own} {'is ' * (direction == 'part of')}{direction} {other}"
    else:
        told = f"{direction}: {other}" if other else f"{direction} it"
    return f"{told}, {where}" if where else told


def place(why: Why, side: str) -> str:
    """Say where in one of two texts the common part stands; empty when no range is known.

    >>> place({"parts": "pages", "other": {"from": 12, "to": 12, "of": 402}}, "other")
    'page 12 of 402'
    """
    span = why.get(side)
    if not isinstance(span, Mapping):
        return ""
    return f"{spanned(str(why['parts']).removesuffix('s'), span['from'], span['to'])} of {span['of']:,}"


def apart(days: int) -> str:
    """Say how far two dates are from each other.

    >>> apart(0), apart(1)
    ('the same day', '1 day apart')
    """
    return "the same day" if days == 0 else f"{counted(days, 'day')} apart"


def guards(why: Why) -> list[str]:
    """Say what the guard values add, where they say something.

    >>> guards({"days_apart": 3, "length_ratio": 0.81})
    ['3 days apart', 'one 81 % as long as the other']
    """
    said = []
    if isinstance(days := why.get("days_apart"), int):
        said.append(apart(days))
    if isinstance(ratio := why.get("length_ratio"), int | float) and ratio < 0.95:
        said.append(f"one {percent(ratio)} as long as the other")
    if why.get("numbers_agree") is False:
        said.append("other numbers")
    return said


def reason(why: Why, other: str = "", own: str = "") -> str:
    """Say why a document is a duplicate.

    Args:
        why: The evidence as a response carries it: `signature`, its figures, and the guard values.
        other: Title or id of the document that it duplicates; named where one holds the other.
        own: Its own name, where both are told in one sentence.

    >>> reason({"signature": "termvector", "shared": 57, "of": 60, "days_apart": 1, "length_ratio": 0.98})
    '57 of 60 rare terms shared, 1 day apart'
    """
    name = str(why.get("signature", ""))
    strongest = SIGNATURES[name](why) if name in SIGNATURES else name
    if name in LONG:
        return relation(why, other, own)
    told = relation(why, other, own) if "relation" in why else ""
    return ", ".join(part for part in [told, strongest, *guards(why)] if part)
