"""Table of the request parameters and presets; validation, help and `docs/parameters.md` come from it."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, get_args

import xxhash

from ibidem_dedupe.policy import LEVELS, Characters, Level, Policy, Slots, Terms
from ibidem_ingest.errors import UsageError


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


def parse_choice(choices: Sequence[str], value: str) -> str:
    """Parse one of some words, ignoring case."""
    if value.lower() not in choices:
        raise InvalidValue(", ".join(choices))
    return value.lower()


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


def parse_integer(minimum: int, maximum: int, unit: str, value: str) -> int:
    """Parse an integer within bounds."""
    if not _WHOLE.fullmatch(value) or not minimum <= int(value) <= maximum:
        raise InvalidValue(f"an integer from {minimum:,} to {maximum:,} ({unit})")
    return int(value)


def days(value: str) -> int | None:
    """Parse a date window; `none` disables it."""
    if value.lower() == NO_DAYS:
        return None
    try:
        return parse_integer(0, 1_000_000, "days", value)
    except InvalidValue as error:
        raise InvalidValue(f"none, or {error}") from error


@dataclass(frozen=True, slots=True)
class Parameter:
    values: str  # what it takes, as the help writes it
    default: str  # what it is when not given, as the help writes it
    about: str  # effect, in one line
    read: Callable[[str], object]  # parses its value, or raises `InvalidValue`

    @classmethod
    def choose(cls, choices: Sequence[str], default: str, about: str) -> "Parameter":
        """Return a parameter that takes one of some words."""
        return cls(", ".join(choices), default, about, partial(parse_choice, choices))


# Every parameter by its name, in the order of the documentation.
PARAMETERS: Mapping[str, Parameter] = {
    "dedupe": Parameter.choose(
        MODES,
        "off; indent on the page and the command line",
        "off: the engine's own list; collapse: leads only; indent: duplicates follow their lead",
    ),
    "dedupe_level": Parameter.choose(
        LIST_LEVELS,
        "near",
        "the weakest level that joins two documents; thread, version: mails of one thread, versions of one work",
    ),
    "dedupe_keep": Parameter(
        "rank, earliest, latest, longest, current, source:NAME,…",
        "rank",
        "which member of a group is shown as its lead; never moves the group",
        keep,
    ),
    "dedupe_by": Parameter.choose(
        WAYS,
        "auto",
        "stored: all matches, by the groups stored with them; window: the best hits are grouped as they are found; "
        "auto: stored if these groups are settled by the rule of the request, else window",
    ),
    "dedupe_window": Parameter(
        f"1 … {MAX_WINDOW}",
        str(WINDOW),
        "number of hits that are grouped at once",
        partial(parse_integer, 1, MAX_WINDOW, "hits"),
    ),
    "dedupe_scope": Parameter.choose(
        SCOPES,
        "window",
        "where to search for duplicates of the page's leads: the window, all matches, or the whole index",
    ),
    "dedupe_similarity": Parameter(
        f"{MIN_SIMILARITY} … 100",
        "the preset's figures; 66 without one",
        "percent: the minimum share of common text for a pair at level near",
        partial(parse_integer, MIN_SIMILARITY, 100, "percent"),
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
        partial(parse_integer, 0, MAX_WINDOW, "duplicates"),
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
        "true, false", "false", "explain each duplicate", lambda value: parse_choice(("true", "false"), value) == "true"
    ),
}

# The level where pairs are decided, and no list is grouped.
PAIR_LEVEL = Parameter.choose(LEVELS, "near", "the weakest level that joins two documents")


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


DEDUPE = "dedupe"

# Parameters that say when two documents are duplicates, and which are compared.
FIGURES = ("dedupe_level", "dedupe_similarity", "dedupe_preset", "dedupe_window_days", "dedupe_window")

# Fields of a request that hold the value of their parameter.
AS_READ = ("keep", "window", "scope", "preset", "cursor", "explain", "by")


@dataclass(frozen=True, slots=True)
class DedupeRequest:
    """The options for grouping and showing a result list (how-it-works.md, "Request")."""

    mode: Mode = "off"
    policy: Policy = field(default_factory=Policy)  # the figures of the decision, the level and date window among them
    keep: Keep = field(default_factory=Keep)  # which member of a group is shown as its lead
    window: int = WINDOW  # number of hits to group together
    scope: Scope = "window"  # where duplicates of the page's leads are looked for
    max_per_group: int | None = None  # the most duplicates shown of a group, without the lead; None: all
    preset: str = ""  # the name of the set of figures
    cursor: str = ""  # `dedupe.cursor` of an earlier answer
    explain: bool = False  # whether each duplicate says why it is one
    by: By = "auto"  # whether a window is grouped, or all matches; `auto`: not chosen yet
    # Fields of passages, of which those that overlap in their document are grouped; None: no passages.
    passages: PassageFields | None = None
    # What groups the documents that have it, the others being grouped by the policy; empty: the policy groups all.
    membership: Membership | Literal[""] = ""
    figures: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # those named of `FIGURES`, as text

    @property
    def level(self) -> ListLevel:
        """The weakest level that joins two documents."""
        return self.membership or self.policy.level

    @property
    def takes_all(self) -> bool:
        """Whether all matches are grouped, and no window."""
        return self.by in ("stored", "content")

    def for_people(self) -> "DedupeRequest":
        """Return the request with a small number of duplicates per group, unless it sets this number."""
        if self.mode != "indent" or self.max_per_group is not None:
            return self
        return replace(self, max_per_group=min(SHOWN_TO_PEOPLE, self.window))

    def digest(self) -> str:
        """Return a hash of the parameters that determine groups and order; a cursor is valid only for the same hash."""
        further = (self.by if self.by != "window" else "", self.passages, self.membership)
        matters = repr((self.mode == "off", self.policy, self.window, *filter(None, further)))
        return xxhash.xxh3_64_hexdigest(matters.encode())


def parse_request(
    given: Mapping[str, object], *, mode: Mode = "off", presets: Mapping[str, Preset] | None = None, later: bool = False
) -> DedupeRequest:
    """Parse a request from named values of a query string, a body or a command line.

    Args:
        given: Values by the names of `PARAMETERS`; None counts as missing.
        mode: What `dedupe` is when not given: `off` for the raw API, `indent` on the page and the command line.
        presets: Presets by name, those stored with the index among them; the built-in ones when None.
        later: Whether a preset that is not known may be one of the index, which `with_presets` puts in.

    Raises:
        UsageError: An unknown name or value; the message lists the valid ones.

    >>> parse_request({"dedupe": "collapse", "dedupe_keep": "earliest"}).keep
    Keep(by='earliest', sources=())
    """
    values = {name: read(name, value) for name, value in given.items() if value is not None}
    known_presets = PRESETS if presets is None else presets
    if later and (name := values.get("dedupe_preset", "")) not in known_presets:
        known_presets = {**known_presets, name: Preset(Policy(), "")}
    mode = values.get("dedupe", mode)
    check_combinations(values)
    return DedupeRequest(
        **{name: values[f"dedupe_{name}"] for name in AS_READ if f"dedupe_{name}" in values},
        mode=mode,
        policy=policy(values, known_presets),
        max_per_group=max_duplicates(values, mode),
        passages=values.get("dedupe_document"),
        membership=next((each for each in MEMBERSHIPS if values.get("dedupe_level") == each), ""),
        figures=tuple((name, as_text(given[name])) for name in FIGURES if name in values),
    )


def is_dedupe_name(name: str) -> bool:
    """Return whether a parameter of a search is the dedupe layer's."""
    return name == DEDUPE or name.startswith(f"{DEDUPE}_")


