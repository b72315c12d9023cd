"""Fields that answers leave out of `_source` stay: embeddings are searched after a backfill, or a strip, as before."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem_core.errors import Permanent
from ibidem_core.settings import Settings
from ibidem_engines.cluster import source as sources
from ibidem_workers.backfill import run
from ibidem_workers.backfill.replace import replace_index
from ibidem_workers.backfill.run import backfill_in_place
from ibidem_workers.backfill.strip import strip
from servers.indices import ask
from servers.kinds import CLUSTERS
from workers.backfill.conftest import ALIAS, FIRST, MAPPING, SECOND, Source, Theirs, opened, stories

DIMS = 8
COUNT = 12

INDEXED: Source = {"type": "dense_vector", "dims": DIMS, "index_options": {"type": "hnsw"}}
VECTORS: Source = {
    "meaning": INDEXED,
    "sound": {"type": "dense_vector", "dims": DIMS, "index": False},
    "weights": {"type": "sparse_vector"},
    "parts": {"type": "nested", "properties": {"meaning": INDEXED}},
}


def vector(number: int) -> list[float]:
    """A direction of its own for each document."""
    lot = random.Random(number)  # noqa: S311 - directions
    return [lot.uniform(-1, 1) for _ in range(DIMS)]


def embedded_stories(count: int = COUNT) -> dict[str, Source]:
    """Documents of others with embeddings; every sixth has none."""
    documents = stories(count)
    for number, source in enumerate(documents.values()):
        if number % 6:
            source |= {"meaning": vector(number), "sound": vector(number), "weights": {"grain": 1.5, "form": 0.25}}
            source["parts"] = [{"meaning": vector(number)}, {"meaning": vector(number + 1)}]
    return documents


class Embedded(Theirs):
    """An index of others whose documents have embeddings."""

    def fill(self, **settings: object) -> None:
        """Make the index, and write documents with embeddings."""
        mapping = MAPPING | {"properties": {**MAPPING["properties"], **VECTORS}}  # type: ignore[dict-item]
        body = {"settings": settings, "mappings": mapping, "aliases": {ALIAS: {}}}
        ask(self.address, "PUT", f"/{FIRST}", body)
        self.write(embedded_stories())

    def nearest(self, index: str = ALIAS) -> dict[str, list[str]]:
        """Ask for the nearest neighbours of some vectors, in whole documents and in parts of them."""
        ask(self.address, "POST", f"/{index}/_refresh")
        neighbours = {}
        for number in (1, 8):
            for field in ("meaning", "parts.meaning"):
                knn = {"field": field, "query_vector": vector(number), "k": 5, "num_candidates": 50}
                body = {"knn": knn, "_source": False, "size": 5}
                hits = ask(self.address, "POST", f"/{index}/_search", body)["hits"]["hits"]
                neighbours[f"{field} {number}"] = [hit["_id"] for hit in hits]
        return neighbours

    def counts(self, index: str = ALIAS) -> dict[str, int]:
        """Count the documents that have each kind of vector."""
        ask(self.address, "POST", f"/{index}/_refresh")
        queries: dict[str, Source] = {name: {"exists": {"field": name}} for name in ("meaning", "sound", "weights")}
        queries["parts"] = {"nested": {"path": "parts", "query": {"exists": {"field": "parts.meaning"}}}}
        return {
            name: ask(self.address, "POST", f"/{index}/_count", {"query": query})["count"]
            for name, query in queries.items()
        }


HELD = dict.fromkeys(("meaning", "sound", "weights", "parts"), COUNT - COUNT // 6)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are compared again at once."""
    monkeypatch.setattr(run, "PAUSE", 0)


@pytest.fixture
def embedded(elasticsearch: str, tables_folder: Path) -> Iterator[Embedded]:
    """A server without indexes of these tests; its own vectors are those of Elasticsearch."""
    with opened(Embedded(elasticsearch, tables_folder)) as index:
        yield index


@pytest.mark.server("elasticsearch")
class TestEmbeddings:
    def test_signed_in_place_and_stripped_again_they_are_searched_as_before(self, embedded: Embedded) -> None:
        embedded.fill()
        before = embedded.nearest()
        assert embedded.counts() == HELD
        backfill_in_place(embedded.settings)
        assert len(embedded.signed()) == COUNT
        assert (embedded.counts(), embedded.nearest()) == (HELD, before)
        assert strip(embedded.settings).left == 0
        assert (embedded.counts(), embedded.nearest()) == (HELD, before)

    def test_copied_with_signatures_and_without_they_are_searched_as_before(self, embedded: Embedded) -> None:
        embedded.fill()
        before = embedded.nearest()
        replace_index(embedded.settings, SECOND)
        assert (embedded.counts(SECOND), embedded.nearest(SECOND)) == (HELD, before)
        ask(embedded.address, "DELETE", f"/{FIRST}")
        strip(embedded.settings, into=FIRST)
        assert embedded.signed(FIRST) == {}
        assert (embedded.counts(FIRST), embedded.nearest(FIRST)) == (HELD, before)

    def test_a_copy_shows_vectors_in_its_answers_where_the_first_index_does(self, embedded: Embedded) -> None:
        embedded.fill(**{"index.mapping.exclude_source_vectors": "false"})
        before = embedded.sources()
        assert before["t1"]["meaning"] == vector(1)
        replace_index(embedded.settings, SECOND)
        assert embedded.sources(SECOND) == before


