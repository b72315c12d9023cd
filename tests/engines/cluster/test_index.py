"""The layout of an index is the same for both servers, and is kept in versioned files."""

import pytest

from ibidem_engines.cluster import elasticsearch, opensearch
from ibidem_engines.cluster.index import template
from ibidem_ingest.signatures.schema import SCHEMA


@pytest.mark.parametrize("kind", ["full", "lean"])
def test_both_servers_are_given_the_same_fields(kind: str) -> None:
    assert template(opensearch.DIALECT, kind)["mappings"] == template(elasticsearch.DIALECT, kind)["mappings"]


@pytest.mark.parametrize("kind", ["full", "lean"])
def test_an_index_says_what_it_was_made_for(kind: str) -> None:
    metadata = template(opensearch.DIALECT, kind)["mappings"]["_meta"]["ibidem"]
    assert metadata == {"schema": SCHEMA, "layout": kind}


def test_look_up_values_are_words_of_one_text_without_doc_values_and_what_is_collapsible_has_them() -> None:
    properties = template(opensearch.DIALECT, "full")["mappings"]["properties"]["ibidem"]["properties"]
    assert properties["keys"] == {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False}
    for name in ("content", "fingerprint", "fingerprint_binned", "profile", "group"):
        assert properties[name] == {"type": "keyword"}
    assert properties["packed"] == properties["long"] == {"type": "binary", "doc_values": True}


@pytest.mark.parametrize("kind", ["full", "lean"])
def test_what_can_be_made_again_is_kept_out_of_the_source(kind: str) -> None:
    excludes = template(opensearch.DIALECT, kind)["mappings"]["_source"]["excludes"]
    hashes = ["fingerprint", "fingerprint_binned", "profile"] if kind == "full" else []
    assert excludes == sorted(f"ibidem.{name}" for name in ["content", "keys", "long", "packed", *hashes])


def test_nothing_of_a_document_is_mapped_by_guess() -> None:
    for kind in ("full", "lean"):
        mappings = template(opensearch.DIALECT, kind)["mappings"]
        assert mappings["dynamic"] is False
        assert mappings["properties"]["ibidem"]["dynamic"] is False
        assert mappings["properties"]["meta"] == {"type": "object", "enabled": False}