def dedupe_request(
    parameters: Mapping[str, object], body: Mapping[str, Any], default: Mapping[str, object] = MappingProxyType({})
) -> DedupeRequest | None:
    """Return the dedupe request of a search in the query DSL; None if it has none.

    >>> dedupe_request({"dedupe": "collapse"}, {"dedupe_window": 100}).window
    100
    """
    named = {name: each for name, each in parameters.items() if is_dedupe_name(name) and each is not None}
    in_body = {name: each for name, each in body.items() if is_dedupe_name(name)}
    for name in named.keys() & in_body.keys():
        if as_text(named[name]) != as_text(in_body[name]):
            raise UsageError(
                f"{name} is {as_text(named[name])!r} as a parameter and {as_text(in_body[name])!r} in the body",
                "give it once",
            )
    for name, value in in_body.items():
        if not isinstance(value, str | int | bool):
            raise UsageError(
                f"{name} in the body must be a string, a number or a boolean", "write it as in the query string"
            )
    options = {name: value for name, value in {**default, **named, **in_body}.items() if value is not None}
    request = parse_request(options, later=True)
    if options and DEDUPE not in options:
        raise UsageError(f"{', '.join(options)} is given without dedupe", "add dedupe=indent or dedupe=collapse")
    return request if options else None


def asks_for_stored_preset(request: DedupeRequest) -> bool:
    """Return whether a request names a preset that is not built in."""
    return request.preset not in ("", *PRESETS)


