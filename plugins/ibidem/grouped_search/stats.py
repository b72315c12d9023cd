"""Statistics of a response, whose counts add up; and the facets of its window by source, idf table and year.

Grouped search by the plugin inside the cluster: its request, and its account in the layer's format. It takes the place
of the layer where every node has the plugin and it does what is asked. The plugin answers as the layer does
(`tests/plugin` holds it to that), in one request and a fraction of the time.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.grouped_search.response import Group, Json
from ibidem.grouped_search.window import Window
from ibidem_dedupe.overrides import DocumentRef
from ibidem_dedupe.parameters import MAX_WINDOW, PRESETS
from ibidem_dedupe.policy import Policy
from ibidem_dedupe.request import DedupeRequest, asks_for_stored_preset
from ibidem_ingest.dates import iso_day
from ibidem_ingest.signatures.packed import IDF_BYTES, NO_DATE

SHINGLE = 5  # tokens in a shingle: a shorter text is one shingle, and only its equals are near it


def response_stats(  # noqa: PLR0913, PLR0917 - the sources of an account
    window: Window,
    groups: Sequence[Group],
    request: DedupeRequest,
    match_count: int,
    tables: Collection[str] = (),
    deepest: int = MAX_WINDOW,
) -> dict[str, object]:
    """Build the account of a page of groups: counts of its window and its groups."""
    ranked = window.ranked
    leads = int(np.count_nonzero(window.grouping.lead[:ranked] == np.arange(ranked)))
    shown_count = sum(len(group.shown_rows) for group in groups)
    return (
        request_stats(request)
        | count_stats(match_count, ranked, shown_count, leads, len(groups), deepest)
        | {
            "duplicates": ranked - leads,
            "crowded": int(np.count_nonzero(window.grouping.crowded[:ranked])),
            **count_signed(window, tables),
            "found_by_scope": sum(row >= ranked for group in groups for row in group.duplicates),
        }
    )


def request_stats(request: DedupeRequest) -> dict[str, object]:
    """Return the account's part about the request, with all counts zero."""
    return {
        "mode": request.mode,
        "level": request.level,
        "keep": str(request.keep),
        "window": request.window,
        "scope": request.scope,
        "documents": {},
        "groups": {},
        "duplicates": 0,
        "unsigned": 0,
        "crowded": 0,
        "too_short": 0,
        "capped": [],
        "mixed_tables": 0,
        "late": [],
        "cursor": "",
        "took_ms": 0,
    }


def count_stats(  # noqa: PLR0913, PLR0917 - numbers by name in the account
    match_count: int,
    ranked_count: int,
    shown_count: int,
    leads: int,
    groups: int,
    deepest: int = MAX_WINDOW,
) -> dict[str, object]:
    """Return the counts of documents and groups in the account."""
    beyond_count = max(0, match_count - ranked_count)
    return {
        "documents": {
            "matched": ranked_count + beyond_count,
            "in_window": ranked_count,
            "beyond_window": beyond_count,
            "on_page": shown_count,
        },
        "groups": {"in_window": leads, "on_page": groups, "exact": not beyond_count},
        "limited": beyond_count > 0 and ranked_count >= deepest,
    }


def count_signed(window: Window, current: Collection[str]) -> dict[str, object]:
    """Count the read documents without signatures, those of fewer than five tokens, and those of an outdated table."""
    length, idf = window.columns.length[: window.ranked], window.columns.idf[: window.ranked]
    return {
        "unsigned": window.unsigned_count,
        "too_short": int(np.count_nonzero((length > 0) & (length < SHINGLE))),
        "mixed_tables": count_others(Counter(idf[idf != 0].tolist()), current),  # some have no table
    }


def count_others(names: Counter[int], current: Collection[str]) -> int:
    """Count the documents with an outdated table; without current names, the most frequent table is current."""
    if current:
        current_names = {int.from_bytes(bytes.fromhex(name)[:IDF_BYTES], "little") for name in current}
    else:
        current_names = {name for name, _ in names.most_common(1)}
    return sum(count for name, count in names.items() if name not in current_names)


MAX_SOURCES = 12  # sources that are listed


FacetBucket = tuple[DocumentRef, int, int]  # one document, and how many documents and groups have its value in common


@dataclass(frozen=True, slots=True)
class Facets:
    sources: Sequence[FacetBucket] = ()  # the most frequent first
    tables: Sequence[FacetBucket] = ()  # idf tables, each of one language; the most frequent first
    years: Sequence[tuple[int, int, int]] = ()  # year, documents and groups, the latest first


