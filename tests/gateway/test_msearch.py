"""Several searches in one request."""

import pytest

from ibidem.gateway.errors import HttpError
from ibidem.gateway.msearch import read_lines
from ibidem_core.settings import Settings
from ibidem_ingest.errors import UsageError

NEWS = Settings(index="news")
LINES = {"content-type": "application/x-ndjson"}


def read(content: bytes, indexes: str = "", query: str = ""):
    return read_lines(indexes, query, LINES, content, NEWS)


def test_each_line_says_for_itself_whether_it_is_grouped() -> None:
    lines = read(b'{"index":"news"}\n{"dedupe":"indent","size":1}\n{"index":["news"]}\r\n{}\r\n').lines
    assert [line.passes for line in lines] == [False, True]
    assert lines[1].content == b'{"index":["news"]}\n{}\n'


def test_the_query_string_speaks_for_all_and_the_path_for_heads_without_an_index() -> None:
    lines = read(b"\n{}\n{}\n{}\n", "news", "dedupe=collapse&max_concurrent_searches=2")
    assert [line.request.dedupe.mode for line in lines.lines] == ["collapse"] * 2  # type: ignore[union-attr]
    assert (lines.path, lines.parameters) == ("/news/_msearch", {"max_concurrent_searches": "2"})


def test_a_wrong_dedupe_parameter_is_the_fault_of_one_line() -> None:
    lines = read(b'{}\n{"dedupe":"maybe"}\n{}\n{"dedupe":"indent"}\n', "news").lines
    assert isinstance(lines[0].request, UsageError)
    assert not isinstance(lines[1].request, UsageError)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"index":"secret"}\n{}\n', 403),
        (b'{"indices":["news","secret"]}\n{}\n', 403),
        (b'{"indice":"secret"}\n{}\n', 403),
        (b'{"index":"news","indices":"news"}\n{}\n', 400),
        (b"{}\n{}\n", 400),
        (b'{"index":null}\n{}\n', 400),
        (b'{"index":"news"}\n{}', 400),
        (b'{"index":"news"}\n', 400),
        (b'{"index":"news"}\n{\n', 400),
        (b'{"index":"news"}\n[]\n', 400),
        (b"", 400),
        (b'{"index":"news"}\n{"query":{"terms":{"a":{"index":"secret","id":"1","path":"b"}}}}\n', 403),
    ],
)
def test_a_line_that_cannot_be_read_or_is_not_open_stops_all(content: bytes, status: int) -> None:
    with pytest.raises(HttpError) as error:
        read(content)
    assert error.value.status == status


def test_indexes_in_the_path_are_checked_also_where_every_head_names_another() -> None:
    with pytest.raises(HttpError) as error:
        read(b'{"index":"news"}\n{}\n', "<secret>")
    assert error.value.status == 403


@pytest.mark.parametrize("query", ["index=secret", "source={}"])
def test_the_query_string_names_no_index(query: str) -> None:
    with pytest.raises(HttpError) as error:
        read(b"{}\n{}\n", "news", query)
    assert error.value.status == 400
