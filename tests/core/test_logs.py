"""Logs: lines of JSON for programs, readable lines on a terminal, and no secret in any of them."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ibidem_core.logs import MAX_VALUE, StandardError, formatter, log_context, set_up
from ibidem_core.redaction import secrets
from ibidem_core.settings import Settings

PASSWORDS = st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=4, max_size=20)


def record(message: str, **extra: object) -> logging.LogRecord:
    return logging.getLogger("ibidem_workers.test").makeRecord(
        "ibidem_workers.test", logging.WARNING, "file.py", 1, message, (), None, extra=extra
    )


def make_failure(message: str) -> logging.LogRecord:
    entry, error = record("it ended"), ConnectionError(message)
    entry.exc_info = type(error), error, None
    return entry


@pytest.fixture
def logged(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], list[dict[str, object]]]]:
    """The JSON log events of a block; the loggers are restored at its end."""
    root = logging.getLogger()
    level = root.level
    yield lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    for handler in [each for each in root.handlers if isinstance(each, StandardError)]:
        root.removeHandler(handler)


@given(PASSWORDS, st.booleans())
def test_no_line_holds_a_secret_wherever_it_was_said(password: str, terminal: bool) -> None:
    settings = Settings(
        engine=f"opensearch+http://ann:{quote(password, safe='')}@host:9200",
        broker=f"amqp://me:{quote(password, safe='')}@mq:5672//",
    )
    secret_values = secrets((settings.engine, settings.broker))
    assume(
        not any(
            secret in formatter((), terminal=terminal).format(each)
            for secret in secret_values
            for each in records_with("", Settings())
        )
    )
    for each in records_with(password, settings):
        line = formatter(secret_values, terminal=terminal).format(each)
        assert not [secret for secret in secret_values if secret in line or json.dumps(secret)[1:-1] in line]


def records_with(password: str, settings: Settings) -> list[logging.LogRecord]:
    return [
        record(f"the broker {settings.broker} said no to {password}!"),
        record("refused", why=password, deeper={"headers": [f"Bearer {password}", settings.engine]}),
        make_failure(f"no way in to {settings.engine} by {password}"),
    ]


def test_a_short_password_is_hidden_in_addresses_and_leaves_other_words_as_they_are() -> None:
    secret_values = secrets(["amqp://me:a@mq//"])
    line = json.loads(formatter(secret_values, terminal=False).format(record("amqp://me:a@mq// is away")))
    assert line["event"] == "amqp://***@mq// is away"


def test_an_api_key_is_hidden() -> None:
    settings = Settings(engine="elasticsearch+https://host:9200/?api_key=c2VjcmV0LWtleQ==&layout=lean")
    line = formatter(secrets([settings.engine]), terminal=False).format(
        record(f"{settings.engine} and c2VjcmV0LWtleQ==")
    )
    assert "c2VjcmV0" not in line


def test_what_is_worth_a_field_is_one(logged: Callable[[], list[dict[str, object]]]) -> None:
    set_up(Settings(), "info")
    logging.getLogger("ibidem_workers.test").info("batch done", extra={"batch": "run/7", "sign_ms": 3.5})
    (line,) = logged()
    assert (line["event"], line["batch"], line["sign_ms"], line["level"]) == ("batch done", "run/7", 3.5, "info")
    assert line["logger"] == "ibidem_workers.test"


def test_the_queues_library_is_logged_the_same_way_and_only_when_something_is_wrong(
    logged: Callable[[], list[dict[str, object]]],
) -> None:
    set_up(Settings(), "info")
    celery = logging.getLogger("celery.worker")
    celery.info("received a task")
    celery.warning("lost the broker at %s", "amqp://me:secret@mq//")
    assert [line["event"] for line in logged()] == ["lost the broker at amqp://***@mq//"]


def test_the_setting_wins_over_what_the_command_logs_otherwise(
    logged: Callable[[], list[dict[str, object]]],
) -> None:
    set_up(Settings(log="error"), "info")
    logging.getLogger("ibidem_workers.test").warning("not heard")
    assert logged() == []


def test_being_set_up_twice_says_nothing_twice(logged: Callable[[], list[dict[str, object]]]) -> None:
    set_up(Settings())
    set_up(Settings())
    logging.getLogger("ibidem.test").warning("once")
    assert len(logged()) == 1


@given(st.text(st.characters(codec="utf-8")))
def test_no_text_steers_a_terminal(text: str) -> None:
    line = formatter((), terminal=True).format(record("refused", document=text))
    terminal_line = formatter((), terminal=True).format(record("refused", document="x"))
    assert {each for each in line if not each.isprintable()} <= {
        each for each in terminal_line if not each.isprintable()
    }


@given(st.text())
def test_every_line_for_a_program_is_one_json_object_whatever_it_tells(text: str) -> None:
    line = formatter((), terminal=False).format(record(text, document=text))
    assert "\n" not in line
    assert len(json.loads(line)["document"]) <= max(len(text), MAX_VALUE)


def test_a_message_of_the_queue_is_not_logged_with_all_its_texts() -> None:
    line = json.loads(formatter((), terminal=False).format(record("unknown message: " + "text " * 10_000)))
    assert len(line["event"]) < 2 * MAX_VALUE


@pytest.mark.slow
def test_a_worker_that_logs_nothing_never_loads_what_writes_lines() -> None:
    """It takes a sixth of a worker's start."""
    program = "import sys, ibidem_workers.worker; from ibidem_core import logs, settings; "
    set_up_ = "logs.set_up(settings.Settings()); sys.exit('structlog' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program + set_up_], check=False).returncode == 0


def test_what_is_logged_in_a_context_bears_its_values_and_a_lines_own_precede() -> None:
    json_formatter = formatter((), terminal=False)
    with log_context(run="r", batch="1"), log_context(batch="2"):
        line, terminal_line = (
            json.loads(json_formatter.format(each)) for each in (record("a"), record("b", run="mine"))
        )
    assert (line["run"], line["batch"], terminal_line["run"]) == ("r", "2", "mine")
    assert "run" not in json.loads(json_formatter.format(record("after")))
