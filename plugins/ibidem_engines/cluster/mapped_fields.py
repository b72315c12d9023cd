"""Whether an index has the fields that words are looked for in, and which of its own they may be."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ibidem_engines.cluster.client import ClusterClient
from ibidem_engines.cluster.requests import ApiRequest, answer_to, in_path
from ibidem_engines.engine import HealthIssue
from ibidem_engines.fields import OURS, Fields

PASSED_OVER = (403, 404)
SHOWN = 8
"""Fields of an index that are named."""

ANALYSED = ("text", "match_only_text", "annotated_text", "search_as_you_type")
"""Types of fields whose words are found."""

LIKELY: Mapping[str, Sequence[str]] = {
    "title": ("title", "headline", "heading", "subject", "name", "caption", "label"),
    "text": ("text", "body", "content", "fulltext", "article", "message", "description", "abstract", "summary", "raw"),
}
"""What others call a title and a text, the likeliest first."""


def field_issue(cluster: ClusterClient, index: str, fields: Fields) -> HealthIssue | None:
    """Name the fields of titles and texts that an index lacks; None where it has both, or no field at all.

    Args:
        cluster: The cluster.
        index: The index or alias.
        fields: What a document's fields are said to be called.
    """
    request = ApiRequest("GET", f"/{in_path(index)}/_mapping", passed_over=PASSED_OVER)
    there: dict[str, str] = {}
    for each in cluster.hold(answer_to(request)).values():
        there |= dict(_flat(each.get("mappings", {})))
    missing = [name for name in LIKELY if getattr(fields, name) not in there]
    if not missing or not there:
        return None
    named = " and ".join(repr(getattr(fields, name)) for name in missing)
    what = f"index {index!r} has no {'field' if len(missing) == 1 else 'fields'} {named}, so nothing is found there"
    return HealthIssue("fields", what, f"say what it calls them, such as IBIDEM_FIELDS={_proposal(fields, there)}")


def _flat(mapping: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield each field by its path, with its type; what ibidem itself adds is left out."""
    for name, each in mapping.get("runtime", {}).items():
        yield name, str(each.get("type", ""))
    for name, each in mapping.get("properties", {}).items():
        path = f"{above}{name}"
        if path == OURS:
            continue
        if "properties" in each:
            yield from _flat(each, f"{path}.")
        else:
            yield path, str(each.get("type", ""))


def _proposal(fields: Fields, there: Mapping[str, str]) -> str:
    """Write names that may be right, and behind them the fields among which the right ones are."""
    analysed = [path for path, kind in there.items() if kind in ANALYSED]
    likely = {name: _likely(words, analysed if name == "text" else list(there)) for name, words in LIKELY.items()}
    right = {name: path if (path := getattr(fields, name)) in there else likely[name] or "FIELD" for name in LIKELY}
    pairs = ",".join(f"{name}={path}" for name, path in right.items())
    if not analysed:
        return f"{pairs}; none of its fields is of type text"
    more = f" and {len(analysed) - SHOWN} more" if len(analysed) > SHOWN else ""
    return f"{pairs} (of type text are {', '.join(analysed[:SHOWN])}{more})"


def _likely(words: Sequence[str], paths: Sequence[str]) -> str:
    """Return the path whose last part is the likeliest name; empty for none."""
    ends = {path: path.rpartition(".")[2].lower().replace("_", "") for path in paths}
    for word in words:
        for test in (str.__eq__, str.startswith, str.endswith):
            if likely := [path for path, end in ends.items() if test(end, word)]:
                return min(likely, key=len)
    return paths[0] if len(paths) == 1 else ""
