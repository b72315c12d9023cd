"""Redaction: only the parts of an address that are known to be harmless are shown.

The one masker of secrets: settings, error messages, `ibidem doctor`, the gateway and the logs show addresses by it. An
account is hidden as a whole, since a token may take the place of a user; so is every option but those in `HARMLESS`; an
address that cannot be parsed is not shown at all.
"""

import json
import re
from base64 import b64encode
from collections.abc import Collection, Iterable
from urllib.parse import quote, unquote, unquote_plus

HIDDEN = "***"

FILES = ("sqlite", "filesystem")
# Schemes of addresses that can be parsed; the last two are in what libraries log.
SERVERS = (
    "opensearch+http",
    "opensearch+https",
    "elasticsearch+http",
    "elasticsearch+https",
    "amqp",
    "amqps",
    "redis",
    "rediss",
    "http",
    "https",
)

# Options of an address whose values may be seen.
HARMLESS = frozenset(
    [
        "ca",
        "fields",
        "layout",
        "timeout",
        "db",
        "heartbeat",
        "connect_timeout",
        "socket_timeout",
        "socket_connect_timeout",
        "protocol",
        "health_check_interval",
        "ssl_ca_certs",
        "ssl_cert_reqs",
        "ssl_check_hostname",
    ]
)

# Options whose names may be seen; another name may be a part of a secret in which a `&` was not escaped.
KNOWN = HARMLESS | frozenset(
    ["api_key", "apikey", "password", "ssl_certfile", "ssl_keyfile", "ssl_password", "token", "user", "username"]
)

# Characters of a secret that is hidden wherever it is; a shorter one, which is in many words, is hidden in addresses
# alone.
MIN_SECRET = 4

_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+]{0,30})://(?:(?P<account>[^/?#]*)@)?(?P<hosts>[^/?#@]*)(?P<path>/[^?#]*)?"
    r"(?:\?(?P<options>[^#]*))?(?:#[\w.-]*)?"
)
_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[\w.-]*)(?::\d{1,5})?"
_HOSTS = re.compile(rf"{_HOST}(?:,{_HOST})*")
_SERVER_PATH = re.compile(r"[\w.,%/*~-]*")
_VALUE = re.compile(r"[\w.,=%/+ -]*")
_WITHIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}://[^\s\"'<>`]+")
_ACCOUNT_WITHIN = re.compile(r":(?!//\*\*\*@)[^\s@]{1,300}@")
_END = ".,;:!)]}"


def redact(url: str) -> str:
    """Return an address without its secrets; `***` if it cannot be parsed.

    >>> redact("amqp://reader:secret@mq.example:5672/")
    'amqp://***@mq.example:5672/'
    >>> redact("opensearch+https://search.example/?%61pi_key=secret&layout=lean")
    'opensearch+https://search.example/?api_key=***&layout=lean'
    >>> redact("amqp:/reader:secret@mq.example")
    '***'
    """
    match = _parse(url)
    if match is None or (match["account"] or "").endswith(":"):  # the host may be a password that begins with an @
        return HIDDEN
    account = "" if match["account"] is None else f"{HIDDEN}@"
    options = "" if match["options"] is None else "?" + "&".join(map(_option, match["options"].split("&")))
    return f"{match['scheme']}://{account}{match['hosts']}{match['path'] or ''}{options}"


def is_address(url: str) -> bool:
    """Return whether an address can be parsed.

    >>> is_address("redis://host:6379/0"), is_address("redis://:pass/word@host")
    (True, False)
    """
    return _parse(url) is not None


def redact_text(text: str, secret_values: Iterable[str] = ()) -> str:
    """Redact secrets anywhere in a text, and every address.

    >>> redact_text("no answer from 'amqp://me:secret@host:5672//', nor from https://host/?api_key=secret.")
    "no answer from 'amqp://***@host:5672//', nor from https://host/?api_key=***."
    """
    for secret in sorted({each for each in secret_values if len(each) >= MIN_SECRET}, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    if "://" in text:
        text = _WITHIN.sub(lambda match: _redact_match(match[0]), text)
    return _ACCOUNT_WITHIN.sub(f":{HIDDEN}@", text) if "@" in text else text


def redact_value(value: object, secret_values: Collection[str] = ()) -> object:
    """Redact secrets at any depth of a value; values other than text, numbers, objects and lists become text.

    >>> redact_value({"headers": ["Bearer secret"], "size": 3}, {"secret"})
    {'headers': ['Bearer ***'], 'size': 3}
    """
    if isinstance(value, bool | int | float | None):
        return value
    if isinstance(value, dict):
        return {
            redact_text(str(name), secret_values): redact_value(each, secret_values) for name, each in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [redact_value(each, secret_values) for each in value]
    return redact_text(str(value), secret_values)


def secrets(urls: Iterable[str]) -> set[str]:
    """Return every secret of some addresses, as written, as sent and as programs print it."""
    values: set[str] = set()
    for url in urls:
        match = _parse(url)
        if match is not None:
            user, password = _account(match["account"] or "")
            parts = [
                password or ("" if match["scheme"].startswith("amqp") else user),
                *_secret_values(match["options"]),
            ]
            values |= forms(parts)
            values |= {basic(unquote(user), unquote(password))} if user or password else set()
    return values


def basic(user: str, password: str) -> str:
    """Return credentials as HTTP basic authentication sends them."""
    return b64encode(f"{user}:{password}".encode()).decode()


def forms(parts: Iterable[str]) -> set[str]:
    """Return secrets as written, as sent and as programs print them."""
    texts = {form for each in parts if each for form in (each, unquote(each), unquote_plus(each))}
    return texts | {form for each in texts for form in (quote(each, safe=""), repr(each)[1:-1], json.dumps(each)[1:-1])}


def _account(text: str) -> tuple[str, str]:
    user, _, password = text.partition(":")
    return user, password


def _secret_values(options: str | None) -> list[str]:
    """Return the values of secret options, and of unknown options also the names."""
    pairs = [each.partition("=") for each in (options or "").split("&")]
    triples = [(name, value, unquote_plus(name)) for name, _, value in pairs]
    values = [value for _, value, name in triples if name not in HARMLESS]
    return values + [raw for raw, _, name in triples if name not in KNOWN]


def _parse(url: str) -> re.Match[str] | None:
    match = _ADDRESS.fullmatch(url)
    if match is None or not url.isprintable():
        return None
    path = match["path"] or ""
    if match["scheme"] in FILES:
        holds_account = "@" in path.partition(":")[2]  # a password may hold a slash
        is_local = match["account"] is None and not match["hosts"] and not holds_account
        return match if is_local else None
    is_bare = match["account"] is None and match["options"] is None  # of an unknown kind only this much is harmless
    is_shown = match["scheme"] in SERVERS or is_bare
    understood = is_shown and _HOSTS.fullmatch(match["hosts"]) and _SERVER_PATH.fullmatch(path)
    return match if understood and "@" not in (match["options"] or "") else None


def _option(text: str) -> str:
    name, equals, value = text.partition("=")
    name = unquote_plus(name)
    if name not in KNOWN or not equals:
        return HIDDEN if text else ""
    return f"{name}={value}" if name in HARMLESS and _VALUE.fullmatch(value) else f"{name}={HIDDEN}"


def _redact_match(url: str) -> str:
    bare = url.rstrip(_END)
    return redact(bare) + url[len(bare) :]
