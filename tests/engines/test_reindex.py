"""Contract of every engine for the documents of an index: read in order, signed as they were read, copied."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem_core.errors import NoIndex
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine, ReindexSource, SourceDocument, WriteStatus
from ibidem_engines.query import Query
from ibidem_engines.stored_groups import Name, SeqNoRange
from ibidem_ingest.errors import UsageError
from ibidem_ingest.signatures.schema import SCHEMA
from servers.indices import ask, remove_indices
from servers.kinds import CLUSTERS
from support.signed_records import make_record as record


def test_sqlite_holds_no_index_of_others_to_be_signed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"only what ibidem ingests.*ibidem ingest PATH"):
        open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news").reindex_source()


@pytest.fixture(params=CLUSTERS)
def address(request: pytest.FixtureRequest) -> str:
    """Address of a cluster; SQLite holds no index of others."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def source(engine: Engine, address: str) -> Iterator[ReindexSource]:
    """The documents of the index `news`, empty at first."""
    source = open_engine(address, "news").reindex_source()
    yield source
    source.close()


@pytest.fixture
def copy_name(address: str, tidy: set[tuple[str, str]]) -> str:
    tidy.add((address, "news-copy"))
    remove_indices(address, "news-copy")
    return "news-copy"


def all_names(source: ReindexSource) -> list[Name]:
    return [name for part, last in source.newest().items() for name in source.names(SeqNoRange(part, 0, last), 1_000)]


def read(source: ReindexSource, *, raw: bool = False) -> dict[str, SourceDocument]:
    return {document.name.id: document for document in source.read(all_names(source), raw=raw)}


class TestGoingThrough:
    def test_documents_come_in_the_order_of_writing(self, engine: Engine, source: ReindexSource) -> None:
        engine.write([record(name) for name in "cab"])
        engine.write([record("c", "another text", version=2)])
        assert [name.id for name in all_names(source)] == ["a", "b", "c"]

    def test_a_document_is_read_with_the_signatures_of_its_latest_state_before_a_search_sees_it(
        self, engine: Engine, source: ReindexSource
    ) -> None:
        engine.write([record("a")])
        names, later = all_names(source), record("a", "another text", version=2)
        engine.write([later])
        assert [document.packed for document in source.read(names)] == [later.packed]

    def test_a_document_whose_version_alone_was_raised_keeps_its_signatures(
        self, engine: Engine, source: ReindexSource
    ) -> None:
        first = record("a")
        engine.write([first])
        engine.write([replace(first, version=7)])
        (document,) = read(source).values()
        assert (document.version, document.packed) == (7, first.packed)
        assert [hit.packed for hit in engine.search(Query(), 1).hits] == [first.packed]

    def test_a_stretch_holds_what_was_written_within_it(self, engine: Engine, source: ReindexSource) -> None:
        engine.write([record("a"), record("b")])
        marks = source.newest()
        engine.write([record("c"), record("a", "another text", version=2)])
        (part,) = source.parts()
        late_range = SeqNoRange(part, marks[part], source.newest()[part])
        assert [name.id for name in source.names(late_range, 10)] == ["c", "a"]
        assert [name.id for name in source.names(SeqNoRange(part, 0, marks[part]), 10)] == ["b"]
        assert (source.count(late_range), source.count(SeqNoRange(part, 0, marks[part]))) == (2, 1)

    def test_names_come_page_by_page(self, engine: Engine, source: ReindexSource) -> None:
        engine.write([record(f"d{number}") for number in range(5)])
        (part,) = source.parts()
        last = source.newest()[part]
        first = source.names(SeqNoRange(part, 0, last), 3)
        names = source.names(SeqNoRange(part, first[-1].order, last), 3)
        assert [name.id for name in first + names] == [f"d{number}" for number in range(5)]

    def test_an_index_that_is_not_there_is_named(self, address: str, absent: Engine) -> None:
        remove_indices(address)
        with pytest.raises(NoIndex, match="'news'"):
            open_engine(address, "news").reindex_source().check("place")


class TestReading:
    def test_what_was_written_is_read_with_all_that_was_signed(self, engine: Engine, source: ReindexSource) -> None:
        original = record("a", version=7, title="Grain", date="1787-09", meta={"court": "9th"})
        engine.write([original])
        document = read(source)["a"]
        assert document.document == original.document
        assert (document.version, document.digest, document.packed) == (7, original.digest, original.packed)
        assert (document.schema, document.idf, document.fault) == (SCHEMA, original.signatures.idf, "")

    def test_a_document_tells_which_write_it_comes_from_now_and_what_is_gone_is_left_out(
        self, engine: Engine, source: ReindexSource
    ) -> None:
        engine.write([record("a"), record("b")])
        names = all_names(source)
        engine.write([record("a", "another text", version=2)])
        later = {document.name.id: document.order - document.name.order for document in source.read(names)}
        assert later == {"a": 2, "b": 0}
        engine.delete(["a"], version=2)
        assert [document.name.id for document in source.read(names)] == ["b"]


