"""The layout of an index in a cluster."""

import pytest

from ibidem_engines.cluster.index import template
from ibidem_ingest.signatures.schema import SCHEMA


@pytest.mark.parametrize("kind", ["full", "lean"])
def test_an_index_says_what_it_was_made_for(kind: str) -> None:
    metadata = template(kind)["mappings"]["_meta"]["ibidem"]
    assert metadata == {"schema": SCHEMA, "layout": kind}


def test_look_up_values_are_words_of_one_text_without_doc_values_and_what_is_collapsible_has_them() -> None:
    properties = template("full")["mappings"]["properties"]["ibidem"]["properties"]
    assert properties["keys"] == {"type": "text", "analyzer": "whitespace", "index_options": "docs", "norms": False}
    for name in ("content", "fingerprint", "profile", "group"):
        assert properties[name] == {"type": "keyword"}
    assert properties["packed"] == properties["long"] == {"type": "binary", "doc_values": True}


@pytest.mark.parametrize("kind", ["full", "lean"])
def test_what_can_be_made_again_is_kept_out_of_the_source(kind: str) -> None:
    excludes = template(kind)["mappings"]["_source"]["excludes"]
    hashes = ["fingerprint", "profile"] if kind == "full" else []
    assert excludes == sorted(f"ibidem.{name}" for name in ["content", "keys", "long", "packed", *hashes])


def test_nothing_of_a_document_is_mapped_by_guess() -> None:
    for kind in ("full", "lean"):
        mappings = template(kind)["mappings"]
        assert mappings["dynamic"] is False
        assert mappings["properties"]["ibidem"]["dynamic"] is False
        assert mappings["properties"]["meta"] == {"type": "object", "enabled": False}