def count_facets(window: Window) -> Facets:
    """Count a window's documents and groups."""
    columns, ranked = window.columns, window.ranked
    days = columns.date_from[:ranked].tolist()
    years = np.array([int(iso_day(day)[:4]) if day != NO_DATE else 0 for day in days], np.int64)
    by_year = count_values(window, years * columns.is_signed[:ranked])
    latest_first = sorted(((int(years[row]), documents, groups) for row, documents, groups in by_year), reverse=True)
    sources = most_frequent(window, columns.source[:ranked].astype(np.int64))
    tables = most_frequent(window, columns.idf[:ranked].view(np.int64))  # a table has one language
    return Facets(sources[:MAX_SOURCES], tables, latest_first)


def most_frequent(window: Window, values: NDArray[np.int64]) -> list[FacetBucket]:
    """Count the documents of each value, the most frequent first; a value is named by one of its documents."""
    counts = sorted(count_values(window, values), key=lambda each: (-each[1], each[0]))
    return [(window.name(row), documents, groups) for row, documents, groups in counts]


def count_values(window: Window, values: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Return for each value that is not 0 a row that has it, and how many documents and groups have it."""
    rows = np.flatnonzero(values)
    _, first, place, documents = np.unique(values[rows], return_index=True, return_inverse=True, return_counts=True)
    pairs = np.unique(np.stack((place, window.grouping.lead[rows])), axis=1)
    groups = np.bincount(pairs[0], minlength=first.size) if pairs.size else np.zeros(first.size, np.int64)
    return list(zip(rows[first].tolist(), documents.tolist(), groups.tolist(), strict=True))


PLUGIN_PARTS = frozenset(("tables", "facets"))  # parts of the plugin's account that the layer's has not


def decides(request: DedupeRequest) -> bool:
    """Return whether the plugin can group this request in a window: it reads no parts, titles, texts or memberships."""
    is_plain = request.passages is None and not request.membership and request.level != "partial"
    is_window = request.by == "window" and request.scope == "window" and request.mode != "off"
    is_known = not asks_for_stored_preset(request) and plugin_policy(request) == request.policy
    return is_plain and is_window and request.keep.by != "current" and is_known


def plugin_policy(request: DedupeRequest) -> Policy:
    """Return the policy that the plugin reads from a request's parameters."""
    base = PRESETS[request.preset].policy if request.preset in PRESETS else Policy()
    similarity = dict(request.figures).get("dedupe_similarity")
    base = base if similarity is None else base.similar(int(similarity))
    return base.at(request.policy.level).within(request.policy.window_days)


def plugin_request(request: DedupeRequest) -> Json:
    parameters: Json = {"dedupe": request.mode, "keep": str(request.keep), "explain": request.explain}
    parameters |= {} if request.max_per_group is None else {"max_per_group": request.max_per_group}
    parameters |= {name.removeprefix("dedupe_"): value for name, value in request.figures}
    if request.takes_all:  # figures that are not named are those of the index
        return parameters | ({"by": "stored"} if request.by == "stored" else {"level": request.level})
    days = request.policy.window_days
    return parameters | {
        "level": request.level,
        "window": request.window,
        "window_days": "none" if days is None else days,
    }


def is_read_as_here(account: Mapping[str, Any], request: DedupeRequest, size: int) -> bool:
    """Return whether the layer would read the same hits; it omits copies if the first step fills no page."""
    documents = account["documents"]
    is_full = account["groups"]["on_page"] == size
    return documents["in_window"] <= request.window and (is_full or not documents["beyond_window"])


def read_facets(account: Mapping[str, Any]) -> Facets:
    """Read the plugin's counts of the window by source, idf table and year."""
    counts = account.get("facets", {"sources": (), "tables": (), "years": ()})

    def to_counts(facets: Sequence[Mapping[str, Any]]) -> list[FacetBucket]:
        return [((each["index"], each["id"]), each["documents"], each["groups"]) for each in facets]

    years = [(each["year"], each["documents"], each["groups"]) for each in counts["years"]]
    return Facets(to_counts(counts["sources"][:MAX_SOURCES]), to_counts(counts["tables"]), years)


def with_current_tables(account: Json, current: Collection[str]) -> Json:
    """Add the number of documents with outdated idf tables to the plugin's account."""
    tables: Mapping[str, int] = account["tables"]
    names = Counter({int.from_bytes(bytes.fromhex(name), "little"): count for name, count in tables.items()})
    facts = {name: value for name, value in account.items() if name not in PLUGIN_PARTS}
    facts |= {"grouper": account.get("grouper", account["by"])}
    return facts | {"mixed_tables": count_others(names, current)}
