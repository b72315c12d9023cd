"""Explanations: the evidence for a duplicate in plain words, and the relation and page range of long texts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any
from unicodedata import normalize

from ibidem_dedupe import evidence
from ibidem_dedupe.pair_evidence import Evidence
from ibidem_dedupe.policy import Level
from ibidem_dedupe.reasons import BESIDE_WORDS, Why, percent
from ibidem_ingest.text.tokens import tokens_and_signs

# Relations of two documents, by signatures of whole documents.
RELATION_OF_LEVEL: Mapping[Level, str] = {"identical": "same_text", "near": "similar_text"}


def relation_name(evidence: Evidence) -> str:
    """Return the relation of a pair by its evidence: the relation of its pages, if there is one."""
    return str(evidence.why.get("relation") or RELATION_OF_LEVEL.get(evidence.level, "overlapping_text"))


def page_range(name: str, first: int, last: int) -> str:
    """Return the range of pages, in words.

    >>> page_range("page", 12, 31).partition("pages ")[2].split("\N{EN DASH}"), page_range("part", 2, 2)
    (['12', '31'], 'part 2')
    """
    return f"{name} {first:,}" if first == last else f"{name}s {first:,}\N{EN DASH}{last:,}"


def format_count(number: object, singular: str, plural: str = "") -> str:
    """Format a number with its noun in singular or plural.

    >>> format_count(1, "day"), format_count(1200, "day"), format_count(2, "copy", "copies")
    ('1 day', '1,200 days', '2 copies')
    """
    if number == 1:
        return f"1 {singular}"
    return f"{number:,} {plural or singular + 's'}"


MAX_TITLE = 80  # characters of another text's title; those of old books fill a paragraph


# The two texts, and the signal that tells which share of one is in the other.
SIDES: Mapping[str, str] = {"own": "covered_a", "other": "covered_b"}

# Relations without a direction: of texts with pages, and of others.
RELATIONS: Mapping[str, tuple[str, str]] = {
    "same_pagination": ("the same text on the same pages", "the same text"),
    "different_pagination": ("the same text on other pages", "the same text, longer or shorter in places"),
}

SHARE_BELOW = 0.75  # share of a span from which it is not mentioned: a span that is common almost whole says it already

MIN_COVERAGE = 0.5  # share of both texts below which it is mentioned also for texts that are called the same

# Relations of a document to the other.
DIRECTIONS: Mapping[object, str] = {"part_of": "part of", "contains": "contains"}


def relation(why: Why, other: str, own_name: str = "") -> str:
    """Describe the relation of a long text to another, with positions."""
    name = str(why["relation"])
    direction = DIRECTIONS.get(why.get("direction", name))
    if direction is None:
        if name == "overlapping_text":
            places = " with ".join(part for side in SIDES if (part := place(why, side)))
            return f"texts that overlap: {places}" if places else "texts that overlap"
        words = RELATIONS[name][why.get("parts") == "chunks"]
        smallest = min((shared for side in SIDES if (shared := common_share(why, side)) is not None), default=1.0)
        return words + (f" (about {percent(smallest)} of the text shared)" if smallest < MIN_COVERAGE else "")
    location = place(why, "other" if direction == "part of" else "own")
    if len(other) > MAX_TITLE:
        other = f"{other[:MAX_TITLE].rsplit(' ', 1)[0]} …"
    if own_name:
        phrase = f"{own_name} {'is ' * (direction == 'part of')}{direction} {other}"
    else:
        phrase = f"{direction}: {other}" if other else f"{direction} it"
    return f"{phrase}, {location}" if location else phrase


def common_share(why: Why, side: str) -> float | None:
    """Return the share of a text's five-word runs that the other text has, if known."""
    signals = why.get("signals")
    share = signals.get(SIDES[side]) if isinstance(signals, Mapping) else None
    return float(share) if isinstance(share, int | float) else None