@pytest.mark.parametrize("raw", [False, True])
class TestSigningInPlace:
    def test_signatures_are_replaced_and_the_document_stays(
        self, engine: Engine, source: ReindexSource, *, raw: bool
    ) -> None:
        original = record("a", version=3, title="Grain", meta={"court": "9th"})
        engine.write([original])
        document = read(source, raw=raw)["a"]
        replacement = replace(original, digest="f" * 32)
        (outcome,) = source.sign([(document, replacement)])
        assert outcome is not None
        assert outcome.status is WriteStatus.INDEXED
        after = read(source)["a"]
        assert (after.document, after.version, after.digest) == (document.document, 3, "f" * 32)

    def test_a_document_that_was_changed_since_is_left_alone(
        self, engine: Engine, source: ReindexSource, *, raw: bool
    ) -> None:
        engine.write([record("a"), record("b"), record("c")])
        document = read(source, raw=raw)
        engine.write([record("a", "another text", version=2)])
        engine.delete(["b"], version=2)
        pairs = [(document[name], replace(record(name), digest="f" * 32)) for name in "abc"]
        outcomes = source.sign(pairs)
        assert [outcome and outcome.status for outcome in outcomes] == [None, None, WriteStatus.INDEXED]
        documents_after = read(source)
        assert sorted(documents_after) == ["a", "c"]
        assert documents_after["a"].document.text == "another text"


class TestCopying:
    def test_a_copy_holds_the_same_and_an_older_state_never_wins(
        self, engine: Engine, source: ReindexSource, copy_name: str, address: str
    ) -> None:
        engine.write([record("a", title="Grain"), record("b")])
        copy = source.copy_to(copy_name)
        assert not copy.exists()
        copy.create()
        assert copy.exists()
        old = read(source, raw=True)
        engine.write([record("a", "another text", version=2)])
        new = read(source, raw=True)
        copy.take([(new[name], record(name, new[name].document.text, version=new[name].version)) for name in "ab"])
        late_range = copy.take([(old["a"], record("a", old["a"].document.text, version=1))])
        assert [outcome.status for outcome in late_range] == [WriteStatus.STALE]
        documents = read(open_engine(address, copy_name).reindex_source())
        assert [documents[name].document.text for name in "ab"] == ["another text", new["b"].document.text]

    def test_a_late_copy_replaces_an_older_version_and_leaves_what_another_program_has_written(
        self, engine: Engine, source: ReindexSource, copy_name: str, address: str
    ) -> None:
        engine.write([record(name, version=7) for name in "ab"])
        copy = source.copy_to(copy_name)
        copy.create()
        end, late = copy.newest(), read(source, raw=True)
        there = open_engine(address, copy_name)
        there.create()
        there.write([record("a", "an older text", version=3)])
        ask(address, "PUT", f"/{copy_name}/_doc/b", json.dumps({"text": "of another program"}))
        expected = {"a": late["a"].document.text, "b": "of another program"}
        outcomes = copy.take_late([(late[name], record(name, version=7)) for name in "ab"], end)
        assert [outcome.status for outcome in outcomes][:1] == [WriteStatus.INDEXED]
        documents = read(open_engine(address, copy_name).reindex_source())
        assert {name: document.document.text for name, document in documents.items()} == expected
        there.close()

    def test_a_document_that_cannot_be_signed_is_copied_unsigned(
        self, engine: Engine, source: ReindexSource, copy_name: str, address: str
    ) -> None:
        engine.write([replace(record("a", title="Grain"), packed=b"", digest="")])
        copy = source.copy_to(copy_name)
        copy.create()
        copy.take([(read(source, raw=True)["a"], None)])
        documents = read(open_engine(address, copy_name).reindex_source())["a"]
        assert (documents.document.title, documents.packed) == ("Grain", b"")

    def test_what_was_deleted_is_deleted_from_the_copy_too(
        self, engine: Engine, source: ReindexSource, copy_name: str, address: str
    ) -> None:
        engine.write([record(name) for name in "abc"])
        copy = source.copy_to(copy_name)
        copy.create()
        copy.take([(document, record(document.name.id)) for document in read(source, raw=True).values()])
        marks = source.deletions()
        engine.delete(["b"], version=2)
        assert source.deletions() != marks
        assert copy.prune(copy.newest()) == 1
        assert sorted(read(open_engine(address, copy_name).reindex_source())) == ["a", "c"]
        assert copy.prune(copy.newest()) == 0

    def test_each_deletion_is_noticed_that_of_the_newest_document_too(
        self, engine: Engine, source: ReindexSource
    ) -> None:
        engine.write([record(name) for name in "abc"])
        marks = {source.deletions()}
        for name in "cab":
            engine.delete([name], version=2)
            marks.add(source.deletions())
        assert len(marks) == 4

    def test_the_copy_can_be_searched(
        self, engine: Engine, source: ReindexSource, copy_name: str, address: str
    ) -> None:
        engine.write([record("a")])
        copy = source.copy_to(copy_name)
        copy.create()
        copy.take([(document, record("a")) for document in read(source, raw=True).values()])
        copy.finish("")
        other = open_engine(address, copy_name)
        other.create()
        other.refresh()
        (hits,) = other.scan()
        assert [(hit.id, hit.packed) for hit in hits] == [("a", record("a").packed)]
