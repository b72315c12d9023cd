"""A stored record is read back unchanged; how an index stores `_source` decides what may be written from an answer."""

import base64
import json
import os
from binascii import a2b_base64
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.address import Fields, parse_fields
from ibidem_core.errors import Permanent
from ibidem_engines.cluster import lookup
from ibidem_engines.cluster.index import HOLDERS, MappedField, mapped_fields, write_order
from ibidem_engines.cluster.lookup import read_hits
from ibidem_engines.cluster.source import (
    DERIVED_SOURCE,
    EXCLUDE_VECTORS,
    SOURCE_MODE,
    SourceStorage,
    UnstorableRecord,
    as_document,
    as_source,
    iter_raw_sources,
    read_storage,
    read_version,
    remove_member,
    signed_part,
    source_document,
    with_member,
)
from ibidem_engines.connect import open_engine
from ibidem_engines.engine import Destination, FieldCounts, ReindexSource, SourceDocument
from ibidem_engines.stored_groups import Hit, Name, SeqNoRange, hit_names, read_packed
from ibidem_ingest.document import Document
from ibidem_ingest.signatures.lookup_keys import stored_keys
from ibidem_ingest.signatures.packed import PackedValues
from ingest.signatures.test_packed import values
from ingest.test_document import DOCUMENTS
from servers.indices import ask
from support.signed_records import make_record

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text().filter(lambda name: name != "ibidem"), VALUES, max_size=4)
STYLES = st.sampled_from([(", ", ": "), (",", ":"), (" ,\n ", "\t: ")])


def write_json(value: object, style: tuple[str, str], *, is_plain: bool) -> str:
    return json.dumps(value, separators=style, ensure_ascii=is_plain)


OWN = Fields()


@given(DOCUMENTS, st.sampled_from(["full", "lean"]))
def test_a_document_is_put_together_again(document: Document, layout: str) -> None:
    record = replace(make_record("a"), document=document, version=1 if document.version is None else document.version)
    source = orjson.loads(as_source(record, OWN, layout, *stored_keys([(record.packed, record.long)])))
    assert as_document(document.id, source, OWN) == document
    assert (read_version(source), source["ibidem"]["idf"]) == (record.version, record.signatures.idf)


@pytest.mark.parametrize("name", ["headline", "ibidem"])
def test_a_value_of_meta_that_would_overwrite_a_field_is_refused(name: str) -> None:
    fields = parse_fields("title=headline,meta=")
    with pytest.raises(UnstorableRecord, match=name):
        as_source(make_record("a", title="Grain", meta={name: "y"}), fields, "full", {})


def test_a_document_that_ibidem_never_wrote_is_read_as_far_as_its_fields_say_what_ours_do() -> None:
    fields = parse_fields("title=headline,text=body,date=published,meta=")
    source = {"headline": ["One", "Two"], "body": 7, "published": "last week", "place": "Chicago"}
    document = as_document("t", source, fields)
    assert (document.title, document.text, document.date) == ("One\nTwo", "7", "")
    unread = {"place": "Chicago", "published": "last week"}
    assert (document.meta, document.version, read_version(source)) == (unread, None, 0)


def test_the_hash_of_a_mail_is_found_where_another_program_wrote_the_mail() -> None:
    source = orjson.loads(signed_part(make_record("a", meta={"message-id": "<1@x>"}), "full", (), {}))
    assert source["doc"]["ibidem"]["meta"] == ["message-id=<1@x>", "mih=3d01a3d9cf298610632c542db943942f"]


@given(st.lists(OBJECTS | st.none(), max_size=3), STYLES)
def test_each_document_has_the_json_that_is_there(
    sources: list[dict[str, object] | None], style: tuple[str, str]
) -> None:
    raws = ["" if source is None else write_json(source, style, is_plain=True) for source in sources]
    docs = [
        f'{{"_id":"{at}","found":{"true" if raw else "false"}' + (f',"_source":{raw}}}' if raw else "}")
        for at, raw in enumerate(raws)
    ]
    assert [raw.decode() for raw in iter_raw_sources('{"docs":[' + ",".join(docs) + "]}")] == raws


def read_one(source: dict[str, object]) -> SourceDocument:
    doc = {"_index": "news", "_id": "a", "found": True, "_version": 3, "_seq_no": 7, "_primary_term": 1}
    hit = doc | {"_source": source}
    (raw,) = iter_raw_sources(json.dumps({"docs": [hit]}))
    return source_document(hit, Name("news", "a", 7), parse_fields("text=body,meta="), raw)