@pytest.fixture
def vectors_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of which nobody knows how to ask for vectors."""
    monkeypatch.setattr(sources, "WITH_VECTORS", {})


@pytest.mark.server("elasticsearch")
@pytest.mark.usefixtures("vectors_not_asked_for")
class TestAnAnswerWithoutVectors:
    def test_writes_no_document(self, embedded: Embedded) -> None:
        embedded.fill()
        backfill_in_place(embedded.settings)
        for command in (strip_in_place, strip_into, backfill_into):
            with pytest.raises(Permanent, match=rf"'{FIRST}'.*'t\d+'.*dense_vector.*nothing of it was written"):
                command(embedded.settings)
            assert embedded.counts() == HELD
            ask(embedded.address, "DELETE", f"/{SECOND}?ignore_unavailable=true")

    def test_and_without_a_proof_is_stopped_by_the_counts(
        self, embedded: Embedded, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sources, "check_whole", lambda *_: None)
        embedded.fill()
        backfill_in_place(embedded.settings)
        for command in (strip_into, backfill_into):
            with pytest.raises(Permanent, match=rf"copy '{SECOND}'.*10 documents had field 'meaning', and 0"):
                command(embedded.settings)
            assert (FIRST in ask(embedded.address, "GET", f"/{ALIAS}"), embedded.counts()) == (True, HELD)
            ask(embedded.address, "DELETE", f"/{SECOND}?ignore_unavailable=true")
        with pytest.raises(Permanent, match=r"'meaning'.*do not repeat the command"):
            strip_in_place(embedded.settings)


def strip_in_place(settings: Settings) -> None:
    strip(settings)


def strip_into(settings: Settings) -> None:
    strip(settings, into=SECOND)


def backfill_into(settings: Settings) -> None:
    replace_index(settings, SECOND)


@pytest.mark.parametrize("theirs", CLUSTERS[:1], indirect=True)
def test_sparse_embeddings_in_opensearch_rank_documents_as_before(theirs: Theirs) -> None:
    documents = stories(COUNT)
    for number, source in enumerate(documents.values()):
        source["weights"] = {"grain": 1.0 + number * 5 % COUNT, "form": 0.25}
    fields = {**MAPPING["properties"], "weights": {"type": "rank_features"}}  # type: ignore[dict-item]
    theirs.make(documents, MAPPING | {"properties": fields})
    before = ranked(theirs, ALIAS)
    backfill_in_place(theirs.settings)
    strip(theirs.settings)
    assert (ranked(theirs, ALIAS), theirs.sources()) == (before, documents)
    replace_index(theirs.settings, SECOND)
    assert (ranked(theirs, SECOND), theirs.sources(SECOND)) == (before, documents)


def ranked(theirs: Theirs, index: str) -> list[str]:
    """Rank documents by one feature of their sparse embeddings."""
    ask(theirs.address, "POST", f"/{index}/_refresh")
    body = {"query": {"rank_feature": {"field": "weights.grain"}}, "size": COUNT, "_source": False}
    return [hit["_id"] for hit in ask(theirs.address, "POST", f"/{index}/_search", body)["hits"]["hits"]]


class TestIndexesWithoutSource:
    @pytest.mark.server("elasticsearch")
    def test_where_it_is_synthetic_documents_are_signed_in_part_and_not_copied(self, embedded: Embedded) -> None:
        embedded.fill(**{"index.mapping.source.mode": "synthetic"})
        before, near = embedded.sources(), embedded.nearest()
        backfill_in_place(embedded.settings)
        backfill_in_place(embedded.settings)
        assert len(embedded.signed()) == COUNT
        assert (embedded.sources(), embedded.nearest()) == (before, near)
        for command in (strip_in_place, strip_into, backfill_into):
            with pytest.raises(Permanent, match=rf"'{FIRST}' stores no `_source`.*source\.mode: synthetic.*_reindex"):
                command(embedded.settings)
        assert embedded.counts() == HELD

    @pytest.mark.parametrize("theirs", CLUSTERS[:1], indirect=True)
    def test_where_it_is_derived_the_index_is_refused(self, theirs: Theirs) -> None:
        settings = theirs.settings.changed(fields="text=body,meta=")
        mapping = {"properties": {"body": {"type": "text", "store": True}}}
        body = {"settings": {"index.derived_source.enabled": True}, "mappings": mapping, "aliases": {ALIAS: {}}}
        ask(theirs.address, "PUT", f"/{FIRST}", body)
        for command in (backfill_in_place, backfill_into):
            with pytest.raises(Permanent, match=rf"'{FIRST}'.*index\.derived_source\.enabled: true.*_reindex"):
                command(settings)
