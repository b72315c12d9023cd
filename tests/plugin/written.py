"""Golden files out of the Python code, which the plugin's Java tests read too.

They are written by `PYTHONPATH=tests python -m plugin.written`. `values.jsonl` holds packed values, whole and damaged,
with what is read of each. `pages.jsonl` holds windows of such values with pages of groups out of them: each as it was
asked for in `ext.ibidem`, with its `_dedupe` marks and its account.
`verdicts.jsonl` says of damaged and impossible values whether they are read (`verdicts.py`); `evidence.jsonl` gives the
code of each kind of evidence on a pair. `depths.jsonl`, which is not written again, says how deep a ranking is made;
of retrievers and fusions only the plugin makes any.
"""

import random
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from ibidem.grouped_search.pages import PageRequest, grouped_page
from ibidem.grouped_search.response import Json
from ibidem_dedupe.evidence import TABLE
from ibidem_dedupe.overrides import DocumentRef, Override
from ibidem_dedupe.parameters import parse_request
from ibidem_engines.engine import LookupResult, Ranking, SignatureLookup
from ibidem_engines.requests import RequestFlow, run_sync
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.signatures.packed import HEAD, SCHEME, TITLED, Packed, unpack
from plugin.verdicts import verdicts
from support.windows import make_window

FOLDER = Path(__file__).with_name("golden")
ROWS = 40
TITLE_AT = 66
SEEDS = range(6)
NOT_TOLD = ("took_ms", "cursor")  # what differs from one answer to the next

# What each window is asked for.
REQUESTS: Sequence[Mapping[str, object]] = (
    {"dedupe": "indent", "explain": True},
    {"dedupe": "indent", "level": "identical", "explain": True},
    {"dedupe": "collapse", "keep": "earliest"},
    {"dedupe": "collapse", "keep": "latest", "max_per_group": 2},
    {"dedupe": "indent", "keep": "longest", "max_per_group": 0},
    {"dedupe": "indent", "keep": "source:Reuters, AP", "window_days": 42},
    {"dedupe": "indent", "preset": "news", "window_days": "none"},
    {"dedupe": "indent", "preset": "news", "explain": True},
    {"dedupe": "indent", "preset": "law", "explain": True},
    {"dedupe": "indent", "preset": "books", "level": "near"},
    {"dedupe": "indent", "preset": "conrad2003", "explain": True},
    {"dedupe": "collapse", "window": 8},
    {"dedupe": "indent", "similarity": 90, "explain": True},
    {"dedupe": "indent", "similarity": 35, "preset": "news", "explain": True},
    {"dedupe": "indent", "window": 8, "facets": True},
)

MADE_UP = 25  # requests that are made up for each window, beside the ones above

# Values that a made-up request draws from.
CHOICES: Mapping[str, Sequence[object]] = {
    "level": ("identical", "near", "near"),
    "keep": ("rank", "earliest", "latest", "longest", "source:Reuters,AP"),
    "window": (5, 20, 100, 500),
    "similarity": (20, 50, 80, 100),
    "window_days": ("none", 0, 42, 300),
    "max_per_group": (0, 1, 3),
    "preset": ("news", "law", "books", "conrad2003"),
}

PAGES = ((1, ROWS), (1, 4), (2, 4), (3, 3))  # pages and their sizes


@dataclass
class Listed:
    """A `Source` of a window that is known."""

    hits: Sequence[Hit]  # in rank order
    overrides: Sequence[Override] = field(default=())  # manual decisions

    def window(self, depth: int, without: Collection[str] = ()) -> RequestFlow[Ranking]:
        assert not without
        return Ranking(self.hits[:depth], len(self.hits))
        yield

    def find(self, searches: Sequence[SignatureLookup], *, whole_index: bool) -> RequestFlow[list[LookupResult]]:
        assert not searches, whole_index
        return []
        yield

    def long_signatures(self, names: Sequence[DocumentRef]) -> RequestFlow[Mapping[DocumentRef, bytes]]:
        assert not names
        return {}
        yield

    def fetch(
        self, hits: Sequence[Hit], outside: Collection[DocumentRef] = ()
    ) -> RequestFlow[Mapping[DocumentRef, Json]]:
        assert not outside
        # Each seventh document was deleted since the search.
        return {(hit.index, hit.id): {} for hit in hits if int(hit.id) % 7}
        yield


def values() -> list[Json]:
    """Make packed values: of each kind that windows hold, and damaged in every way that reading looks for."""
    packed_values = [hit.packed for seed in SEEDS for hit in window(seed) if hit.packed]
    rng = random.Random(1)  # noqa: S311 - made-up data keeps no secret
    sample = [
        *rng.sample(packed_values, 30),
        *(damaged for value in rng.sample(packed_values, 12) for damaged in spoiled(value, rng)),
    ]
    return [{"bytes": b64encode(value).decode(), "read": fields(unpack(value))} for value in sample]


