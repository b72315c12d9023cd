"""Reasons: the text shown for each kind of evidence."""

from collections.abc import Callable, Mapping

# The evidence as a response carries it: `signature`, its figures, and the values of the guards.
Why = Mapping[str, object]

Reason = Callable[[Why], str]  # says in words why a pair is one of duplicates


# What is said of two texts with the same words, by what differs.
BESIDE_WORDS: Mapping[object, str] = {
    "signs": "the same words with other signs",
    "title": "the same words under another title",
    "sender": "the same words from another sender",
    "mail": "the same words in another mail",
}


def percent(share: object) -> str:
    """Format a share as a whole percentage.

    >>> percent(0.984)
    '98 %'
    """
    return f"{float(str(share)):.0%}".replace("%", " %")


def shared_text(why: Why) -> str:
    """Return how much text is shared, estimated from equal samples, as the highest `--similarity` that takes it.

    Of two texts that share c of their runs, c / (2 - c) of all runs are equal (signatures.md, "Similarity").

    >>> shared_text({"shared": 50, "of": 100})
    'about 66 % of the text shared'
    """
    equal, samples = int(str(why["shared"])), int(str(why["of"]))
    return f"about {200 * equal // (samples + equal)} % of the text shared"


def shared_terms(why: Why) -> str:
    return f"{why['shared']} of {why['of']} rare terms shared"


def shared_characters(why: Why) -> str:
    """Return the number of shared characters, and the misread words if the texts were compared.

    >>> shared_characters({"estimate": 0.9, "misread": [["tbe", "the"], ["conrt", "court"]]})
    'about 90 % of the characters shared; the differences look misread (tbe → the, conrt → court)'
    """
    pairs = why.get("misread")
    words = ", ".join(" → ".join(each) for each in pairs) if isinstance(pairs, list) else ""
    said = f"about {percent(why['estimate'])} of the characters shared; the differences look misread"
    return f"{said} ({words})" if words else said


def contained_text(why: Why) -> str:
    """Return how much of the shorter text is shared."""
    return f"about {percent(why['estimate'])} of the shorter text shared"


def learned_sum(why: Why) -> str:
    """Return the figures that weigh most for and against a pair by a learned rule.

    >>> learned_sum({"parts": {"five-word runs": 3.1, "title": 1.2, "dates": 0.01, "numbers": -0.8}})
    'alike: five-word runs +3.1, title +1.2; against: numbers -0.8'
    """
    parts = why.get("parts")
    said = {part: round(share, 1) for part, share in parts.items()} if isinstance(parts, Mapping) else {}
    alike = sorted((-share, part) for part, share in said.items() if share > 0)
    against = sorted((share, part) for part, share in said.items() if share < 0)
    sides = {
        "alike": ", ".join(f"{part} +{-share:.1f}" for share, part in alike),
        "against": ", ".join(f"{part} -{-share:.1f}" for share, part in against),
    }
    return "; ".join(f"{side}: {words}" for side, words in sides.items() if words)


def declared(why: Why) -> str:
    """Return who marked two documents as the same."""
    return f"declared the same by {why.get('author') or 'a reader'}"


# What is said of a passage, by the side of the other on which it stands.
OVERLAPS: Mapping[str, str] = {
    "before": "precedes it in the same document, {} words overlap",
    "after": "follows it in the same document, {} words overlap",
    "within": "part of it in the same document, {} words",
}


def overlap(why: Why) -> str:
    """Return the position of a passage relative to another of its document.

    >>> overlap({"side": "after", "words": 7})
    'follows it in the same document, 7 words overlap'
    """
    return OVERLAPS[str(why["side"])].format(why["words"])
