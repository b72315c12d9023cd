"""A retriever over a signed index hands on k different texts, each of one document's overlapping passages once."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ibidem.retrieval import index_search
from ibidem.retrieval.index_search import FoundPassage, PassageSearch, search_client, search_engine
from ibidem.retrieval.langchain import LeadRetriever, LeadTransformer
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError

from .conftest import COPIES


@pytest.fixture(scope="module")
def library(passages: str) -> Iterator[Engine]:
    opened = open_engine(passages, "passages")
    yield opened
    opened.close()


def ids(found: list[FoundPassage]) -> set[str]:
    return {each.id for each in found}


def test_k_different_texts_are_found_with_their_copies_named(library: Engine) -> None:
    found = search_engine(library).find("rent", 4)
    assert len(found) == 4
    assert {"next", "window", "other"} < ids(found)
    (lead,) = [each for each in found if each.id in {"a", "copy of a"}]
    (copy,) = lead.metadata["duplicates"]
    assert copy["reason"] == "the same words in the same order"


def test_passages_that_overlap_in_their_document_count_as_one(library: Engine) -> None:
    found = search_engine(library, document_field="meta.document").find("rent", 4)
    assert len(found) == 3
    (neighbour,) = [each for one in found for each in one.metadata["duplicates"] if "side" in each]
    assert (neighbour["id"], neighbour["side"]) in {("window", "after"), ("next", "before")}
    assert neighbour["reason"].endswith("it in the same document, 6 words overlap")


def test_filters_hold(library: Engine) -> None:
    found = search_engine(library, ("meta.document=contract.pdf",)).find("rent", 4)
    assert ids(found) == {"other"}


def test_pages_are_read_until_there_are_k_texts() -> None:
    def page(_: str, number: int, size: int, cursor: str) -> dict[str, Any]:
        assert cursor == ("" if number == 1 else f"after {number - 1}")
        hits = [
            {"_id": f"{number}.{row}", "_source": {"text": " ".join(f"w{at}" for at in range(row * 5, row * 5 + 10)),
             "file": f"file {number}"}, "_dedupe": {}} for row in range(size)
        ]  # fmt: skip
        return {"hits": {"hits": hits}, "dedupe": {"cursor": f"after {number}"}}

    assert [each.id for each in PassageSearch(page, document_field="file").find("w", 2)] == ["1.0", "2.0"]


def test_a_page_is_searched_for_overlaps_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    monkeypatch.setattr(index_search, "overlaps", lambda passages: compared.append(len(passages)) or {})
    hits = [{"_id": str(row), "_source": {"text": f"w{row}", "file": "lease"}} for row in range(400)]
    search = PassageSearch(lambda *_: {"hits": {"hits": hits}}, document_field="file")
    assert len(search.find("w", 400)) == 400
    assert compared == [400]


def test_a_passage_names_the_copies_of_a_neighbour_that_it_stands_for() -> None:
    mark = {"level": "identical", "why": None}
    inner = {"duplicates": {"hits": {"hits": [{"_id": "copy", "_dedupe": mark}]}}}
    hits = [
        {"_id": "first", "_source": {"text": "a b c d e f g h", "file": "lease"}},
        {"_id": "next", "_source": {"text": "d e f g h i j k", "file": "lease"}, "inner_hits": inner},
    ]
    search = PassageSearch(lambda _, number, *__: {"hits": {"hits": hits * (number == 1)}}, document_field="file")
    (found,) = search.find("w", 2)
    assert [(each["id"], each.get("of")) for each in found.metadata["duplicates"]] == [("next", None), ("copy", "next")]


def test_every_copy_is_named_up_to_a_hundred_unless_fewer_are_asked_for(passages: str) -> None:
    engine = open_engine(passages, "copies")
    (found,) = search_engine(engine).find("rent1", 1)
    assert len(found.metadata["duplicates"]) == COPIES
    (found,) = search_engine(engine, dedupe_max_per_group=3).find("rent1", 1)
    assert len(found.metadata["duplicates"]) == 3
    (found,) = search_engine(engine, dedupe_window=5).find("rent1", 1)
    assert len(found.metadata["duplicates"]) == 4
    engine.close()


def test_a_mode_that_lists_copies_is_refused_before_anything_is_searched(library: Engine) -> None:
    with pytest.raises(UsageError, match=r"dedupe='indent' would return copies as passages; use 'collapse'"):
        search_engine(library, dedupe="indent")
    with pytest.raises(UsageError, match=r"dedupe='indent' would return copies"):
        search_client(None, "passages", dedupe="indent")


def test_the_words_of_a_question_are_looked_for_in_the_field_of_the_text() -> None:
    asked: list[dict[str, Any]] = []

    class Client:
        def search(self, body: dict[str, Any], **_: Any) -> dict[str, Any]:
            asked.append(body["query"])
            return {"hits": {"hits": []}}

    assert search_client(Client(), "passages", text_field="body").find("rent", 1) == []
    assert asked == [{"match": {"body": "rent"}}]


@pytest.mark.parametrize("k", [0, 1_001, 10**6, "ten", True, None])
def test_a_number_of_passages_that_no_page_has_is_refused(k: Any, library: Engine) -> None:
    with pytest.raises(UsageError, match=r"k is .*give a whole number from 1 to 1,000"):
        search_engine(library).find("rent", k)


def test_a_field_without_text_is_named(library: Engine) -> None:
    with pytest.raises(UsageError, match=r"'body', no text.*text_field"):
        replace(search_engine(library), text_field="body").find("rent", 1)


def test_langchain_gets_the_passages_with_their_fields(library: Engine) -> None:
    (found,) = LeadRetriever(search=search_engine(library, ("meta.document=contract.pdf",)), k=2).invoke("rent")
    assert (found.id, found.metadata["meta"], found.metadata["duplicates"]) == (
        "other",
        {"document": "contract.pdf"},
        [],
    )


def test_a_transformer_behind_the_retriever_keeps_what_the_retriever_noted(library: Engine) -> None:
    found = LeadRetriever(search=search_engine(library), k=4).invoke("rent")
    kept = LeadTransformer(language="en").transform_documents(found)
    assert [each.metadata["duplicates"] for each in kept] == [each.metadata["duplicates"] for each in found]
    assert sum(len(each.metadata["duplicates"]) for each in kept) == 1
