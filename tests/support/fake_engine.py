"""A list of hits behind the engine protocol, for tests of the layer: no search, no storage, every request counted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ibidem_engines.engine import Engine, EngineSearch, LookupResult, Ranking, SignatureLookup, StoredDocument, T
from ibidem_engines.query import NOW, Query, ReadView
from ibidem_engines.requests import RequestFlow, answered, refuse, run_sync
from ibidem_engines.stored_groups import Hit
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.lookup_keys import lookup_keys
from support.windows import SampleWindow

PAGE = Query("all")


@dataclass(frozen=True)
class FakeSearch(EngineSearch):
    """One query to an engine that answers at once."""

    engine: Engine
    query: Query | None

    def window(self, size: int, view: ReadView = NOW) -> RequestFlow[Ranking]:
        return answered(self.engine.search(self.query or PAGE, size, view))

    def grouped(self, options: Mapping[str, object], start: int, size: int, view: ReadView = NOW) -> RequestFlow[None]:
        return answered(None)

    def fetch(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[list[StoredDocument]]:
        return answered(self.engine.fetch(ids, self.query))

    def find(self, searches: Sequence[SignatureLookup]) -> RequestFlow[list[LookupResult]]:
        return answered(self.engine.find(searches, self.query))

    def long_signatures(self, ids: Sequence[tuple[str, str]]) -> RequestFlow[dict[tuple[str, str], bytes]]:
        return answered(self.engine.long_signatures(ids))


class FakeEngine(Engine):
    """An engine whose ranking is given; `beyond` are documents that do not match."""

    index = "news"

    def __init__(self, window: SampleWindow, beyond: SampleWindow | None = None) -> None:
        self.hits = window.hits
        self.others = [Hit("news", f"other-{hit.id}", 0.0, hit.packed) for hit in (beyond or SampleWindow([])).hits]
        self.words: dict[str, dict[str, object]] = {}
        self.asked: Counter[str] = Counter()

    def searching(self, query: Query | None = None) -> FakeSearch:
        return FakeSearch(self, query)

    def run(self, flow: RequestFlow[T]) -> T:
        return run_sync(flow, refuse)

    def search(self, query: Query, size: int, view: ReadView = NOW) -> Ranking:
        self.asked["window"] += 1
        return Ranking(self.hits[:size], len(self.hits), ReadView(17) if view == NOW else view)

    def fetch(self, ids: Sequence[tuple[str, str]], query: Query | None = None) -> list[StoredDocument]:
        self.asked["fetch"] += 1
        return [StoredDocument(index, Document(name, f"text of {name}"), 1, ("text",)) for index, name in ids]

    def find(self, searches: Sequence[SignatureLookup], query: Query | None = None) -> list[LookupResult]:
        self.asked["find"] += 1
        return [self.look_up_one(search, matching=query is PAGE) for search in searches]

    def look_up_one(self, search: SignatureLookup, *, matching: bool) -> LookupResult:
        hits, asked = [], self.hits if matching else [*self.hits, *self.others]
        for hit, keys in zip(asked, lookup_keys([hit.packed for hit in asked]), strict=True):
            common = {field: len(set(values) & set(keys.get(field, []))) for field, values in search.values.items()}
            is_found = any(count >= search.min_shared.get(field, 1) for field, count in common.items())
            hits += [hit] * (is_found and hit.id != search.own_id)
        return LookupResult(hits, copies=len(hits))

    def scan(self, size: int = 1_000) -> Iterator[list[Hit]]:
        hits = [*self.hits, *self.others]
        yield from (hits[at : at + 7] for at in range(0, len(hits), 7))

    def group_set(self, *, use_cache: bool = False, takes_over: bool = False) -> "FakeEngine":
        return self

    def get_records(self, ledger: str, prefix: str = "") -> Iterator[tuple[str, dict[str, object]]]:
        yield from self.words.items()

    def get_record(self, ledger: str, key: str) -> dict[str, object] | None:
        return self.words.get(key)

    def put_records(self, ledger: str, entries: Mapping[str, Mapping[str, object]]) -> None:
        self.words |= {key: dict(entry) for key, entry in entries.items()}