def place(why: Why, side: str) -> str:
    """Return the position of the common part in one of two texts; empty if no range is known.

    Where much less than that is common, the share is mentioned too: pages 20 to 265 may hold a few lines each.

    >>> place({"parts": "pages", "other": {"from": 12, "to": 12, "of": 402}}, "other")
    'page 12 of 402'
    """
    span = why.get(side)
    if not isinstance(span, Mapping):
        return ""
    phrase = f"{page_range(str(why['parts']).removesuffix('s'), span['from'], span['to'])} of {span['of']:,}"
    shared, share = common_share(why, side), (span["to"] - span["from"] + 1) / max(1, span["of"])
    if shared is None or shared >= SHARE_BELOW * share:
        return phrase
    return f"{phrase} (about {percent(shared)} of its text)"


def guards(why: Why) -> list[str]:
    """Describe the guard values, if they matter.

    >>> guards({"days_apart": 3, "length_ratio": 0.81})
    ['3 days apart', 'one is 19 % shorter']
    """
    phrases = []
    if isinstance(days := why.get("days_apart"), int):
        phrases.append("the same day" if days == 0 else f"{format_count(days, 'day')} apart")
    if isinstance(ratio := why.get("length_ratio"), int | float) and ratio < 0.95:
        phrases.append(f"one is {percent(1 - ratio)} shorter")
    if why.get("numbers_agree") is False:
        phrases.append("other numbers")
    return phrases


def reason(why: Why, other: str = "", own_name: str = "") -> str:
    """Return the reason why a document is a duplicate.

    >>> reason({"signature": "termvector", "shared": 57, "of": 60, "days_apart": 1, "length_ratio": 0.98})
    '57 of 60 rare terms shared, 1 day apart'
    """
    name = str(why.get("signature", ""))
    if "phrase" in why:  # of a side package
        return str(why["phrase"])
    kind = evidence.TABLE.by_name.get(name)
    if kind is not None and kind.reason is None:  # for long texts, the relation is sufficient
        return relation(why, other, own_name)
    if "differs" in why:
        sign = why.get("sign")
        signs = f" ({' → '.join(map(str, sign))})" if isinstance(sign, list) else ""
        strongest = f"{BESIDE_WORDS[why['differs']]}{signs}"
    else:
        strongest = kind.reason(why) if kind is not None and kind.reason else name
    phrase = relation(why, other, own_name) if "relation" in why else ""
    return ", ".join(part for part in [phrase, strongest, *guards(why)] if part)


def differing_sign(a: str, b: str) -> list[str]:
    """Return the first place where two texts with the same words differ in a sign, in both; empty if there is none.

    >>> differing_sign("a gain of 5,200", "a gain of -5,200"), differing_sign("5 % more", "5 ‰ more")
    (['gain of 5200', 'gain of - 5200'], ['5 % more', '5 ‰ more'])
    """
    words, signs = tokens_and_signs(a)
    sides = signs.split(), tokens_and_signs(b)[1].split()
    at = next((at for at, (one, other) in enumerate(zip_longest(*sides)) if one != other), None)
    if at is None:
        return []
    place = min(int("".join(filter(str.isdigit, side[at]))) for side in sides if at < len(side))
    beside: list[str] = []
    for side in sides:
        sign = "".join(each.lstrip("0123456789") for each in side if re.fullmatch(rf"{place}\D+", each))
        shown = " ".join(filter(None, (*words[max(0, place - 2) : place], sign, *words[place : place + 1])))
        beside.append(normalize("NFKC", shown))  # thousands marks are wide
    return beside


def with_differing_sign(why: Why, a: str, b: str) -> Why:
    """Add to the evidence of two texts that differ in signs alone the first of these."""
    sign = differing_sign(a, b) if why.get("differs") == "signs" else []
    return {**why, "sign": sign} if sign else why


ResponseHit = Mapping[str, Any]
Response = Mapping[str, Any]


def groups(hits: Sequence[ResponseHit]) -> list[tuple[ResponseHit, list[ResponseHit]]]:
    """Return each lead with its duplicates; those of a collapsed lead are not listed."""
    found: list[tuple[ResponseHit, list[ResponseHit]]] = []
    for hit in hits:
        if is_duplicate(hit):
            found[-1][1].append(hit)
        else:
            found.append((hit, []))
    return found


