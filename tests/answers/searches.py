"""Searches whose answers are kept: every mix of parameters, drawn by a seed, over one made-up collection."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from ibidem.grouped_search.api import search_index
from ibidem_dedupe.parameters import PRESETS, parse_request
from ibidem_engines.engine import Engine
from ibidem_engines.query import parse_query
from ibidem_ingest.errors import UsageError
from support.windows import words

COUNT = 2_000
SEED = 1987

# Values that a parameter is drawn from; None leaves it out.
CHOICES: Mapping[str, tuple[str | None, ...]] = {
    "dedupe": ("indent", "indent", "collapse"),
    "dedupe_level": (None, "identical", "near", "near", "partial"),
    "dedupe_preset": (None, None, *PRESETS),
    "dedupe_similarity": (None, None, None, "30", "80"),
    "dedupe_keep": (None, None, "earliest", "latest", "longest", "source:Reuters,AP"),
    "dedupe_window": (None, "20", "60"),
    "dedupe_window_days": (None, None, None, "30", "none"),
    "dedupe_max_per_group": (None, None, "0", "2"),
    "dedupe_explain": ("true", "false"),
}

QUERIES = (
    "said",
    "said OR Story",
    '"Story 7"',
    "title:Story",
    "said -Story",
    "{a} OR {b}",
    "{a} OR {b} OR said",
    "{a}",
)
FILTERS = ((), (), (), ("source=AP",), ("date=1987-03..1987-11",))


@dataclass(frozen=True)
class Search:
    text: str  # what is searched for
    filters: tuple[str, ...]
    parameters: Mapping[str, str]  # how its answer is grouped
    page: int  # the number of the page
    size: int  # groups on a page

    def answer(self, engine: Engine) -> object:
        """Ask an engine; what it refuses is an answer, too."""
        request = parse_request(self.parameters)
        try:
            return search_index(engine, parse_query(self.text, self.filters), request, page=self.page, size=self.size)
        except UsageError as error:
            return str(error)


def searches() -> Iterator[Search]:
    """Draw the searches; the same in every run."""
    rng = random.Random(SEED)  # noqa: S311 - made-up data keeps no secret
    vocabulary = words(random.Random(7), 3_000)  # noqa: S311 - those of the stories
    for _ in range(COUNT):
        drawn = {name: rng.choice(values) for name, values in CHOICES.items()}
        by = rng.choice(("window", "window", "stored"))
        scope = rng.choice(("window", "window", "matches", "index")) if by == "window" else "window"
        if by == "stored":
            stored = ("dedupe", "dedupe_keep", "dedupe_max_per_group", "dedupe_explain")
            drawn = {name: value for name, value in drawn.items() if name in stored}
        parameters = {name: value for name, value in drawn.items() if value is not None}
        parameters |= {"dedupe_by": by} | ({"dedupe_scope": scope} if scope != "window" else {})
        a, b = rng.sample(vocabulary, 2)
        text = rng.choice(QUERIES).format(a=a, b=b)
        yield Search(text, rng.choice(FILTERS), parameters, rng.choice((1, 1, 2, 3)), rng.choice((3, 10, 25)))


# Members of an answer that another machine, or another day, gives otherwise, or that say by which way it was found.
LEFT_OUT = frozenset(("_score", "max_score", "took", "cursor", "took_ms", "grouper", "rule"))


def digest(answer: Any, index: str) -> str:
    names: dict[str, str] = {}

    def plain(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            if "grouper" in value:  # the account of a window, as it was when the answers were written down
                value |= {"by": value["grouper"], "only_counted": []}
            return {name: plain(each, name) for name, each in sorted(value.items()) if name not in LEFT_OUT}
        if isinstance(value, list):
            return [plain(each, key) for each in value]
        if key in {"group", "group_id"} and isinstance(value, str):
            return names.setdefault(value, f"group {len(names)}")
        if isinstance(value, float):
            return round(value, 3)
        return "index" if value == index else value

    return blake2b(orjson.dumps(plain(answer)), digest_size=6).hexdigest()


GOLDEN = Path(__file__).parent / "golden"


class Answers:
    writing = False
