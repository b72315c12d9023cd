"""Table of the request parameters and presets; validation, help and `docs/parameters.md` come from it."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ibidem_dedupe.policy import LEVELS, Characters, Level, Policy, Slots, Terms


@dataclass(frozen=True, slots=True)
class Preset:
    """A policy with a name."""

    policy: Policy  # its figures; the level asked for is set on them
    about: str  # purpose, in one line of the help


# Every preset that is built in; others may be stored with an index.
PRESETS: Mapping[str, Preset] = {
    "news": Preset(
        Policy(window_days=42),
        "the default figures, and dates at most six weeks apart: later repetitions are other events",
    ),
    "law": Preset(
        Policy(slots=Slots(25), terms=Terms(lengths=0.5)),
        "no date window, and a quarter of the five-word runs suffices: versions of a contract are years apart",
    ),
    "books": Preset(
        Policy(
            slots=Slots(20),
            terms=Terms(lengths=0.8),
            characters=Characters(share=0.4, unknown=0.08, numbers=0.2, lift=0.6, few=True, distant=0.4),
        ),
        "no date window, and a fifth of the five-word runs suffices, or four tenths of the characters' runs with fewer "
        "misread words: scanned books have a misread word every few words",
    ),
    "scans": Preset(
        Policy(
            characters=Characters(share=0.2, unknown=0.05, numbers=0.1, lift=1.3, few=True, pairs=2),
            terms=Terms(lengths=0.8, numbers=False),
        ),
        "for collections that are scanned throughout: fewer shared characters and misread words suffice",
    ),
    "conrad2003": Preset(
        Policy(
            window_days=42,
            slots=None,
            terms=Terms(share=0.8, full=False, smallest=20, lengths=0.8, numbers=False),
            fingerprint=None,
            profile=None,
            characters=None,
        ),
        "the rule of Conrad, Guo and Schriber: 48 of 60 terms, padded sets too, lengths within 20 %, six weeks",
    ),
}


Mode = Literal["off", "collapse", "indent"]
Scope = Literal["window", "matches", "index"]
By = Literal["auto", "window", "stored", "content"]
Membership = Literal["thread", "version"]
ListLevel = Level | Membership
KeepBy = Literal["rank", "earliest", "latest", "longest", "current", "source"]

MODES: tuple[Mode, ...] = get_args(Mode)
SCOPES: tuple[Scope, ...] = get_args(Scope)
WAYS: tuple[By, ...] = get_args(By)[:3]  # `content` is what `auto` may become
# Levels of a list whose groups are stored with the documents: mails of one thread, versions of one work.
MEMBERSHIPS: tuple[Membership, ...] = get_args(Membership)

LIST_LEVELS: tuple[ListLevel, ...] = (*LEVELS, *MEMBERSHIPS)
MAX_WINDOW = 10_000
WINDOW = 500
SHOWN_IN_COLLAPSE = 10
SHOWN_TO_PEOPLE = 3  # duplicates of a group that the page and the terminal show in `indent` before more are asked for

MIN_SIMILARITY = 20  # percent: with less in common, pairs by rare terms could not be looked for by three of these

NO_DAYS = "none"
_WHOLE = re.compile(r"\d{1,20}", re.ASCII)
_FIELD = re.compile(r"[^\s,:*]{1,500}")


@dataclass(frozen=True, slots=True)
class Keep:
    """The rule that chooses the shown lead of a group."""

    # The first in rank, the earliest, latest or longest, the current version, or the first of the listed sources.
    by: KeepBy = "rank"
    sources: tuple[str, ...] = ()  # names of sources in the order wished, for `source`

    def __str__(self) -> str:
        """Format the value as in a request.

        >>> str(Keep("source", ("Reuters", "AP")))
        'source:Reuters,AP'
        """
        return f"source:{','.join(self.sources)}" if self.by == "source" else self.by


@dataclass(frozen=True, slots=True)
class PassageFields:
    """The fields of a passage that identify overlapping passages; dots lead into objects."""

    document: str  # names the document from which a passage was cut
    text: str = "text"

    def __str__(self) -> str:
        """Format the fields as in a request.

        >>> str(PassageFields("meta.document", "body")), str(PassageFields("meta.document"))
        ('meta.document:body', 'meta.document')
        """
        return self.document if self.text == "text" else f"{self.document}:{self.text}"


class InvalidValue(ValueError):
    """An invalid parameter value, with a message that lists the valid ones."""


def parse_choice(*choices: str) -> Callable[[str], str]:
    """Return a parser that accepts one of some words."""

    def read(value: str) -> str:
        """Parse one of the words, ignoring case."""
        if value.lower() not in choices:
            raise InvalidValue(", ".join(choices))
        return value.lower()

    return read


def keep(value: str) -> Keep:
    """Parse the rule that chooses the lead.

    >>> keep("source:AP, Reuters")
    Keep(by='source', sources=('AP', 'Reuters'))
    """
    rule, _, names = value.partition(":")
    sources = tuple(name.strip() for name in names.split(",") if name.strip())
    if rule == "source" and sources:
        return Keep("source", sources)
    for word in ("rank", "earliest", "latest", "longest", "current"):
        if value.lower() == word:
            return Keep(word)
    raise InvalidValue("rank, earliest, latest, longest, current, source:NAME,NAME,…")


def passage_fields(value: str) -> PassageFields | None:
    """Parse the fields of passages; without them, passages are grouped like any other text.

    >>> passage_fields("meta.document"), passage_fields("file:body")
    (PassageFields(document='meta.document', text='text'), PassageFields(document='file', text='body'))
    """
    names = value.split(":")
    if value and not (len(names) <= 2 and all(_FIELD.fullmatch(name) for name in names)):
        raise InvalidValue("FIELD, or FIELD:TEXT_FIELD, with dots and without wildcards, such as meta.document")
    return PassageFields(*names) if value else None


def parse_integer(minimum: int, maximum: int, unit: str) -> Callable[[str], int]:
    """Return a parser of integers within bounds."""

    def read(value: str) -> int:
        """Parse an integer within the bounds."""
        if not _WHOLE.fullmatch(value) or not minimum <= int(value) <= maximum:
            raise InvalidValue(f"an integer from {minimum:,} to {maximum:,} ({unit})")
        return int(value)

    return read


def days(value: str) -> int | None:
    """Parse a date window; `none` disables it."""
    if value.lower() == NO_DAYS:
        return None
    try:
        return parse_integer(0, 1_000_000, "days")(value)
    except InvalidValue as error:
        raise InvalidValue(f"none, or {error}") from error


@dataclass(frozen=True, slots=True)
class Parameter:
    values: str  # what it takes, as the help writes it
    default: str  # what it is when not given, as the help writes it
    about: str  # effect, in one line
    read: Callable[[str], object]  # parses its value, or raises `InvalidValue`


# Every parameter by its name, in the order of the documentation.
PARAMETERS: Mapping[str, Parameter] = {
    "dedupe": Parameter(
        ", ".join(MODES),
        "off; indent on the page and the command line",
        "off: the engine's own list; collapse: leads only; indent: duplicates follow their lead",
        parse_choice(*MODES),
    ),
    "dedupe_level": Parameter(
        ", ".join(LIST_LEVELS),
        "near",
        "the weakest level that joins two documents; thread, version: mails of one thread, versions of one work",
        parse_choice(*LIST_LEVELS),
    ),
    "dedupe_keep": Parameter(
        "rank, earliest, latest, longest, current, source:NAME,…",
        "rank",
        "which member of a group is shown as its lead; never moves the group",
        keep,
    ),
    "dedupe_by": Parameter(
        ", ".join(WAYS),
        "auto",
        "stored: all matches, by the groups stored with them; window: the best hits are grouped as they are found; "
        "auto: stored if these groups are settled by the rule of the request, else window",
        parse_choice(*WAYS),
    ),
    "dedupe_window": Parameter(
        f"1 … {MAX_WINDOW}",
        str(WINDOW),
        "number of hits that are grouped at once",
        parse_integer(1, MAX_WINDOW, "hits"),
    ),
    "dedupe_scope": Parameter(
        ", ".join(SCOPES),
        "window",
        "where to search for duplicates of the page's leads: the window, all matches, or the whole index",
        parse_choice(*SCOPES),
    ),
    "dedupe_similarity": Parameter(
        f"{MIN_SIMILARITY} … 100",
        "the preset's figures; 66 without one",
        "percent: the minimum share of common text for a pair at level near",
        parse_integer(MIN_SIMILARITY, 100, "percent"),
    ),
    "dedupe_window_days": Parameter(
        "days or none",
        "none (42 for news)",
        "documents whose dates are farther apart can only be identical, not near",
        days,
    ),
    "dedupe_max_per_group": Parameter(
        "0 … window",
        f"{SHOWN_IN_COLLAPSE} in collapse; all in indent, {SHOWN_TO_PEOPLE} on the page and the terminal",
        "maximum number of shown duplicates per group, without the lead",
        parse_integer(0, MAX_WINDOW, "duplicates"),
    ),
    "dedupe_preset": Parameter(
        f"{', '.join(PRESETS)}, or one stored with the index",
        "none",
        "a named set of figures",
        lambda value: "" if value.lower() == "none" else value,
    ),
    "dedupe_document": Parameter(
        "FIELD, or FIELD:TEXT_FIELD",
        "none; TEXT_FIELD is text",
        "a field that names the document of a passage: passages of one document that overlap are parts of one text",
        passage_fields,
    ),
    "dedupe_cursor": Parameter(
        "`dedupe.cursor`", "none", "continue the ranking of an earlier answer (its `dedupe.cursor`)", str
    ),
    "dedupe_explain": Parameter(
        "true, false", "false", "explain each duplicate", lambda value: parse_choice("true", "false")(value) == "true"
    ),
}

# The level where pairs are decided, and no list is grouped.
PAIR_LEVEL = Parameter(", ".join(LEVELS), "near", "the weakest level that joins two documents", parse_choice(*LEVELS))


_HEAD = """# Parameters of a search

How duplicates are grouped and shown. On the command line `dedupe` is `--dedupe`, and the others lose their `dedupe_`:
`--level`, `--keep`, `--window-days`. An unknown name or value is an error that lists the valid ones. This page
is written by `python -m ibidem_dedupe.parameters`.

| parameter | takes | default | does |
|---|---|---|---|
"""

_PRESETS = """
## Presets

| preset | figures |
|---|---|
"""


def page() -> str:
    """Return the page in Markdown."""
    rows = (
        f"| `{name}` | {parameter.values} | {parameter.default} | {parameter.about} |\n"
        for name, parameter in PARAMETERS.items()
    )
    presets = (f"| `{name}` | {preset.about} |\n" for name, preset in PRESETS.items())
    return "".join((_HEAD, *rows, _PRESETS, *presets))


if __name__ == "__main__":
    sys.stdout.write(page())