def check_combinations(values: Mapping[str, Any]) -> None:
    """Refuse parameters that are not supported with stored groups, or when threads or works are grouped."""
    level = values.get("dedupe_level")
    others = {name for name, value in values.items() if value not in ("window", None)}
    for name in ("dedupe_window", "dedupe_scope", "dedupe_document"):
        if name in others and values.get("dedupe_by") == "stored":
            raise UsageError(
                f"{name} cannot be combined with dedupe_by=stored, which groups all matches", "leave one of them out"
            )
    for name in ("dedupe_by", "dedupe_scope", "dedupe_document"):
        if name in others and level in MEMBERSHIPS:
            raise UsageError(
                f"{name}={as_text(values[name])} cannot be combined with dedupe_level={level}, which groups the window",
                f"leave {name} out",
            )


def pair_policy(
    parameters: Mapping[str, object], level: Level = "near", presets: Mapping[str, Preset] | None = None
) -> Policy:
    """Return the policy for the decision on a single pair."""
    named = as_text(parameters.get("dedupe_level") or level).lower()
    if named not in LEVELS:
        why = "only groups the list of a search; it cannot decide on a pair" if named in MEMBERSHIPS else "is not valid"
        raise UsageError(f"dedupe_level={named} {why}", f"allowed here: {', '.join(LEVELS)}")
    given = {name: value for name, value in parameters.items() if value} | {"dedupe_level": named}
    return parse_request(given, presets=presets).policy


def read(name: str, value: object) -> Any:
    """Parse one value; an error lists the valid names and values."""
    if name not in PARAMETERS:
        matches = get_close_matches(name, PARAMETERS, 1)
        raise UsageError(
            f"unknown parameter {name!r}{f' (did you mean {matches[0]}?)' if matches else ''}",
            f"the parameters are {', '.join(PARAMETERS)}",
        )
    try:
        return PARAMETERS[name].read(as_text(value))
    except InvalidValue as error:
        raise UsageError(f"{name}={as_text(value)!r} is not valid", f"allowed: {error}") from error


def as_text(value: object) -> str:
    """Format a value as in a query string.

    >>> as_text(True), as_text(500)
    ('true', '500')
    """
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def policy(values: Mapping[str, Any], presets: Mapping[str, Preset]) -> Policy:
    """Return the policy: the preset's or default figures, with the requested level, similarity and date window."""
    name = values.get("dedupe_preset", "")
    if name and name not in presets:
        raise UsageError(f"dedupe_preset={name!r} is not known", f"allowed: {', '.join(presets)}")
    base = presets[name].policy if name else Policy()
    if "dedupe_similarity" in values and base.learned is not None:
        raise UsageError(
            f"dedupe_similarity cannot be combined with dedupe_preset={name}, which was learned from labels",
            "leave one of them out",
        )
    if "dedupe_similarity" in values:
        base = base.similar(values["dedupe_similarity"])
    named = values.get("dedupe_level")
    level = base.level if named is None or named in MEMBERSHIPS else named
    return base.at(level).within(values.get("dedupe_window_days", base.window_days))


def max_duplicates(values: Mapping[str, Any], mode: Mode) -> int | None:
    """Return the maximum number of shown duplicates of a group; None shows all of them."""
    is_window = values.get("dedupe_by") == "window" or "dedupe_window" in values
    window = values.get("dedupe_window", WINDOW) if is_window else MAX_WINDOW
    if "dedupe_max_per_group" not in values:
        return min(SHOWN_IN_COLLAPSE, window) if mode == "collapse" else None
    maximum: int = values["dedupe_max_per_group"]
    if maximum > window:
        raise UsageError(
            f"dedupe_max_per_group={maximum} is more than the window of {window}",
            f"allowed: 0 to {window}; a window holds up to {MAX_WINDOW:,}",
        )
    return maximum
