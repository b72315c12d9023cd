"""What an index finds of a document's vectors, the JSON that was read has, also right after a write."""

import json
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_engines.cluster.whole_documents import holds
from ibidem_engines.connect import open_reindex_source
from ibidem_engines.engine import FieldCounts, ReindexSource
from ibidem_engines.stored_groups import SeqNoRange
from servers.indices import ask

INDEX = f"meanings-of-{os.getpid()}"
VECTOR = {"type": "dense_vector", "dims": 2}
MAPPING = {"properties": {"text": {"type": "text"}, "meaning": VECTOR, "kept": {"properties": {"meaning": VECTOR}}}}


@pytest.fixture
def source(elasticsearch: str) -> Iterator[ReindexSource]:
    """An index of others with vectors in documents, and in objects of theirs."""
    ask(elasticsearch, "DELETE", f"/{INDEX}?ignore_unavailable=true")
    ask(elasticsearch, "PUT", f"/{INDEX}", json.dumps({"mappings": MAPPING}))
    source = open_reindex_source(f"{elasticsearch}?fields=text=text,meta=", INDEX)
    yield source
    source.close()
    ask(elasticsearch, "DELETE", f"/{INDEX}")


@pytest.mark.server("elasticsearch")
def test_a_document_is_read_with_the_vectors_that_it_has_now(elasticsearch: str, source: ReindexSource) -> None:
    ask(elasticsearch, "PUT", f"/{INDEX}/_doc/a", json.dumps({"text": "grain", "meaning": [1, 0]}))
    ask(elasticsearch, "PUT", f"/{INDEX}/_doc/b", json.dumps({"text": "barley", "kept": {"meaning": [1, 1]}}))
    ((part, last),) = source.newest().items()
    names = source.names(SeqNoRange(part, 0, last), 10)
    ask(elasticsearch, "PUT", f"/{INDEX}/_doc/a", json.dumps({"text": "grain", "kept": {"meaning": [0, 1]}}))
    first, second = source.read(names, raw=True)
    assert json.loads(first.raw) == {"text": "grain", "kept": {"meaning": [0, 1]}}
    assert json.loads(second.raw)["kept"]["meaning"] == pytest.approx([1, 1])
    assert first.document.meta == second.document.meta == {}
    assert source.count_fields() == FieldCounts(2, {"meaning": 0, "kept.meaning": 2})


NAMES = st.lists(st.sampled_from(["a", "b", "a.b"]), min_size=1, max_size=4)


@given(NAMES, st.booleans())
def test_a_value_is_found_under_names_with_dots_and_in_lists(names: list[str], in_lists: bool) -> None:
    source: object = 1
    for name in reversed(names):
        source = {name: [{"c": 2}, source] if in_lists else source}
    path = ".".join(names).split(".")
    assert holds(source, path)
    assert not holds(source, [*path, "c"]) or in_lists
    assert not holds(source, ["c", *path])
