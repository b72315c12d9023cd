"""All groups of an index, also before it is signed; duplicates and pages of a document; documents without files."""

import json
from itertools import permutations
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given

from ibidem.comparison.compare import compare
from ibidem.index.deletion import find_gone
from ibidem.index.documents import inspect, inspect_outside
from ibidem.index.groups import dry_run, index_groups
from ibidem_core.settings import Settings
from ibidem_dedupe.overrides import Override
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine, Record
from ibidem_ingest.document import PAGE_BREAK, Document
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.store import Tables
from ibidem_ingest.idf.table import Table
from ibidem_ingest.kernel import loops
from ibidem_ingest.readers import read
from ibidem_ingest.signatures.packed import NO_DATE, Packed, unpack
from ibidem_workers.batches import records
from servers.indices import ask
from support.fake_engine import FakeEngine
from support.general_tables import general_tables
from support.naive_grouping import leaders
from support.windows import SampleWindow, example_settings, signatures, value, windows


@example_settings
@given(windows)
def test_documents_are_grouped_by_leads_in_the_order_of_date_and_id(window: SampleWindow) -> None:
    groups = index_groups(FakeEngine(window))
    dates = [each.date_from if each else NO_DATE for each in window.packed]
    order = sorted(range(len(dates)), key=lambda row: (dates[row] == NO_DATE, dates[row], row))
    expected = SampleWindow([window.values[row] for row in order])
    assert [name for _, name in groups.names] == [f"{row:04}" for row in order]
    assert groups.grouping.lead.tolist() == leaders(expected, Policy())
    with patch.object(loops, "IN_USE", None):
        assert index_groups(FakeEngine(window)).grouping.lead.tolist() == groups.grouping.lead.tolist()


def test_groups_are_listed_with_their_leads_first_and_the_largest_named() -> None:
    a, b = signatures(1), signatures(2)
    values = [value(b, "0", "1990"), value(a, "1"), value(a, "2", "1987-02"), value(a, "3", "1987-01"), value(b, "4")]
    groups = index_groups(FakeEngine(SampleWindow(values)))
    assert [(each.lead, each.id, each.size, each.evidence) for each in groups.members()] == [
        ("0003", "0003", 3, ""),
        ("0003", "0002", 3, "content"),
        ("0003", "0001", 3, "content"),
        ("0000", "0000", 2, ""),
        ("0000", "0004", 2, "content"),
    ]
    assert groups.largest == [(("news", "0003"), 3), (("news", "0000"), 2)]
    json_form = groups.as_json(lambda names: {names[0]: "Bread and wine"})
    assert json_form["sizes"] == {"2": 1, "3": 1}
    assert json_form["largest"][0] == {"lead": "0003", "title": "Bread and wine", "size": 3}  # type: ignore[index]


def unpacked(records: list[Record]) -> dict[str, Packed]:
    by_id = {each.document.id: unpack(each.packed) for each in records}
    return {name: packed for name, packed in by_id.items() if packed is not None}


@pytest.mark.slow
def test_every_document_s_duplicates_are_those_that_the_decision_finds_among_all(
    library: Engine, records: list[Record]
) -> None:
    values_by_name = unpacked(records)
    for name in list(values_by_name)[::10]:
        near_names = {
            other
            for other in values_by_name
            if other != name and decide(values_by_name[name], values_by_name[other], Policy())
        }
        duplicates = inspect(library, name).duplicates
        assert {each.id for each in duplicates} == near_names
        keys = [(each.evidence.level != "identical", -each.evidence.score) for each in duplicates]
        assert keys == sorted(keys), "identical ones come first, then the higher score"


def test_manual_decisions_are_followed_also_where_no_look_up_finds_the_other(
    library: Engine, records: list[Record]
) -> None:
    pairs = permutations(unpacked(records).items(), 2)
    name, other = next((a, b) for (a, first), (b, second) in pairs if not decide(first, second, Policy()))
    override = Override((library.index, name), (library.index, other), "same", "Ada")
    library.put_records("overrides", {override.key: override.as_record()})
    assert other in {each.id for each in inspect(library, name).duplicates}
    library.delete_records("overrides", [override.key])


def test_a_document_that_is_not_there_or_not_signed_is_refused(library: Engine) -> None:
    with pytest.raises(UsageError, match="no document 'nowhere'"):
        inspect(library, "nowhere")
    with pytest.raises(UsageError, match="carries no signatures"):
        inspect(FakeEngine(SampleWindow([None])), "0000")


PARTIAL = Policy(level="partial")
PAGES = [
    " ".join(f"{chr(97 + page)}{chr(97 + word % 26)}{chr(97 + word // 26)}" * 2 for word in range(75))
    for page in range(9)
]
PAGES = [f"{page} {page}" for page in PAGES]  # 150 words, each of them twice
BOOK = Document("book", PAGE_BREAK.join(PAGES), language="en")
PAGE = Document("page", PAGES[5], language="en")
SHORT = Document("short", PAGES[3].rsplit(None, 1)[0], language="en")
OTHER = Document("other", PAGES[2].replace("c", "z"), language="en")


@pytest.fixture
def index(engine: Engine, tables: Tables) -> Engine:
    engine.write(list(records([SHORT, OTHER, PAGE, BOOK], tables)))
    return engine


def test_the_page_joins_its_book_in_whole_index_groups(index: Engine) -> None:
    members = index_groups(index, PARTIAL).members()
    assert [{each.lead, each.id} for each in members if each.lead != each.id] == [{"book", "page"}]