def is_duplicate(hit: ResponseHit) -> bool:
    return bool(hit.get("_dedupe", {}).get("indent", 0))


def duplicate_reason(mark: Mapping[str, Any], lead: str = "") -> str:
    phrases = [f": {reason(mark['why'], lead)}"] if mark.get("why") else []
    phrases += [f"; {note}" for note in mark.get("notes", ())]
    if mark.get("outside"):
        phrases.append("; it does not match the query")
    return "".join(phrases)


def account_line(response: Response, first: int) -> str:
    """Describe the account of a page in one line; its first group is the `first` of all.

    >>> documents, groups = {"matched": 12009, "in_window": 500}, {"in_window": 27}
    >>> account_line({"hits": {"hits": []}, "dedupe": {"documents": documents, "groups": groups, "mode": "indent"}}, 1)
    'the first 500 of 12,009 documents in 27 groups; none on this page'
    """
    account = response["dedupe"]
    documents, groups = account["documents"], account["groups"]
    match_count, read_count = documents["matched"], documents["in_window"]
    counted = format_count(match_count, "document")
    if not match_count:
        parts = ["no results"]
    elif account["mode"] == "off":
        parts = [counted]
    elif groups.get("matching") is not None:
        prefix = "" if groups["exact"] else "about "
        parts = [f"{counted} in {prefix}{format_count(groups['matching'], 'group')}"]
    else:
        prefix = f"the first {read_count:,} of " if read_count < match_count else ""
        parts = [f"{prefix}{counted} in {format_count(groups['in_window'], 'group')}"]
    parts += remarks(account)
    if account.get("capped"):
        parts.append(f"look-up limited for {format_count(len(account['capped']), 'lead')}")
    if account.get("limited"):
        parts.append("the rest is beyond the largest window")
    if lead_count := sum(not is_duplicate(hit) for hit in response["hits"]["hits"]):
        parts.append(f"showing {first}–{first + lead_count - 1}")  # noqa: RUF001 - a range
    elif match_count:
        parts.append("none on this page")
    return "; ".join(parts)


def advice(response: Response) -> list[str]:
    """List the notes on a query, and a better spelling."""
    account = response["dedupe"]
    better = account.get("did_you_mean")
    return [*note_lines(account), *([f"did you mean: {better}"] if better else [])]


def note_lines(account: Mapping[str, Any]) -> list[str]:
    """Return a line for each note on a query: ignored parts, and excluded documents.

    >>> note_lines({"without_language": 1, "undated": 2})
    ['1 more result has no language, so a condition on it leaves it out', '2 results have no known date and come last']
    """
    lines = list(account.get("not_understood", ()))
    if count := account.get("without_language"):
        has, it = ("has", "it") if count == 1 else ("have", "them")
        lines.append(f"{format_count(count, 'more result')} {has} no language, so a condition on it leaves {it} out")
    if count := account.get("undated"):
        has, comes = ("has", "comes") if count == 1 else ("have", "come")
        lines.append(f"{format_count(count, 'result')} {has} no known date and {comes} last")
    if remedy := account.get("remedy"):
        what = "stored groups do not cover all" if "index" in account else f"no result has a stored {account['level']}"
        lines.append(f"{what}: {remedy}")
    return lines


# Counts of the account that are named when they are not zero.
REMARKS = {
    "unsigned": "without signatures",
    "crowded": "not compared with all leads that share a value with them",
    "mixed_tables": "signed with another idf table",
    "without_document": "without a document or a text",
}


def remarks(account: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counts of an account that are only shown if they are not zero.

    >>> list(remarks({"unsigned": 1, "families": 1, "documents": {"in_window": 2}}))
    ['1 without signatures', '1 family of mails and attachments']
    """
    for name, words in REMARKS.items():
        if count := account.get(name):
            is_all = name == "unsigned" and count == account["documents"]["in_window"]
            yield f"{count:,} {'not signed yet; run ibidem backfill' if is_all else words}"
    if families := account.get("families"):
        yield f"{format_count(families, 'family', 'families')} of mails and attachments"
