"""A retriever over a signed index hands on k different texts, each of one document's overlapping passages once."""

from collections.abc import Iterator
from typing import Any

import pytest

from ibidem.retrieval.index_search import FoundPassage, PageSearch, find_passages, search_engine
from ibidem.retrieval.langchain import LeadRetriever
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Engine
from ibidem_ingest.errors import UsageError


@pytest.fixture(scope="module")
def engine(passages: str) -> Iterator[Engine]:
    opened = open_engine(passages, "passages")
    yield opened
    opened.close()


def ids(found: list[FoundPassage]) -> set[str]:
    return {each.id for each in found}


def test_k_different_texts_are_found_with_their_copies_named(engine: Engine) -> None:
    found = find_passages(search_engine(engine), "rent", 4)
    assert len(found) == 4
    assert {"next", "window", "other"} < ids(found)
    (lead,) = [each for each in found if each.id in {"a", "copy of a"}]
    (copy,) = lead.metadata["duplicates"]
    assert copy["reason"] == "the same words in the same order"


def test_passages_that_overlap_in_their_document_count_as_one(engine: Engine) -> None:
    found = find_passages(search_engine(engine), "rent", 4, document_field="meta.document")
    assert len(found) == 3
    (neighbour,) = [each for one in found for each in one.metadata["duplicates"] if "side" in each]
    assert (neighbour["id"], neighbour["side"]) in {("window", "after"), ("next", "before")}
    assert neighbour["reason"].endswith("it in the same document, 6 words overlap")


def test_filters_hold(engine: Engine) -> None:
    found = find_passages(search_engine(engine, ("meta.document=contract.pdf",)), "rent", 4)
    assert ids(found) == {"other"}


def test_pages_are_read_until_there_are_k_texts() -> None:
    def page(_: str, number: int, size: int, cursor: str) -> dict[str, Any]:
        assert cursor == ("" if number == 1 else f"after {number - 1}")
        hits = [
            {"_id": f"{number}.{row}", "_source": {"text": " ".join(f"w{at}" for at in range(row * 5, row * 5 + 10)),
             "file": f"file {number}"}, "_dedupe": {}} for row in range(size)
        ]  # fmt: skip
        return {"hits": {"hits": hits}, "dedupe": {"cursor": f"after {number}"}}

    search: PageSearch = page
    assert [each.id for each in find_passages(search, "w", 2, document_field="file")] == ["1.0", "2.0"]


@pytest.mark.parametrize("k", [0, 1_001, 10**6, "ten", True, None])
def test_a_number_of_passages_that_no_page_has_is_refused(k: Any, engine: Engine) -> None:
    with pytest.raises(UsageError, match=r"k is .*give a whole number from 1 to 1,000"):
        find_passages(search_engine(engine), "rent", k)


def test_a_field_without_text_is_named(engine: Engine) -> None:
    with pytest.raises(UsageError, match=r"'body', no text.*text_field"):
        find_passages(search_engine(engine), "rent", 1, text_field="body")


def test_langchain_gets_the_passages_with_their_fields(engine: Engine) -> None:
    (found,) = LeadRetriever(search=search_engine(engine, ("meta.document=contract.pdf",)), k=2).invoke("rent")
    assert (found.id, found.metadata["meta"], found.metadata["duplicates"]) == (
        "other",
        {"document": "contract.pdf"},
        [],
    )