def test_a_packed_value_that_another_program_damaged_counts_as_none() -> None:
    source = {"body": "grain", "ibidem": {"packed": "%", "record": 5}}
    document = read_one(source)
    assert (document.packed, document.digest, document.document.text) == (b"", "", "grain")
    assert (document.state, document.engine_version) == ((7, 1), 3)
    assert json.loads(document.raw) == source


def test_a_document_that_names_no_language_is_signed_by_the_one_of_its_text() -> None:
    text = "Der Mieter hat die Miete am ersten Tag jedes Monats im Voraus und ohne Aufforderung zu zahlen."
    named = {language: read_one({"body": text, "language": language}) for language in ("en", "pt-BR")}
    found = {name: each.document.language for name, each in (named | {"": read_one({"body": text})}).items()}
    assert found == {"": "de", "en": "en", "pt-BR": "pt"}


@given(OBJECTS, STYLES, st.booleans())
def test_a_new_member_changes_no_other_byte(source: dict[str, object], style: tuple[str, str], is_plain: bool) -> None:
    raw = write_json(source, style, is_plain=is_plain).encode("utf-8", "surrogatepass")
    with_it = with_member(raw, "ibidem", b'{"schema":"1"}')
    addition = b',"ibidem":{"schema":"1"}}' if source else b'"ibidem":{"schema":"1"}}'
    assert with_it == raw.rstrip()[:-1] + addition


@given(OBJECTS, STYLES, st.booleans())
def test_a_member_that_was_added_and_is_taken_out_leaves_what_was_there(
    source: dict[str, object], style: tuple[str, str], is_plain: bool
) -> None:
    raw = write_json(source, style, is_plain=is_plain).encode("utf-8", "surrogatepass")
    assert remove_member(with_member(raw, "ibidem", b'{"schema":"1"}'), "ibidem") == raw
    assert remove_member(raw, "ibidem") == raw


@given(OBJECTS, VALUES, OBJECTS, STYLES)
def test_a_member_taken_out_takes_no_other_with_it(
    before: dict[str, object], old: object, after: dict[str, object], style: tuple[str, str]
) -> None:
    after = {name: value for name, value in after.items() if name not in before}
    raw = write_json(before | {"ibidem": old} | after, style, is_plain=True)
    assert list(json.loads(remove_member(raw.encode(), "ibidem")).items()) == [*before.items(), *after.items()]


@given(OBJECTS, VALUES, OBJECTS, STYLES)
def test_a_member_that_is_there_is_replaced_in_its_place(
    before: dict[str, object], old: object, after: dict[str, object], style: tuple[str, str]
) -> None:
    after = {name: value for name, value in after.items() if name not in before}
    source = before | {"ibidem": old} | after
    raw = write_json(source, style, is_plain=True)
    assert json.loads(with_member(raw.encode(), "ibidem", b"7")) == before | {"ibidem": 7} | after
    expected = raw.replace(f'"ibidem"{style[1]}{write_json(old, style, is_plain=True)}', f'"ibidem"{style[1]}7', 1)
    assert with_member(raw.encode(), "ibidem", b"7").decode() == expected


def test_numbers_that_no_float_holds_stay_as_they_are() -> None:
    raw = b'{"price": 1.50, "exact": 12345678901234567890.123456789, "large": 1E400}'
    assert with_member(raw, "ibidem", b"{}") == raw[:-1] + b',"ibidem":{}}'


INDEX = f"meanings-of-{os.getpid()}"
VECTOR = {"type": "dense_vector", "dims": 2}
MAPPING = {"properties": {"text": {"type": "text"}, "meaning": VECTOR, "kept": {"properties": {"meaning": VECTOR}}}}


@pytest.fixture
def source(elasticsearch: str) -> Iterator[ReindexSource]:
    """An index of others with vectors in documents, and in objects of theirs."""
    ask(elasticsearch, "DELETE", f"/{INDEX}?ignore_unavailable=true")
    ask(elasticsearch, "PUT", f"/{INDEX}", json.dumps({"mappings": MAPPING}))
    source = open_engine(f"{elasticsearch}?fields=text=text,meta=", INDEX).reindex_source()
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
    assert [each for each in mapped_fields(mapping) if each.type not in (*HOLDERS, "alias")] == [
        MappedField("body.vector", "dense_vector", "body.vector"),
        MappedField("parts.text", "text", "parts.text", "parts"),
        MappedField("parts.text.exact", "keyword", "parts.text", "parts"),
    ]


