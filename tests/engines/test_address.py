"""The address of a cluster says where it is and how to enter, and keeps its secrets to itself."""

from pathlib import Path

import pytest

from ibidem_engines.address import parse_address
from ibidem_engines.fields import Fields
from ibidem_ingest.errors import UsageError


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
    assert address.shown == "opensearch+http://host:9200"
    assert "s3cret" not in repr(address)
    assert "k3y" not in repr(parse_address("opensearch+http://host/?api_key=k3y"))


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("opensearch://host", "not understood"),
        ("opensearch+ftp://host", "not understood"),
        ("opensearch+http://", "not understood"),
        ("opensearch+http://host/index", "not understood"),
        ("opensearch+http://host\udcff", "not understood"),
        ("opensearch+http://host:99999", "host number 1 "),
        ("opensearch+http://host,,other", "host number 2 "),
        ("opensearch+http://host/?password=x", "option 'password'.*api_key, ca, layout"),
        ("opensearch+http://host/?layout=full&s3cret=x", "option number 2 .*api_key, ca"),
        ("opensearch+http://host/?layout=fat", "layout 'fat' is unknown.*full, lean"),
        ("opensearch+http://host/?timeout=soon", "timeout 'soon'.*seconds"),
        ("opensearch+http://host/?ca=/etc/hosts", "'ca'.*needs https"),
        ("opensearch+https://host/?ca=/nowhere.pem", "'/nowhere.pem' is not there"),
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
