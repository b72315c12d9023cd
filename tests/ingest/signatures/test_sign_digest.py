"""Equal digests mean that writing a record again would change nothing."""

from dataclasses import replace

import pytest
import xxhash

from ibidem_ingest.document import Document
from ibidem_ingest.signatures.sign import digest

DOCUMENT = Document(
    "a",
    "We the People",
    "Preamble",
    "1787-09-17",
    "Convention",
    "https://a.org",
    "en",
    1,
    {"page": 1, "judge": {"x": 1}},
)


def test_the_version_is_left_out() -> None:
    assert digest(DOCUMENT, "t") == digest(replace(DOCUMENT, version=None), "t")


@pytest.mark.parametrize(
    "change",
    [
        {"id": "b"},
        {"text": "We"},
        {"title": ""},
        {"date": "1787"},
        {"source": ""},
        {"url": ""},
        {"language": "fr"},
        {"meta": {}},
    ],
)
def test_every_other_field_counts(change: dict[str, object]) -> None:
    assert digest(replace(DOCUMENT, **change), "t") != digest(DOCUMENT, "t")


def test_the_table_and_the_schema_count() -> None:
    assert len({digest(DOCUMENT, "t"), digest(DOCUMENT, "u"), digest(DOCUMENT, "t", schema="0")}) == 3


def test_the_order_of_fields_does_not_count() -> None:
    other = replace(DOCUMENT, meta={"judge": {"x": 1}, "page": 1})
    assert digest(other, "t") == digest(DOCUMENT, "t")


def test_it_is_the_hash_of_the_canonical_json() -> None:
    fields = '{"date":"","id":"é","language":"en","meta":{},'
    members = '"schema":"1","source":"","table":"","text":"","title":"","url":""}'
    assert digest(Document("é", ""), "", schema="1") == xxhash.xxh3_128_hexdigest((fields + members).encode())