def read_plainly(answer: Mapping[str, Any]) -> list[Hit]:
    return [make_hit(hit) for hit in answer["hits"]["hits"]]


def make_hit(hit: Mapping[str, Any]) -> Hit:
    values = hit.get("fields", {}).get("ibidem.packed")
    try:
        packed = a2b_base64(f"{values[0]}==".replace("-", "+").replace("_", "/")) if values else None
    except ValueError:
        packed = None
    (name,) = PackedValues.join([packed]).ids
    if hit.get("_id", name) != name:  # it is of another document, or of none
        packed = None
    return Hit(
        hit["_index"],
        hit.get("_id") or name,
        hit.get("_score") or 0.0,
        packed,
        write_order(hit["_seq_no"]) if "_seq_no" in hit else 0,
        tuple(hit["sort"]) if "sort" in hit else (),
    )


@st.composite
def fields(draw: st.DrawFn) -> dict[str, Any]:
    """Forms of a packed value in answers: as OpenSearch, as Elasticsearch, missing, or no base64."""
    value = draw(values()) or b""
    hits_by_row, safe = base64.b64encode(value).decode(), base64.urlsafe_b64encode(value).decode().rstrip("=")
    packed_value = draw(
        st.one_of(
            st.sampled_from([hits_by_row, safe]),
            st.sampled_from([safe, safe[:-1], hits_by_row + "=", "=", "", "é", "a b=c", safe[:40] + "==" + safe[40:]]),
            st.text("AZaz09+/-_= \né", max_size=9),
        )
    )
    wrong: list[dict[str, Any]] = [{}, {"fields": {}}, {"fields": {"ibidem.packed": []}}]
    return draw(st.sampled_from([{"fields": {"ibidem.packed": [packed_value]}}] * 9 + wrong))


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    """Answers with hits of several indexes, with or without ids, numbers of writes and sort values."""
    ids, numbered_runs, sorted_by = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    hits = []
    for at in range(draw(st.integers(0, 8))):
        hit: dict[str, Any] = {"_index": draw(st.sampled_from(["news", "olds"])), **draw(fields())}
        hit["_score"] = None if sorted_by else draw(st.sampled_from([2.5, 1.0, 0.0]))
        if ids:
            hit["_id"] = draw(st.sampled_from(["a", "a-9", "a-10", "é", "a\0", "copy" * 20]))
        if numbered_runs:
            hit["_seq_no"] = at
        if sorted_by:
            hit["sort"] = [draw(st.integers(0, 3)), "x"]
        hits.append(hit)
    return {"hits": {"hits": hits}}


@pytest.fixture(params=["pybase64", "binascii"], scope="module")
def _decoder(request: pytest.FixtureRequest) -> Iterator[None]:
    """Decode with the library that may be installed, and without it."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "binascii":
            patch.setattr(lookup, "FAST_BASE64", None)
        else:
            pytest.importorskip("pybase64")
        yield


@pytest.mark.usefixtures("_decoder")
@given(answers())
def test_columns_hold_what_each_hit_says(answer: dict[str, Any]) -> None:
    hits_by_row, columns = read_plainly(answer), read_hits(answer)
    assert list(columns) == hits_by_row
    assert hit_names(columns) == [(hit.index, hit.id) for hit in hits_by_row]
    assert list(read_packed(columns)) == list(read_packed(hits_by_row)) == [hit.packed for hit in hits_by_row]
    assert all(columns.ids) == all(hit.id for hit in hits_by_row)


@given(answers(), st.integers(0, 8))
def test_columns_are_cut_and_put_in_order_as_hits_are(answer: dict[str, Any], size: int) -> None:
    hits_by_row, columns = read_plainly(answer), read_hits(answer)
    ranked = sorted(hits_by_row, key=lambda hit: (-hit.score, hit.index, hit.id))
    assert list(columns.sort()) == ranked
    assert list(columns.sort()[:size]) == ranked[:size]
    assert list(columns[size:]) == hits_by_row[size:]
