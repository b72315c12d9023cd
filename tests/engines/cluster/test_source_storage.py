"""How an index stores `_source` is read from settings and mapping, and decides what may be written from an answer."""

from typing import Any

import pytest

from ibidem_core.errors import Permanent
from ibidem_engines.cluster.source_storage import (
    DERIVED_SOURCE,
    EXCLUDE_VECTORS,
    SOURCE_MODE,
    MappedField,
    SourceStorage,
    mapped_fields,
    read_storage,
)
from ibidem_engines.engine import Destination

# Effective settings of an index that Elasticsearch 9.2 or later made.
ELASTICSEARCH = {SOURCE_MODE: "STORED", EXCLUDE_VECTORS: "true"}


EVERYTHING: list[Destination] = ["place", "copy", "strip"]
COPIES: list[Destination] = ["copy", "strip"]


def mapped(kind: str) -> dict[str, Any]:
    return {"properties": {"text": {"type": "text"}, "meaning": {"type": kind}}}


@pytest.mark.parametrize(
    ("mapping", "settings", "in_part", "refused"),
    [
        # Vectors that are left out of answers stay by partial updates, and are proved in copies.
        *((mapped(kind), ELASTICSEARCH, True, []) for kind in ("dense_vector", "sparse_vector", "rank_vectors")),
        # Embeddings that the server computes are kept by partial updates, and not copied.
        *((mapped(kind), ELASTICSEARCH, True, COPIES) for kind in ("semantic_text", "semantic")),
        # A source that is not stored is left to the server; older indexes say so in the mapping.
        *((mapped("keyword"), {SOURCE_MODE: mode}, True, COPIES) for mode in ("synthetic", "SYNTHETIC", "a later one")),
        ({"_source": {"mode": "synthetic"}, "properties": {}}, {}, True, COPIES),
        # A derived one takes no fields of ibidem.
        ({}, {DERIVED_SOURCE: "true"}, True, EVERYTHING),
        # Fields that are stored nowhere.
        ({"_source": {"enabled": False}}, {}, False, EVERYTHING),
        ({"_source": {"mode": "disabled"}}, {}, False, EVERYTHING),
        ({}, {SOURCE_MODE: "disabled"}, False, EVERYTHING),
        ({"_source": {"includes": ["text"]}}, {}, False, EVERYTHING),
        ({"_source": {"excludes": ["ibidem.packed", "meaning"]}}, {}, False, EVERYTHING),
    ],
)
def test_how_documents_are_stored_decides_how_they_may_be_written(
    mapping: dict[str, Any], settings: dict[str, str], in_part: bool, refused: list[Destination]
) -> None:
    storage = read_storage("news", mapping, settings)
    assert storage.updates_in_part == in_part
    assert [target for target in EVERYTHING if refuses(storage, target)] == refused


def refuses(storage: SourceStorage, target: Destination) -> bool:
    try:
        storage.check(target)
    except Permanent:
        return True
    return False


def test_fields_that_an_answer_may_leave_out_are_known_and_named() -> None:
    assert [each.name for each in read_storage("news", mapped("dense_vector"), ELASTICSEARCH).unsure] == ["meaning"]
    synthetic = read_storage("news", mapped("keyword"), {SOURCE_MODE: "synthetic"})
    assert [each.name for each in synthetic.at_risk] == ["text", "meaning"]
    inferred = read_storage("news", mapped("semantic_text"), ELASTICSEARCH)
    with pytest.raises(Permanent, match=r"index 'news' .*field 'meaning' \(semantic_text\).*; sign it in place"):
        inferred.check("copy")
    with pytest.raises(Permanent, match=r"ctx\._source\.remove"):
        inferred.check("strip")


def test_fields_are_found_in_objects_nested_ones_and_as_parts_of_others() -> None:
    mapping = {
        "properties": {
            "ibidem": {"properties": {"packed": {"type": "binary"}}},
            "other": {"type": "alias", "path": "body.vector"},
            "raw": {"type": "object", "enabled": False},
            "body": {"properties": {"vector": {"type": "dense_vector"}}},
            "parts": {
                "type": "nested",
                "properties": {"text": {"type": "text", "fields": {"exact": {"type": "keyword"}}}},
            },
        }
    }
    assert list(mapped_fields(mapping)) == [
        MappedField("body.vector", "dense_vector", "body.vector"),
        MappedField("parts.text", "text", "parts.text", "parts"),
        MappedField("parts.text.exact", "keyword", "parts.text", "parts"),
    ]
