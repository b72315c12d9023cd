"""A retriever over a signed index hands on k different texts, each of one document's overlapping passages once."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ibidem.retrieval.index_search import FoundPassage, search_client, search_engine
from ibidem.retrieval.langchain import LeadRetriever, LeadTransformer
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError

from .conftest import COPIES


@pytest.fixture(scope="module")
def engine(passages: str) -> Iterator[Engine]:
    opened = open_engine(passages, "passages")
    yield opened
    opened.close()


def ids(found: list[FoundPassage]) -> set[str]:
    return {each.id for each in found}


def test_k_different_texts_are_found_with_their_copies_named(engine: Engine) -> None:
    found = search_engine(engine).find("rent", 4)
    assert len(found) == 4
    assert {"next", "window", "other"} < ids(found)
    (lead,) = [each for each in found if each.id in {"a", "copy of a"}]
    (copy,) = lead.metadata["duplicates"]
    assert copy["reason"] == "the same words in the same order"


def test_passages_that_overlap_in_their_document_count_as_one(engine: Engine) -> None:
    found = search_engine(engine, document_field="meta.document").find("rent", 4)
    assert len(found) == 3
    (neighbour,) = [each for one in found for each in one.metadata["duplicates"] if "side" in each]
    assert (neighbour["id"], neighbour["side"]) in {("window", "after"), ("next", "before")}
    assert neighbour["reason"].endswith("it in the same document, 6 words overlap")


def test_filters_hold(engine: Engine) -> None:
    found = search_engine(engine, ("meta.document=contract.pdf",)).find("rent", 4)
    assert ids(found) == {"other"}


def test_every_copy_is_named_up_to_a_hundred_unless_fewer_are_asked_for(passages: str) -> None:
    engine = open_engine(passages, "copies")
    (found,) = search_engine(engine).find("rent1", 1)
    assert len(found.metadata["duplicates"]) == COPIES
    (found,) = search_engine(engine, dedupe_max_per_group=3).find("rent1", 1)
    assert len(found.metadata["duplicates"]) == 3
    (found,) = search_engine(engine, dedupe_window=5).find("rent1", 1)
    assert len(found.metadata["duplicates"]) == 4
    engine.close()


def test_a_mode_that_lists_copies_is_refused_before_anything_is_searched(engine: Engine) -> None:
    with pytest.raises(UsageError, match=r"dedupe='indent' would return copies as passages; use 'collapse'"):
        search_engine(engine, dedupe="indent")
    with pytest.raises(UsageError, match=r"dedupe='indent' would return copies"):
        search_client(None, "passages", dedupe="indent")


def test_the_words_of_a_question_are_looked_for_in_the_field_of_the_text() -> None:
    asked: list[object] = []

    class Client:
        def search(self, body: dict[str, Any], dedupe_document: object, **_: Any) -> dict[str, Any]:
            asked.extend((body["query"], str(dedupe_document)))
            return {"hits": {"hits": []}}

    assert search_client(Client(), "passages", text_field="body", document_field="file").find("rent", 1) == []
    assert asked == [{"match": {"body": "rent"}}, "file:body"]


@pytest.mark.parametrize("k", [0, 1_001, 10**6, "ten", True, None])
def test_a_number_of_passages_that_no_page_has_is_refused(k: Any, engine: Engine) -> None:
    with pytest.raises(UsageError, match=r"k is .*give a whole number from 1 to 1,000"):
        search_engine(engine).find("rent", k)


def test_a_field_without_text_is_named(engine: Engine) -> None:
    with pytest.raises(UsageError, match=r"'body', no text.*text_field"):
        replace(search_engine(engine), text_field="body").find("rent", 1)


def test_langchain_gets_the_passages_with_their_fields(engine: Engine) -> None:
    (found,) = LeadRetriever(search=search_engine(engine, ("meta.document=contract.pdf",)), k=2).invoke("rent")
    assert (found.id, found.metadata["meta"], found.metadata["duplicates"]) == (
        "other",
        {"document": "contract.pdf"},
        [],
    )


def test_a_transformer_behind_the_retriever_keeps_what_the_retriever_noted(engine: Engine) -> None:
    found = LeadRetriever(search=search_engine(engine), k=4).invoke("rent")
    kept = LeadTransformer(language="en").transform_documents(found)
    assert [each.metadata["duplicates"] for each in kept] == [each.metadata["duplicates"] for each in found]
    assert sum(len(each.metadata["duplicates"]) for each in kept) == 1
