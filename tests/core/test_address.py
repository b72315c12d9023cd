"""A user's own index keeps its names; ours are found through a list of them.

The address of a cluster says where it is and how to enter, and keeps its secrets to itself.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem_core.address import Fields, parse_address, parse_fields, read_path, set_path
from ibidem_ingest.errors import UsageError

PATHS = st.lists(st.text("abc", min_size=1), min_size=1, max_size=3).map(".".join)


def test_what_is_not_named_keeps_our_name() -> None:
    assert parse_fields("title=headline, text=article.body,meta=") == Fields(
        title="headline", text="article.body", meta=""
    )


def test_nothing_named_is_an_index_of_our_own() -> None:
    assert parse_fields("").are_own
    assert not parse_fields("text=body").are_own


@pytest.mark.parametrize("text", ["heading=h", "title", "title=", "=h", "text=a,text=b", "text=ibidem.content"])
def test_a_name_that_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_fields(text)


@given(PATHS, st.text())
def test_what_is_put_at_a_path_is_found_there(path: str, value: str) -> None:
    source: dict[str, object] = {}
    set_path(source, path, value)
    assert read_path(source, path) == value


def test_a_name_with_a_dot_is_found_as_it_is_written() -> None:
    assert read_path({"article.body": "text"}, "article.body") == "text"


def test_nothing_is_found_where_nothing_is() -> None:
    assert read_path({"article": "text"}, "article.body") is None


def test_hosts_ports_and_credentials_are_read() -> None:
    address = parse_address("elasticsearch+https://ann:s%40cret@one:9243,two,[::1]:9200/")
    assert address.hosts == (("one", 9243), ("two", 443), ("[::1]", 9200))
    assert (address.kind, address.scheme, address.user, address.password) == (
        "elasticsearch",
        "https",
        "ann",
        "s@cret",
    )
    assert address.urls == ["https://one:9243", "https://two:443", "https://[::1]:9200"]


def test_options_are_read(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.touch()
    address = parse_address(f"opensearch+https://host?ca={ca}&api_key=abc&layout=lean&timeout=5&fields=text=body")
    assert (address.ca, address.api_key, address.layout, address.timeout) == (str(ca), "abc", "lean", 5.0)
    assert address.fields == Fields(text="body")


def test_an_address_is_shown_without_its_secrets() -> None:
    address = parse_address("opensearch+http://ann:s3cret@host/")
    assert address.label == "opensearch+http://host:9200"
    assert "s3cret" not in repr(address)
    assert "k3y" not in repr(parse_address("opensearch+http://host/?api_key=k3y"))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("opensearch://host", "not valid"),
        ("opensearch+ftp://host", "not valid"),
        ("opensearch+http://", "not valid"),
        ("opensearch+http://host/index", "not valid"),
        ("opensearch+http://host\udcff", "not valid"),
        ("opensearch+http://host:99999", "host number 1 "),
        ("opensearch+http://host,,other", "host number 2 "),
        ("opensearch+http://host/?password=x", "option 'password'.*api_key, ca, layout"),
        ("opensearch+http://host/?layout=full&s3cret=x", "option number 2 .*api_key, ca"),
        ("opensearch+http://host/?layout=fat", "layout 'fat' is unknown.*full, lean"),
        ("opensearch+http://host/?timeout=soon", "timeout 'soon'.*seconds"),
        ("opensearch+http://host/?ca=/etc/hosts", "'ca'.*needs https"),
        ("opensearch+https://host/?ca=/nowhere.pem", "'/nowhere.pem' does not exist"),
        ("opensearch+http://ann:pw@host/?api_key=x", "a user and an API key"),
        ("opensearch+http://host/?fields=heading=h", "'heading'.*title, text, date"),
    ],
)
def test_what_is_not_understood_is_named(url: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_address(url)


@pytest.mark.parametrize("url", ["opensearch+x://ann:s3cret@host", "opensearch+http://ann:s3cret@host/?api_key=s3cret"])
def test_no_message_repeats_a_secret(url: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_address(url)
    assert "s3cret" not in str(raised.value)
