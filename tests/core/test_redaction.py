"""Redaction: what is shown of an address is what was parsed and is known to be harmless."""

import re
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ibidem_core.address import parse_address
from ibidem_core.redaction import is_address, redact, redact_text, secrets
from ibidem_engines.connect import open_engine
from ibidem_ingest.errors import UsageError

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
    ["opensearch+http", "elasticsearch+https", "amqp", "amqps", "redis", "rediss", "sqlite", "filesystem", "smtp"]
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
    assume(scheme not in {"sqlite", "filesystem", "smtp"})
    quoted = quote(secret, safe="")
    for url in (f"{scheme}://me:{quoted}@host", f"{scheme}://host/?{name}={quoted}"):
        text = redact_text(f"<{secret}|{quoted}|{secret!r}|{url}>", secrets([url]))
        without = redact_text(f"<|||{scheme}://host>")
        assert secret not in text or secret in without
        assert quoted not in text or quoted in without


@pytest.mark.parametrize(
    ("url", "redacted"),
    [
        ("sqlite:///.ibidem/index.sqlite", "sqlite:///.ibidem/index.sqlite"),
        ("filesystem:////srv/a@b/queue", "filesystem:////srv/a@b/queue"),
        ("amqp://mq.example:5672//", "amqp://mq.example:5672//"),
        ("amqp://me@mq.example//", "amqp://***@mq.example//"),
        ("redis://:s3cret@[::1]:6379/2?socket_timeout=5", "redis://***@[::1]:6379/2?socket_timeout=5"),
        (
            "elasticsearch+https://one:9243,two/?ca=/etc/ca.pem&fields=text%3Dbody&timeout=5",
            "elasticsearch+https://one:9243,two/?ca=/etc/ca.pem&fields=text%3Dbody&timeout=5",
        ),
    ],
)
def test_what_is_harmless_is_shown_as_it_is(url: str, redacted: str) -> None:
    assert redact(url) == redacted
    assert is_address(url)


def test_short_words_of_a_text_stay_as_they_are_and_addresses_lose_their_account() -> None:
    text = redact_text("a cat sat at amqp://me:at@mq// at noon", secrets(["amqp://me:at@mq//"]))
    assert text == "a cat sat at amqp://***@mq// at noon"
