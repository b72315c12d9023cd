"""Dedupe request: the options for grouping, parsed and checked before anything is opened."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

import xxhash

from ibidem_dedupe.parameters import (
    MAX_WINDOW,
    MEMBERSHIPS,
    PARAMETERS,
    PRESETS,
    SHOWN_IN_COLLAPSE,
    SHOWN_TO_PEOPLE,
    WINDOW,
    By,
    InvalidValue,
    Keep,
    ListLevel,
    Membership,
    Mode,
    PassageFields,
    Preset,
    Scope,
)
from ibidem_dedupe.policy import LEVELS, Level, Policy
from ibidem_ingest.errors import UsageError

DEDUPE = "dedupe"

# Parameters that say when two documents are duplicates, and which are compared.
FIGURES = ("dedupe_level", "dedupe_similarity", "dedupe_preset", "dedupe_window_days", "dedupe_window")


@dataclass(frozen=True, slots=True)
class DedupeRequest:
    """The options for grouping and showing a result list (how-it-works.md, "Request").

    Args:
        mode: `off`, `collapse` or `indent`.
        policy: The figures of the decision, the level and the date window among them.
        keep: Which member of a group is shown as its lead.
        window: Number of hits to group together.
        scope: Where duplicates of the page's leads are looked for.
        max_per_group: The most duplicates shown of a group, without the lead; None: all.
        preset: The name of the set of figures, or an empty string.
        cursor: `dedupe.cursor` of an earlier answer, or an empty string.
        explain: Whether each duplicate says why it is one.
        by: Whether a window is grouped, or all matches by the groups that are stored or by equal texts; `auto`: not
            chosen yet.
        passages: Fields of passages, of which those that overlap in their document are grouped; None: no passages.
        membership: What groups the documents that have it, the others being grouped by the policy: `thread` or
            `version`; an empty string: the policy groups all.
        figures: The named ones of `FIGURES`, with their values.
    """

    mode: Mode = "off"
    policy: Policy = field(default_factory=Policy)
    keep: Keep = field(default_factory=Keep)
    window: int = WINDOW
    scope: Scope = "window"
    max_per_group: int | None = None
    preset: str = ""
    cursor: str = ""
    explain: bool = False
    by: By = "auto"
    passages: PassageFields | None = None
    membership: Membership | Literal[""] = ""
    figures: tuple[tuple[str, str], ...] = field(default=(), compare=False)

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
        return request_digest(self.mode == "off", self.policy, self.window, tuple(filter(None, further)))


@lru_cache(maxsize=256)
def request_digest(
    is_off: bool,  # noqa: FBT001 - as a request has it
    policy: Policy,
    window: int,
    further: tuple[str | PassageFields, ...],
) -> str:
    """Hash the parameters that determine groups and order; cached, since every page needs the hash."""
    matters = repr((is_off, policy, window, *further))
    return xxhash.xxh3_64_hexdigest(matters.encode())


def parse_request(
    given: Mapping[str, object],
    *,
    mode: Mode = "off",
    presets: Mapping[str, Preset] | None = None,
    later: bool = False,
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
    window = values.get("dedupe_window", WINDOW)
    preset = values.get("dedupe_preset", "")
    bound = window if values.get("dedupe_by") == "window" or "dedupe_window" in values else MAX_WINDOW
    check_combinations(values)
    return DedupeRequest(
        mode=mode,
        policy=policy(values, known_presets),
        keep=values.get("dedupe_keep", Keep()),
        window=window,
        scope=values.get("dedupe_scope", "window"),
        max_per_group=max_duplicates(values, mode, bound),
        preset=preset,
        cursor=values.get("dedupe_cursor", ""),
        explain=values.get("dedupe_explain", False),
        by=values.get("dedupe_by", "auto"),
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


def max_duplicates(values: Mapping[str, Any], mode: Mode, window: int) -> int | None:
    """Return the maximum number of shown duplicates of a group; None shows all of them."""
    if "dedupe_max_per_group" not in values:
        return min(SHOWN_IN_COLLAPSE, window) if mode == "collapse" else None
    maximum: int = values["dedupe_max_per_group"]
    if maximum > window:
        raise UsageError(
            f"dedupe_max_per_group={maximum} is more than the window of {window}",
            f"allowed: 0 to {window}; a window holds up to {MAX_WINDOW:,}",
        )
    return maximum