def window(seed: int) -> list[Hit]:
    """Make a window over two indexes, with titles that count and titles that do not among them."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    return [
        Hit(f"news{at % 2}", hit.id, hit.score, hit.packed and varied(hit.packed, rng))
        for at, hit in enumerate(make_window(seed, ROWS).hits)
    ]


def varied(value: bytes, rng: random.Random) -> bytes:
    """Give one value in three a title, and let half of these count."""
    if value[:1] != bytes((SCHEME,)) or rng.random() < 2 / 3:
        return value
    flags = value[1] | (TITLED if unpack(value) and rng.random() < 1 / 2 else 0)
    return value[:1] + bytes((flags,)) + value[2:TITLE_AT] + rng.choice([b"one.", b"two."]) + value[TITLE_AT + 4 :]


def spoiled(value: bytes, rng: random.Random) -> list[bytes]:
    """Spoil a value: cut off, with another byte somewhere, with a wrong flag, and with an id that is no text."""
    other = bytearray(value)
    head = min(HEAD.size, len(value) - 1)
    other[rng.randrange(head)] ^= 1 << rng.randrange(8)
    counts = bytearray(value)
    counts[head] ^= 1
    name = value[:-1] + b"\xff"
    flags = value[:1] + bytes((value[1] ^ (1 << rng.randrange(8)),)) + value[2:]
    return [value[: rng.randrange(len(value))], bytes(other), bytes(counts), name, flags, b"\x07" + value[1:]]


def fields(packed: Packed | None) -> Json | None:
    if packed is None:
        return None
    return {
        name: value.hex() if isinstance(value := getattr(packed, name), bytes) else value for name in packed.__slots__
    }


def make_options(rng: random.Random) -> Json:
    """Make up how a search is grouped."""
    options: Json = {"dedupe": rng.choice(["indent", "collapse"]), "explain": rng.random() < 0.5}
    names = rng.sample(sorted(CHOICES), rng.choice([0, 1, 2, 3]))
    return options | {name: rng.choice(CHOICES[name]) for name in names}


def pages() -> list[Json]:
    """Make windows, and pages of groups out of them."""
    windows = []
    for seed in SEEDS:
        hits = window(seed)
        words = decisions(hits, random.Random(seed)) if seed % 2 else []  # noqa: S311 - made-up data keeps no secret
        windows.append({
            "hits": [[hit.index, hit.id, hit.packed and b64encode(hit.packed).decode()] for hit in hits],
            "overrides": [word.as_record() for word in words],
            "pages": [
                page(Listed(hits, words), options, *PAGES[(seed + at) % 4])
                for at, options in enumerate([*REQUESTS, *made_up(seed)])
            ],
        })  # fmt: skip
    return windows


def made_up(seed: int) -> list[Json]:
    """Make up the requests of a window."""
    rng = random.Random(seed)  # noqa: S311 - made-up data keeps no secret
    return [make_options(rng) for _ in range(MADE_UP)]


def decisions(hits: Sequence[Hit], rng: random.Random) -> list[Override]:
    """Make manual decisions about pairs, of texts as they are and of others."""
    words = []
    for at in range(24):
        a, b = rng.sample(hits[:20], 2)
        read = unpack(a.packed or b"")
        content = rng.choice(
            ["", "ch2:" + "00" * 16, "ch4:" + "00" * 16, f"ch{read.scheme}:{read.content.hex()}" if read else ""]
        )
        verdict = rng.choice(["not", "same"])
        author, date = rng.choice([("Ada", "2026-01-05"), ("", "2026-01-05"), ("Ada", ""), ("", "")])
        word = Override((a.index, a.id), (b.index, b.id), verdict, author, "", date, content_a=content)
        words.append(word if at % 3 else Override(word.a, word.b, verdict, author, "seen", date))
    return words


def page(source: Listed, options: Mapping[str, object], number: int, size: int) -> Json:
    """Make a page of groups in the form of the plugin's tests."""
    parameters = {
        name if name == "dedupe" else f"dedupe_{name}": value for name, value in options.items() if name != "facets"
    }
    dedupe = parse_request(parameters)
    request = PageRequest(dedupe, (number - 1) * size, size, facets="facets" in options)
    result, _ = run_sync(grouped_page(source, request), lambda _: None)
    return {
        "asked": options,
        "page": number,
        "size": size,
        "hits": [read_hit(hit) for hit in result.hits],
        "account": {name: value for name, value in result.account.items() if name not in NOT_TOLD},
    }


def read_hit(hit: Json) -> Json:
    """Return a hit's place and mark, and those of the duplicates that it carries."""
    inner = hit.get("inner_hits", {}).get("duplicates", {}).get("hits", {}).get("hits")
    entry = {"index": hit["_index"], "id": hit["_id"], "_dedupe": hit["_dedupe"]}
    return entry | ({"duplicates": [read_hit(each) for each in inner]} if inner is not None else {})


def evidence() -> list[Json]:
    """List the kinds of evidence that the plugin decides by, and manual decisions: it compares no texts or parts."""
    kinds = [kind for kind in TABLE.kinds if kind.level is None or (kind.decide and kind.level != "partial")]
    return [{"code": TABLE.code(kind.name), "signature": kind.name} for kind in kinds]


# What makes the objects of each file.
FILES: Mapping[str, Callable[[], list[Json]]] = {
    "values": values,
    "pages": pages,
    "verdicts": verdicts,
    "evidence": evidence,
}


def golden(name: str) -> bytes:
    """Return what a file holds: a JSON object a line."""
    return b"".join(orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in FILES[name]())


if __name__ == "__main__":
    for file in FILES:
        (FOLDER / f"{file}.jsonl").write_bytes(golden(file))
