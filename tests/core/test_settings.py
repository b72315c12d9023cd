"""Settings and addresses: three places in order, each value with its origin, and every mistake named."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from ibidem_core.address import parse_address
from ibidem_core.errors import DamagedRecord, parse_record
from ibidem_core.settings import load, page
from ibidem_ingest.errors import UsageError


def test_the_environment_wins_over_dotenv_and_dotenv_over_toml(tmp_path: Path) -> None:
    (tmp_path / "ibidem.toml").write_text('index = "from-toml"\nmax_text = 7\ntombstone_days = 3\n')
    (tmp_path / ".env").write_text("IBIDEM_INDEX=from-dotenv\nIBIDEM_MAX_TEXT=8\nPATH_OF_OTHERS=x\n")
    settings = load({"IBIDEM_INDEX": "from-environment"}, tmp_path)
    assert (settings.index, settings.max_text, settings.tombstone_days) == ("from-environment", 8, 3)
    assert [settings.origin(name) for name in ("index", "max_text", "tombstone_days", "lease")] == [
        "environment",
        ".env",
        "ibidem.toml",
        "default",
    ]


SERVER = "opensearch+http://host:9200"


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({"IBIDEM_MAX_TEXT": "many"}, ["IBIDEM_MAX_TEXT", "environment", "many", "integer"]),
        ({"IBIDEM_TRIES": "0"}, ["IBIDEM_TRIES", "greater than or equal to 1"]),
        (
            {"IBIDEM_ENGINE": "mysql://x"},
            ["'mysql://x'", "unknown kind", "Use sqlite:///…, opensearch+http://… or elasticsearch+http://…"],
        ),
        ({"IBIDEM_BROKER": "sqs:///queue"}, ["IBIDEM_BROKER", "amqp", "redis"]),
        ({"IBIDEM_INDEX": "News"}, ["IBIDEM_INDEX", "News", "lower-case"]),
        ({"IBIDEM_INDX": "news"}, ["IBIDEM_INDX", "IBIDEM_INDEX"]),
        (
            {"IBIDEM_ENGINE": SERVER, "IBIDEM_FIELDS": "heading=h"},
            ["IBIDEM_FIELDS", "environment", "'heading'", "title, text, date"],
        ),
        ({"IBIDEM_ENGINE": SERVER, "IBIDEM_FIELDS": "title"}, ["IBIDEM_FIELDS", "'title'", "title=headline"]),
        (
            {"IBIDEM_ENGINE": f"{SERVER}/?fields=text=body", "IBIDEM_FIELDS": "text=content"},
            ["IBIDEM_FIELDS", "text=body", "one place"],
        ),
        ({"IBIDEM_ENGINE": "sqlite:///x.sqlite", "IBIDEM_FIELDS": "text=body"}, ["IBIDEM_FIELDS", "SQLite"]),
    ],
)
def test_a_wrong_variable_is_an_error_that_names_it_and_what_is_right(
    environment: dict[str, str], names: list[str], tmp_path: Path
) -> None:
    check_refused(environment, tmp_path, names)


def check_refused(environment: dict[str, str], folder: Path, names: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        load(environment, folder)
    assert [part for part in names if part not in str(caught.value)] == []


def test_a_value_from_the_command_line_wins_and_is_checked(tmp_path: Path) -> None:
    settings = load({"IBIDEM_CONCURRENCY": "1"}, tmp_path)
    assert settings.changed(concurrency=4, index=None).workers == 4
    assert settings.changed(concurrency=4).origin("concurrency") == "command line"
    with pytest.raises(UsageError, match="command line"):
        settings.changed(concurrency=-1)


@pytest.mark.parametrize(
    ("engine", "fields", "address"),
    [
        (SERVER, "", SERVER),
        (SERVER, "text=body,meta=", f"{SERVER}/?fields=text%3Dbody%2Cmeta%3D"),
        (f"{SERVER}/", "text=body", f"{SERVER}/?fields=text%3Dbody"),
        (f"{SERVER}/?layout=lean", "text=body", f"{SERVER}/?layout=lean&fields=text%3Dbody"),
        (f"{SERVER}/?fields=text=body", " text = body ", f"{SERVER}/?fields=text=body"),
    ],
)
def test_names_of_fields_are_given_in_the_address_or_apart(engine: str, fields: str, address: str) -> None:
    settings = load({"IBIDEM_ENGINE": engine, "IBIDEM_FIELDS": fields})
    assert settings.address == address
    assert load(settings.as_environment()).address == address


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("ibidem.toml", "indx = 'news'\n", ["indx", "index"]),
        ("ibidem.toml", "index = news\n", ["ibidem.toml", "line 1"]),
        (".env", "IBIDEM_INDX=news\n", [".env", "IBIDEM_INDX", "IBIDEM_INDEX"]),
    ],
)
def test_a_wrong_file_is_an_error_that_names_it(name: str, text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    check_refused({}, tmp_path, names)


def test_variables_of_the_tests_are_nobodys_mistake(tmp_path: Path) -> None:
    load({"IBIDEM_TEST_OPENSEARCH": "http://localhost:9200"}, tmp_path)


def test_the_page_of_settings_is_current() -> None:
    text = Path(__file__).parents[2] / "docs" / "settings.md"
    assert text.read_text(encoding="utf-8") == page(), "run: python -m ibidem_core.settings > docs/settings.md"


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
