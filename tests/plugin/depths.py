"""Made-up rankings by neighbours and retrievers with what the layer makes of them, for the plugin's Java tests."""

import random
from collections.abc import Callable, Iterator

from ibidem.grouped_search.dsl.depth import HOLDERS, NESTED, Depth, ranked_hits
from ibidem.grouped_search.response import Json
from ibidem_ingest.errors import UsageError

SEED = 32
TREES = 60
QUERIES = 30
KNN: Json = {"field": "place", "query_vector": [1.0, 0.5]}
MATCH: Json = {"match": {"text": "said"}}
FUSED = ("rrf", "linear")
DEEP = 12


def depths() -> list[Json]:
    """Return each ranking with its deeper one and what was raised, or with the error."""
    rng = random.Random(SEED)  # noqa: S311 - made-up data keeps no secret
    parts = [
        *({"retriever": fused(rng, 3)} for _ in range(TREES)),
        *({"query": query(rng, 3)} for _ in range(QUERIES)),
        *({"query": hold(kind, {"knn": KNN | {"k": 1}})} for kind in HOLDERS),
        *({"retriever": each} for each in refused()),
    ]
    return [answer(each, rng.choice([5, 40, 300])) for each in parts]


def answer(part: Json, window: int) -> Json:
    """Deepen one ranking."""
    depth = Depth(window)
    line: Json = {"window": window, "part": part}
    try:
        if "query" in part:
            return line | {"deep": depth.query(part["query"]), "raised": depth.raised}
        deep = depth.retriever(part["retriever"], "retriever")
    except UsageError as error:
        return line | {"error": str(error)}
    return line | {"deep": deep, "raised": depth.raised, "ranked": ranked_hits(deep)}


def knn(rng: random.Random) -> Json:
    """A search for neighbours, perhaps with a number of candidates."""
    k = rng.choice([1, 10, 50, 400])
    return KNN | {"k": k} | ({"num_candidates": k + rng.choice([0, 20, 300])} if rng.random() < 0.5 else {})


def leaf(rng: random.Random) -> Json:
    """A retriever that ranks by itself."""
    if rng.random() < 0.5:
        return {"knn": knn(rng)}
    return {"standard": {"query": query(rng, 1), "filter": [MATCH]}}


def fused(rng: random.Random, levels: int) -> Json:
    """A retriever that ranks what others find."""
    kind = rng.choice([*NESTED])
    inner = [fused(rng, levels - 1) if levels > 1 and rng.random() < 0.4 else leaf(rng) for _ in range(3)]
    size = {"rank_window_size": rng.choice([1, 10, 100, 400])} if rng.random() < 0.7 else {}
    if kind in FUSED:
        weighted = [{"retriever": each, "weight": 2} if rng.random() < 0.5 else each for each in inner]
        return {kind: {"retrievers": weighted, "filter": [MATCH]} | size}
    if kind == "rescorer":
        return {kind: {"retriever": inner[0], "rescore": rescore(rng)}}
    return {kind: {"retriever": inner[0]} | size}


def rescore(rng: random.Random) -> list[Json]:
    """One or two rankings of the best hits again."""
    again: Json = {"query": {"rescore_query": MATCH}}
    sizes = rng.choice([[None], [7], [300], [7, 400], [400, None]])
    return [again | ({} if size is None else {"window_size": size}) for size in sizes]


def query(rng: random.Random, levels: int) -> Json:
    """A query that may hold queries for neighbours, also as conditions."""
    makers: list[Callable[[], Json]] = [lambda: MATCH, lambda: {"knn": knn(rng)}, lambda: {"knn": {"place": knn(rng)}}]
    makers += [lambda: {"knn": {"place": {"vector": [1.0], "min_score": 0.5}}}, lambda: {"neural": {"place": {"k": 7}}}]
    if levels:
        inner = query(rng, levels - 1)
        makers += [
            lambda: {"bool": {"must": [inner, MATCH], "filter": [inner], "must_not": inner}},
            lambda: {"bool": {"should": inner, "boost": 2}},
            lambda: {"constant_score": {"filter": inner}},
            lambda: {"hybrid": {"queries": [MATCH, inner]}},
        ]
    return rng.choice(makers)()


def hold(kind: str, inner: Json) -> Json:
    """A query that holds another in each of its members."""
    return {kind: dict.fromkeys(HOLDERS[kind], inner) | {"boost": 2}}


def refused() -> Iterator[Json]:
    """Retrievers that cannot be grouped."""
    yield {"diversify": {"retriever": {"standard": {}}}}
    yield {"knn": KNN | {"k": 1_000_000}}
    yield {"rrf": {"retrievers": [], "rank_window_size": 0}}
    yield {"rrf": {"retrievers": [{"standard": {"collapse": {"field": "isbn"}}}]}}
    yield {"linear": {"retrievers": [{"retriever": {"standard": {"terminate_after": 5}}, "weight": 1}]}}
    deep: Json = {"standard": {"query": MATCH}}
    for _ in range(DEEP):
        deep = {"rescorer": {"retriever": deep, "rescore": [{"query": {}}]}}
    yield deep
