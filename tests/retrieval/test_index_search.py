"""A retriever hands on k different texts, each once, with all that it stands for."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.documents import Document

from ibidem.retrieval.index_search import FoundPassage, keep_leads, search_client, search_engine
from ibidem.retrieval.langchain import LeadRetriever, LeadTransformer
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError

from .conftest import COPIES

pytestmark = pytest.mark.slow  # LangChain takes half a second to load


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


def test_every_copy_is_named_up_to_a_hundred_unless_fewer_are_asked_for(passages: str) -> None:
    engine = open_engine(passages, "copies")
    for options, named in (({}, COPIES), ({"dedupe_max_per_group": 3}, 3), ({"dedupe_window": 5}, 4)):
        (found,) = search_engine(engine, **options).find("rent1", 1)
        assert len(found.metadata["duplicates"]) == named
    engine.close()


def test_the_words_of_a_question_are_looked_for_in_the_field_of_the_text() -> None:
    asked: list[object] = []

    class Client:
        def search(self, body: dict[str, Any], dedupe_document: object, **_: Any) -> dict[str, Any]:
            asked.extend((body["query"], str(dedupe_document)))
            return {"hits": {"hits": []}}

    assert search_client(Client(), "passages", text_field="body", document_field="file").find("rent", 1) == []
    assert asked == [{"match": {"body": "rent"}}, "file:body"]


def test_no_passage_has_the_field_of_the_signatures() -> None:
    class Client:
        def search(self, **_: Any) -> dict[str, Any]:
            source = {"body": {"text": "Rent is due.", "page": 7}, "ibidem": {"packed": "x" * 2_000}}
            return {"hits": {"hits": [{"_id": "a", "_score": 1.0, "_source": source}]}}

    (found,) = search_client(Client(), "passages", text_field="body.text").find("rent", 1)
    assert (found.text, found.metadata) == ("Rent is due.", {"body": {"page": 7}, "duplicates": []})
    (kept,) = LeadTransformer(language="en").transform_documents(
        [Document("Rent is due.", id="a", metadata={"page": 7, "ibidem": {"packed": "x"}})]
    )
    assert kept.metadata == {"page": 7, "duplicates": []}


@pytest.mark.parametrize("k", [0, 1_001, 10**6, "ten", True, None])
def test_a_number_of_passages_that_no_page_has_is_refused(k: Any, library: Engine) -> None:
    with pytest.raises(UsageError, match=r"k is .*give a whole number from 1 to 1,000"):
        search_engine(library).find("rent", k)


def test_a_transformer_behind_the_retriever_keeps_what_the_retriever_noted(library: Engine) -> None:
    found = LeadRetriever(search=search_engine(library), k=4).invoke("rent")
    kept = LeadTransformer(language="en").transform_documents(found)
    assert [each.metadata["duplicates"] for each in kept] == [each.metadata["duplicates"] for each in found]
    assert sum(len(each.metadata["duplicates"]) for each in kept) == 1


RENT = "The tenant shall pay the rent on the first day of each month, in advance and without demand."
KEYS = "The tenant shall hand the keys over to the landlord on the last day of the lease, at noon."


def noted(name: str, **more: str) -> dict[str, str]:
    return {"id": name, "level": "near", "reason": "", **more}


def leads(
    *found: tuple[str, str, dict[str, Any]], keep: str = "rank"
) -> list[tuple[str, list[tuple[str, str | None]]]]:
    """Return each lead with the ids of its duplicates and what these belong to."""
    return [
        (found[lead][0], [(each["id"], each.get("of")) for each in metadata["duplicates"]])
        for lead, metadata in keep_leads([(*each, None) for each in found], "en", keep, "date")
    ]


def test_a_lead_keeps_what_a_retriever_noted_of_it_and_of_those_that_are_left_out() -> None:
    found = leads(
        ("a", RENT, {"duplicates": [noted("copy of a")]}),
        ("b", RENT, {"duplicates": [noted("copy of b"), noted("window of b", of="next")]}),
        ("c", KEYS, {"duplicates": [noted("copy of c")]}),
    )
    expected = [("b", None), ("copy of a", None), ("copy of b", "b"), ("window of b", "next")]
    assert found == [("a", expected), ("c", [("copy of c", None)])]


@pytest.mark.parametrize(
    "value", [20240501, 1714521600, 17.5, "May 1, 2024", "2024-13", ["x"], {"y": 1}, True, None, b"2024"]
)
def test_a_value_that_is_no_date_fails_no_retrieval(value: Any) -> None:
    assert leads(("a", RENT, {"date": value}), ("b", KEYS, {"date": "2024"}), keep="latest") == [("a", []), ("b", [])]


def test_a_field_without_text_is_named(library: Engine) -> None:
    with pytest.raises(UsageError, match=r"'body', no text.*text_field"):
        replace(search_engine(library), text_field="body").find("rent", 1)
