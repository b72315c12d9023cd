"""Logs: lines of JSON for programs, readable lines on a terminal, and no secret in any of them."""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ibidem_core.address import parse_address, redact, redact_text, secrets
from ibidem_core.logs import MAX_VALUE, formatter, log_context
from ibidem_core.settings import Settings
from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError

PASSWORDS = st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=4, max_size=20)


def record(message: str, **extra: object) -> logging.LogRecord:
    return logging.getLogger("ibidem_workers.test").makeRecord(
        "ibidem_workers.test", logging.WARNING, "file.py", 1, message, (), None, extra=extra
    )


def make_failure(message: str) -> logging.LogRecord:
    entry, error = record("it ended"), ConnectionError(message)
    entry.exc_info = type(error), error, None
    return entry


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


@given(st.text(st.characters(codec="utf-8")))
def test_no_text_steers_a_terminal(text: str) -> None:
    line = formatter((), terminal=True).format(record("refused", document=text))
    terminal_line = formatter((), terminal=True).format(record("refused", document="x"))
    assert {each for each in line if not each.isprintable()} <= {
        each for each in terminal_line if not each.isprintable()
    }


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


SECRET = "Qx7s3cr3t"  # noqa: S105 - a word to be looked for

# Where a secret may be in an address, right or with a typing error.
PLACES = (
    "{scheme}://{secret}@host:5672/0",
    "{scheme}://:{secret}@host:5672/0",
    "{scheme}://me:{secret}@host:5672/0",
    "{scheme}://me:p@{secret}@host:5672/0",
    "{scheme}://host/?{name}={secret}&timeout=5",
    "{scheme}://host/?timeout=5&{name}=x&{secret}",
    "{scheme}://host/?{secret}=x",
    "{scheme}:/me:{secret}@host:5672//",
    "{scheme}:me:{secret}@host",
    "{scheme}//me:{secret}@host",
    "{scheme}://me:{secret}",
    "{scheme}://host/me:{secret}@other",
    "{scheme}://host:{secret}",
    "{scheme}://me:p/{secret}@host",
    "{scheme}://me:p#{secret}@host",
    "{scheme}://me:p?{secret}@host",
    "{scheme}://host#{secret}@",
    "{scheme}:///me:{secret}@host",
    "{scheme}s://host/{secret}@other",
    "{secret}",
)

SCHEMES = st.sampled_from(
    ["opensearch+http", "elasticsearch+https", "amqp", "amqps", "redis", "rediss", "sqlite", "smtp"]
)
NAMES = st.sampled_from(["api_key", "%61pi_key", "apikey", "password", "ssl_password", "ssl_keyfile", "Layout", "new"])
# The beginning of a secret that makes `me:{secret}` host, port and path: nothing tells it from a right address.
PORT = re.compile(r"\d{1,5}(?:,[^/]*)?/")

AROUND = st.text(st.characters(codec="utf-8", exclude_characters="&"), max_size=4)


@given(SCHEMES, st.sampled_from(PLACES), NAMES, AROUND, AROUND)
@example("sqlite", "{scheme}:///me:{secret}@host", "api_key", "", "/")
def test_a_secret_is_not_shown_wherever_it_is_in_an_address(
    scheme: str, place: str, name: str, prefix: str, suffix: str
) -> None:
    assume(not PORT.match(prefix))
    assume(not (scheme == "sqlite" and "//{secret}" in place and prefix.startswith("/")))  # the path of a file
    url = place.format(scheme=scheme, name=name, secret=f"{prefix}{SECRET}{suffix}")
    assert SECRET not in redact(url)
    assert SECRET not in message(parse_address, url)
    assert SECRET not in message(lambda url: open_engine(url, "news"), url)


def message(read: Callable[[str], object], url: str) -> str:
    """Return the error message for an invalid address."""
    try:
        read(url)
    except UsageError as error:
        return str(error)
    return ""


@given(SCHEMES, NAMES, st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=4, max_size=20))
def test_a_text_that_repeats_a_secret_is_shown_without_it(scheme: str, name: str, secret: str) -> None:
    assume(scheme not in {"sqlite", "smtp"})
    quoted = quote(secret, safe="")
    for url in (f"{scheme}://me:{quoted}@host", f"{scheme}://host/?{name}={quoted}"):
        text = redact_text(f"<{secret}|{quoted}|{secret!r}|{url}>", secrets([url]))
        without = redact_text(f"<|||{scheme}://host>")
        assert secret not in text or secret in without
        assert quoted not in text or quoted in without