def test_each_is_found_from_the_other(index: Engine, tables: Tables) -> None:
    (book,) = inspect(index, "page", PARTIAL).duplicates
    assert (book.id, book.level, book.evidence.why["direction"]) == ("book", "partial", "contains")
    assert book.evidence.why["own"] == {"from": 6, "to": 6, "of": 9}
    assert [each.id for each in inspect(index, "book", PARTIAL).duplicates] == ["page"]
    outside = inspect_outside(index, Document("x", PAGES[7], language="en"), tables, PARTIAL)
    assert [(each.id, each.evidence.why["own"]["from"]) for each in outside.duplicates] == [("book", 8)]


def test_fewer_words_and_other_words_are_not(index: Engine) -> None:
    assert not inspect(index, "short", PARTIAL).duplicates
    assert not inspect(index, "other", PARTIAL).duplicates
    assert not inspect(index, "page", Policy()).duplicates


def test_a_comparison_names_the_page(tables: Tables) -> None:
    comparison = compare(PAGE, BOOK, tables)
    assert comparison.evidence is not None
    assert (comparison.evidence.why["relation"], comparison.evidence.why["other"]["from"]) == ("part_of", 6)


@pytest.mark.slow
def test_a_document_from_outside_has_the_duplicates_of_its_copy_in_the_index_and_that_copy(
    library: Engine, records: list[Record], tables: Tables
) -> None:
    for record in records[::10]:
        document = library.fetch([(library.index, record.document.id)])[0].document
        own = {each.id for each in inspect(library, document.id, Policy(level="partial")).duplicates}
        if document.text.strip():
            found = inspect_outside(library, document, tables, Policy(level="partial"))
            assert {each.id for each in found.duplicates} == own | {document.id}
            assert found.duplicates[0].level == "identical"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "news"
    folder.mkdir()
    for name in ("a.txt", "b:7", "c.txt"):
        (folder / name).write_text(f"story {name}")
    (folder / "t.csv").write_text("text,who\nrow one,Ann\nrow two,Bob\n")
    (tmp_path / "newsroom.txt").write_text("a file beside the folder")
    return folder


@pytest.fixture
def news(engine: Engine, tmp_path: Path, folder: Path) -> None:
    """The index holds the documents of the files, and one of none."""
    files = read([folder, tmp_path / "newsroom.txt"], "text")
    documents = [*(each for each in files if isinstance(each, Document)), Document("by hand", "no file")]
    engine.write(list(records(documents, general_tables())))
    engine.refresh()


@pytest.mark.slow
@pytest.mark.usefixtures("news")
def test_documents_rows_of_tables_too_are_gone_with_their_files(engine: Engine, folder: Path, tmp_path: Path) -> None:
    for name in ("b:7", "t.csv"):
        (folder / name).unlink()
    (tmp_path / "newsroom.txt").unlink()
    gone = {"b:7": f"{folder}/b:7"} | {f"t.csv#{row}": f"{folder}/t.csv:{row}" for row in (2, 3)}
    found = find_gone(engine, [folder])
    assert found.documents == gone
    assert (found.folders, found.doubt) == ([], "that is more than a fifth of the 7 of the index")


@pytest.mark.slow
@pytest.mark.usefixtures("news")
def test_a_folder_that_is_not_there_loses_no_document(engine: Engine, folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    with pytest.raises(UsageError, match=r"is not a folder.*its disk is mounted.*ibidem delete ID"):
        find_gone(engine, [folder])
    folder.mkdir()  # as a disk that is not mounted leaves it
    with pytest.raises(UsageError, match="is empty"):
        find_gone(engine, [folder])


WORDS = [
    f"{first}{second}" for first in ("harvest", "tariff", "freight", "cotton") for second in ("", "s", "ed", "ing")
]


def text(position: int) -> str:
    return " ".join(WORDS[(position * 7 + 3 * place * place) % len(WORDS)] for place in range(80)) + f" {position}"


DOCUMENTS = [
    *(Document(f"d{at}", text(at), f"Title {at}") for at in range(16)),
    *(Document(f"copy{at}", text(at).upper(), f"Copy {at}") for at in range(5)),
    *(Document(f"near{at}", text(at) + " and more", f"Near {at}") for at in range(5)),
]


@pytest.mark.server("opensearch")
def test_an_index_of_others_stays_as_it_is(opensearch: str, tmp_path: Path) -> None:
    Tables(tmp_path).use(Table.build("en", 10_000, {word: 10.0 + at for at, word in enumerate(WORDS)}, "a test"))
    ask(opensearch, "DELETE", "/untouched?ignore_unavailable=true")
    mapping = {"dynamic": "strict", "properties": {"body": {"type": "text"}}}
    ask(opensearch, "PUT", "/untouched", json.dumps({"settings": {"number_of_shards": 2}, "mappings": mapping}))
    lines = [
        part
        for sample in DOCUMENTS
        for part in ({"index": {"_id": sample.id, "routing": sample.id[:2]}}, {"body": sample.text})
    ]
    lines += [{"index": {"_id": "none"}}, {}]
    ask(opensearch, "POST", "/untouched/_bulk?refresh=true", "".join(f"{json.dumps(line)}\n" for line in lines))
    answer_before = ask(opensearch, "GET", "/untouched")
    settings = Settings(engine=opensearch, index="untouched", fields="text=body,meta=", tables=tmp_path, concurrency=1)
    answer = dry_run(settings, Policy())
    assert (answer["documents"], answer["refused"], answer["sizes"]) == (26, 1, {"3": 5})
    assert sorted(sample["level"] for sample in answer["samples"]) == ["identical"] * 3 + ["near"] * 3
    assert ask(opensearch, "GET", "/untouched") == answer_before
    ask(opensearch, "DELETE", "/untouched")
