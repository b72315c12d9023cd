"""Addresses of engines and names of fields; records read with checks; waiting for an engine that does not answer."""

from dataclasses import dataclass

import pytest

from ibidem_core.address import Fields, parse_address, parse_fields
from ibidem_core.errors import DamagedRecord, Unavailable, retry_unavailable
from ibidem_core.records import parse_record
from ibidem_ingest.errors import UsageError


def test_what_is_not_named_keeps_our_name() -> None:
    assert parse_fields("title=headline, text=article.body,meta=") == Fields(
        title="headline", text="article.body", meta=""
    )


@pytest.mark.parametrize("text", ["heading=h", "title", "title=", "=h", "text=a,text=b", "text=ibidem.content"])
def test_a_name_that_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_fields(text)


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


@dataclass(frozen=True)
class Entry:
    """A record, as any room keeps one."""

    name: str
    count: int = 0
    pair: tuple[str, str] = ("", "")


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "name: Field required"),
        ({"name": 1}, "name: .*string"),
        ({"name": "a", "count": "2"}, "count: .*integer"),
        ({"name": "a", "pair": ["b"]}, "pair"),
        ({"name": object()}, "not JSON serializable"),
    ],
)
def test_a_damaged_record_is_named_with_the_field_at_fault_and_never_half_understood(
    values: dict[str, object], why: str
) -> None:
    with pytest.raises(DamagedRecord, match=f"kind Entry .*{why}"):
        parse_record(Entry, values)


class Busy:
    """Answers after some failures."""

    def __init__(self, failures: int, error: type[Exception] = Unavailable) -> None:
        self.calls, self._failures, self._error = 0, failures, error

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self._failures:
            raise self._error("busy")
        return "done"


def test_it_calls_again_until_there_is_an_answer() -> None:
    busy = Busy(5)
    assert retry_unavailable(busy, 600, pause=lambda _: None) == "done"
    assert busy.calls == 6


def test_waiting_is_given_up_when_the_worker_is_to_end() -> None:
    waits: list[float] = []
    with pytest.raises(Unavailable):
        retry_unavailable(Busy(10_000), 600, has_ended=lambda: len(waits) > 3, pause=waits.append)
    assert len(waits) == 4
