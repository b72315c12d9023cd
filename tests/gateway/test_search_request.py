"""A search in the engine's own language, read and checked."""

import gzip
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.gateway.errors import HttpError
from ibidem.gateway.search_request import read_request
from ibidem_core.settings import Settings
from ibidem_dedupe.request import dedupe_request
from ibidem_ingest.errors import IbidemError, UsageError

NEWS = Settings(index="news", gateway_body=10_000)
JSON = {"content-type": "application/json"}


def read(query: str = "", content: bytes = b"", indexes: str = "news", **headers: str):
    return read_request(indexes, query, JSON | headers, content, NEWS)


def refuse(*arguments: object, **keywords: str) -> HttpError:
    with pytest.raises(HttpError) as error:
        read(*arguments, **keywords)  # type: ignore[arg-type]
    return error.value


def test_what_is_ours_is_taken_out_and_the_rest_stays() -> None:
    request = read("dedupe=collapse&routing=a", b'{"dedupe_window": 100, "size": 5}')
    assert (request.parameters, request.body) == ({"routing": "a"}, {"size": 5})
    assert (request.dedupe.mode, request.dedupe.window) == ("collapse", 100)


def test_without_a_dedupe_parameter_nothing_is_asked() -> None:
    assert read("q=dedupe", b'{"query": {"match": {"text": "dedupe"}}}').dedupe is None


def test_one_name_in_both_places_is_refused_where_they_differ() -> None:
    assert read("dedupe=indent", b'{"dedupe": "indent"}').dedupe.mode == "indent"
    with pytest.raises(UsageError, match=r"dedupe_window is '100' as a parameter and '200' in the body"):
        read("dedupe=indent&dedupe_window=100", b'{"dedupe_window": 200}')


def test_figures_without_a_mode_are_refused_instead_of_passed_over() -> None:
    with pytest.raises(UsageError, match="dedupe_level is given without dedupe"):
        dedupe_request({"dedupe_level": "near"}, {})


@pytest.mark.parametrize("value", ["[]", "{}", "null", "1.5"])
def test_a_value_that_no_query_string_could_hold_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="dedupe_window"):
        read("dedupe=indent", f'{{"dedupe_window": {value}}}'.encode())


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b'{"size":1,"size":2}', 400),
        (b'{"a":{"b":1,"\\u0062":2}}', 400),
        (b"{}{}", 400),
        (b"[]", 400),
        (b"\xff", 400),
        (b"null", 400),
        (b'{"a":' * 3_000, 400),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(content: bytes, status: int) -> None:
    assert refuse("", content).status == status


@pytest.mark.parametrize("kind", ["application/yaml", "application/cbor", "application/smile", "text/plain", ""])
def test_a_body_in_a_form_that_cannot_be_looked_into_is_refused(kind: str) -> None:
    with pytest.raises(HttpError) as error:
        read_request("news", "", {"content-type": kind}, b"{}", NEWS)
    assert error.value.status == 406


@pytest.mark.parametrize(
    "kind", ["application/json; charset=UTF-8", "application/vnd.elasticsearch+json; compatible-with=8"]
)
def test_the_forms_of_the_official_clients_are_taken(kind: str) -> None:
    assert read_request("news", "", {"content-type": kind}, b'{"size":1}', NEWS).body == {"size": 1}


def test_a_packed_body_is_read_and_one_that_unpacks_to_too_much_is_not() -> None:
    packed = {"content-encoding": "gzip"}
    assert read("", gzip.compress(b'{"size":1}'), **packed).body == {"size": 1}
    assert refuse("", gzip.compress(b" " * 1_000_000), **packed).status == 413
    assert refuse("", gzip.compress(b'{"size":1}')[:-9], **packed).status == 413
    assert refuse("", b"no gzip", **packed).status == 400
    assert refuse("", gzip.compress(b"{}") + gzip.compress(b"{}"), **packed).status == 400
    assert refuse("", gzip.compress(b"{}") + b"\0", **packed).status == 400
    assert refuse("", b"{}", **{"content-encoding": "br"}).status == 415


@pytest.mark.parametrize("query", ["q=a&q=b", "q=%FF", "a&b&" * 300, "index=secret"])
def test_a_query_string_that_could_be_read_in_two_ways_is_refused(query: str) -> None:
    assert refuse(query).status == 400


@pytest.mark.parametrize(
    "body",
    [
        '{"query":{"terms":{"id":{"index":"secret","id":"1","path":"ids"}}}}',
        '{"query":{"more_like_this":{"like":[{"_index":"secret","_id":"1"}]}}}',
        '{"query":{"geo_shape":{"place":{"indexed_shape":{"index":"secret","id":"1"}}}}}',
        '{"query":{"percolate":{"field":"q","index":"secret","id":"1"}}}',
        '{"runtime_mappings":{"a":{"type":"lookup","target_index":"secret","input_field":"b"}}}',
        '{"aggs":{"a":{"filter":{"bool":{"must":[{"terms":{"id":{"index":"secret","id":"1","path":"x"}}}]}}}}}',
    ],
)
def test_a_query_reads_no_index_that_is_not_open(body: str) -> None:
    assert refuse("", body.encode()).status == 403
    assert read("", body.replace("secret", "news").encode()).indexes == "news"
    escaped = body.replace("secret", "\\u0073ecret").replace('"index"', '"\\u0069ndex"')
    assert refuse("", escaped.encode()).status == 403


def test_a_query_in_the_query_string_is_looked_into_as_well() -> None:
    source = '{"query":{"terms":{"id":{"index":"secret","id":"1","path":"ids"}}}}'
    assert refuse(f"source={source}").status == 403


def test_a_field_called_index_is_no_index() -> None:
    assert read("", b'{"query":{"term":{"index":"secret"}}}').indexes == "news"


@given(st.text(), st.binary(max_size=60), st.text(max_size=20))
def test_whatever_comes_is_read_or_refused_in_words(query: str, content: bytes, indexes: str) -> None:
    with suppress(HttpError, IbidemError):
        assert read(query, content, indexes).indexes == "news"
