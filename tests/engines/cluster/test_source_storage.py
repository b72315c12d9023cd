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

TARGETS: tuple[Destination, ...] = ("place", "copy", "strip")
# Effective settings of an index that Elasticsearch 9.2 or later made.
ELASTICSEARCH = {SOURCE_MODE: "STORED", EXCLUDE_VECTORS: "true"}


def field(kind: str, **settings: str) -> SourceStorage:
    mapping = {"properties": {"text": {"type": "text"}, "meaning": {"type": kind}}}
    return read_storage("news", mapping, settings or ELASTICSEARCH)


def refused(storage: SourceStorage) -> list[Destination]:
    """Name what the index is refused for."""
    targets: list[Destination] = []
    for target in TARGETS:
        try:
            storage.check(target)
        except Permanent:
            targets.append(target)
    return targets


class TestVectors:
    @pytest.mark.parametrize("kind", ["dense_vector", "sparse_vector", "rank_vectors"])
    def test_left_out_of_answers_stay_by_partial_updates_and_are_proved_in_copies(self, kind: str) -> None:
        storage = field(kind)
        assert ([each.name for each in storage.unsure], storage.updates_in_part) == (["meaning"], True)
        assert refused(storage) == []


@pytest.mark.parametrize("kind", ["semantic_text", "semantic"])
def test_embeddings_that_the_server_computes_are_kept_by_partial_updates_and_not_copied(kind: str) -> None:
    storage = field(kind)
    assert (storage.updates_in_part, refused(storage)) == (True, ["copy", "strip"])
    with pytest.raises(Permanent, match=rf"index 'news' .*field 'meaning' \({kind}\).*; sign it in place"):
        storage.check("copy")
    with pytest.raises(Permanent, match=r"ctx\._source\.remove"):
        storage.check("strip")


class TestASourceThatIsNotStored:
    @pytest.mark.parametrize("mode", ["synthetic", "SYNTHETIC", "a later one"])
    def test_is_left_to_the_server(self, mode: str) -> None:
        storage = read_storage("news", {"properties": {"title": {"type": "keyword"}}}, {SOURCE_MODE: mode})
        assert (storage.updates_in_part, refused(storage)) == (True, ["copy", "strip"])
        assert [each.name for each in storage.at_risk] == ["title"]

    def test_is_said_by_the_mapping_of_older_indexes(self) -> None:
        storage = read_storage("news", {"_source": {"mode": "synthetic"}, "properties": {}}, {})
        assert (storage.updates_in_part, refused(storage)) == (True, ["copy", "strip"])

    def test_and_is_derived_takes_no_fields_of_ibidem(self) -> None:
        assert refused(read_storage("news", {}, {DERIVED_SOURCE: "true"})) == ["place", "copy", "strip"]


@pytest.mark.parametrize(
    ("source", "settings"),
    [
        ({"enabled": False}, {}),
        ({"mode": "disabled"}, {}),
        ({}, {SOURCE_MODE: "disabled"}),
        ({"includes": ["text"]}, {}),
        ({"excludes": ["ibidem.packed", "meaning"]}, {}),
    ],
)
def test_documents_with_fields_that_are_stored_nowhere_are_refused(
    source: dict[str, Any], settings: dict[str, str]
) -> None:
    assert refused(read_storage("news", {"_source": source}, settings)) == ["place", "copy", "strip"]


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
