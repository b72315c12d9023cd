"""Address of a cluster: hosts, transport, credentials, field names of a user's own index (`IBIDEM_FIELDS`); redaction.

No message shows a credential: settings, error messages, `ibidem doctor`, the gateway and the logs show only the parts
of an address that are known to be harmless. An account is hidden as a whole, since a token may take the place of a
user; so is every option but those in `PUBLIC_OPTIONS`; an address that cannot be parsed is not shown at all.
"""

import json
import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from dataclasses import fields as members
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, unquote_plus

from ibidem_ingest.distribution import check_text_format
from ibidem_ingest.errors import UsageError

OURS = "ibidem"  # the one object that ibidem adds to an index and its documents


@dataclass(frozen=True, slots=True)
class Fields:
    """The names of an index's fields; a dot leads into an object."""

    title: str = "title"  # the title; it counts double in a search
    text: str = "text"  # the core text
    text_format: str = ""  # `html` or `markdown`, written `text=html:body`; empty: plain text
    date: str = "date"  # the given date
    source: str = "source"  # its publisher
    url: str = "url"  # address at which it can be read
    language: str = "language"
    meta: str = "meta"  # the object that holds all else; empty when it is at the top, next to the others
    search: str = ""  # the field that is searched where it is not the one that is read; empty: `text`
    changed: str = ""  # when a document was last written, for an index whose sequence numbers cannot be searched
    # Fields with the stems of the text, such as a sub-field `body.english`; empty if none is named.
    stemmed: tuple[str, ...] = ()

    @property
    def searched(self) -> str:
        """The field in which the words of a query are looked for."""
        return self.search or self.text

    @property
    def are_own(self) -> bool:
        """Whether the field names are our own, so that ibidem created the index."""
        return replace(self, stemmed=()) == Fields()

    @property
    def are_cut_as_ours(self) -> bool:
        """Whether words are marked without the server: its analyzer is ours, or its text holds markup."""
        return (self.are_own and not self.stemmed) or bool(self.text_format)


def parse_fields(text: str) -> Fields:
    """Parse `title=headline,text=body`; fields that are not listed keep our names."""
    fields: dict[str, Any] = {}
    names = [member.name for member in members(Fields) if member.name != "text_format"]
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, separator, path = (part.strip() for part in pair.partition("="))
        if name not in names:
            raise UsageError(f"field {name!r} in the field names is unknown", f"use {', '.join(names)}")
        if not separator or not (path or name == "meta"):
            raise UsageError(f"field names {pair!r} are not valid", "write title=headline,text=body")
        if name in fields:
            raise UsageError(f"field {name!r} is named twice in the field names", "name each once")
        if name == "text" and ":" in path:
            fields["text_format"], _, path = path.partition(":")
            check_text_format(fields["text_format"])
        if path.partition(".")[0] == OURS:
            raise UsageError(f"field names {pair!r} point into ibidem's own fields", f"name a field outside {OURS!r}")
        fields[name] = (path,) if name == "stemmed" else path
    return replace(Fields(), **fields)


def read_path(source: Mapping[str, object], path: str) -> object:
    """Read the value at a path: under its literal name, or through nested objects at the dots.

    Of a list of objects it is the list of what is in each.

    >>> read_path({"article": {"body": "Text"}}, "article.body")
    'Text'
    >>> read_path({"parts": [{"body": "One"}, {"body": ["Two", "Three"]}]}, "parts.body")
    ['One', 'Two', 'Three']
    """
    if path in source:
        return source[path]
    first, dot, tail = path.partition(".")
    inner = source.get(first)
    if not dot:
        return None
    if isinstance(inner, list):
        values = [read_path(each, tail) for each in inner if isinstance(each, Mapping)]
        return [
            item for each in values for item in (each if isinstance(each, list) else [each]) if item is not None
        ] or None
    return read_path(inner, tail) if isinstance(inner, Mapping) else None


def set_path(source: dict[str, object], path: str, value: object) -> None:
    """Set the value at a path, with nested objects at the dots.

    >>> record = {}
    >>> set_path(record, "article.body", "Text")
    >>> record
    {'article': {'body': 'Text'}}
    """
    first, dot, tail = path.partition(".")
    if not dot:
        source[path] = value
        return
    inner = source.setdefault(first, {})
    if isinstance(inner, dict):
        set_path(inner, tail, value)


def remove_path(source: Mapping[str, object], path: str) -> dict[str, object]:
    """Remove the value at a path, and objects that become empty.

    >>> remove_path({"article": {"body": "Text"}, "place": "Chicago"}, "article.body")
    {'place': 'Chicago'}
    """
    first, dot, tail = path.partition(".")
    inner = source.get(first)
    left = {name: value for name, value in source.items() if name != path}
    if path in source or not (dot and isinstance(inner, Mapping | list)):
        return left
    if isinstance(inner, list):
        each_left = (remove_path(each, tail) if isinstance(each, Mapping) else each for each in inner)
        left[first] = [each for each in each_left if each != {}]
    else:
        left[first] = remove_path(inner, tail)
    return left if left[first] else remove_path(left, first)


LAYOUTS = ("full", "lean")
OPTIONS = ("api_key", "ca", "layout", "fields", "timeout")
PORTS = {"http": 9200, "https": 443}
REMEDY = "write opensearch+http://host:9200 or elasticsearch+https://user:password@host:9243,other:9243/?ca=FILE"


@dataclass(frozen=True, slots=True)
class Address:
    """The hosts of a cluster, and the credentials and options for requests to it."""

    kind: str  # `opensearch` or `elasticsearch`
    scheme: str  # `http` or `https`
    hosts: tuple[tuple[str, int], ...]  # name and port of each node
    user: str = field(default="", repr=False)  # user name, or an empty string
    password: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)  # an API key instead of a user
    # Headers of every request, such as a caller's own `authorization`.
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    ca: str = ""  # file of the certificate authority that signed the servers' certificates; empty for the usual ones
    layout: str = "full"  # of an index that is made: `full` or `lean`
    fields: Fields = field(default_factory=Fields)  # names of our fields in the index
    timeout: float = 60.0  # seconds to wait for an answer

    @property
    def label(self) -> str:
        """The address without its secrets, for messages."""
        return f"{self.kind}+{self.scheme}://{','.join(f'{name}:{port}' for name, port in self.hosts)}"

    @property
    def secrets(self) -> set[str]:
        """Secrets that no message may contain, as sent and as programs print them."""
        values = forms([self.password or self.user, self.api_key, *(value for _, value in self.headers)])
        return values | ({basic(self.user, self.password)} if self.user else set())

    @property
    def urls(self) -> list[str]:
        """The nodes' addresses, in the format of the clients."""
        return [f"{self.scheme}://{name}:{port}" for name, port in self.hosts]


def parse_address(url: str) -> Address:
    """Parse `opensearch+https://user:password@host:9200,other/?ca=FILE&api_key=KEY&layout=lean&fields=title=headline`.

    A host without a port has 9200 with http and 443 with https. What is in a user name, a password or an option and
    means something in an address is written as in any URL (`%40` for `@`).
    """
    match = match_address(url)
    if match is None or match["scheme"] not in CLUSTERS or match["path"] not in (None, "/") or match["fragment"]:
        raise UsageError(f"engine address {redact(url)!r} is not valid", REMEDY)
    kind, _, scheme = match["scheme"].partition("+")
    user, _, password = map(unquote, (match["account"] or "").partition(":"))
    options = _options(match["options"] or "")
    hosts = list[tuple[str, int]]()
    for number, text in enumerate(match["hosts"].split(","), 1):
        host = _HOST.fullmatch(text)
        port = int(host["port"] or PORTS[scheme]) if host else 0
        # It is named by its number, since a password may be in its place.
        if host is None or not host["name"] or not 0 < port < 1 << 16:
            raise UsageError(f"host number {number} in the engine address is not valid", REMEDY)
        hosts.append((host["name"], port))
    timeout = options.get("timeout", "60")
    if not re.fullmatch(r"\d{1,4}(\.\d+)?", timeout, re.ASCII) or float(timeout) <= 0:
        raise UsageError(f"timeout {timeout!r} is not valid", "write seconds, such as 60")
    if (ca := options.get("ca", "")) and scheme == "http":
        raise UsageError("option 'ca' of the engine address needs https", REMEDY)
    if ca and not Path(ca).is_file():
        raise UsageError(f"certificate file {ca!r} does not exist", "name a file in PEM form")
    if (layout := options.get("layout", "full")) not in LAYOUTS:
        raise UsageError(f"layout {layout!r} is unknown", f"use one of {', '.join(LAYOUTS)}")
    address = Address(
        kind,
        scheme,
        tuple(hosts),
        user=user,
        password=password,
        api_key=options.get("api_key", ""),
        ca=ca,
        layout=layout,
        fields=parse_fields(options.get("fields", "")),
        timeout=float(timeout),
    )
    if address.api_key and address.user:
        raise UsageError(f"engine {address.label} has both a user and an API key", "give one of the two")
    return address


def with_fields(url: str, fields: str) -> str:
    """Add the field names to an engine's address, if they are set separately."""
    if not fields:
        return url
    names = parse_fields(fields)
    if url.startswith("sqlite:"):
        raise UsageError("an index in SQLite has ibidem's own fields", "leave the field names out, or name a cluster")
    base, _, options = url.partition("?")
    field_option = dict(parse_qsl(options, keep_blank_values=True)).get("fields")
    if field_option is not None and parse_fields(field_option) != names:
        raise UsageError(f"the engine's address names other fields: {field_option!r}", "name them in one place")
    if field_option is not None:
        return url
    end = "&" if options else "?" if base.count("/") > 2 else "/?"
    return f"{url.removesuffix('?')}{end}fields={quote(fields)}"


def _options(text: str) -> dict[str, str]:
    options = dict(parse_qsl(text, keep_blank_values=True))
    if unknown := sorted(set(options) - set(OPTIONS)):
        # A name that nobody knows may be a part of a password in which `&` was not escaped.
        name = unknown[0]
        label = f"option {name!r}" if name in PUBLIC_NAMES else f"option number {[*options].index(name) + 1}"
        raise UsageError(f"{label} of the engine address is unknown", f"use {', '.join(OPTIONS)}")
    return options


MASK = "***"

FILES = ("sqlite",)
CLUSTERS = ("opensearch+http", "opensearch+https", "elasticsearch+http", "elasticsearch+https")
ENGINES = (*FILES, *CLUSTERS)
BROKERS = ("amqp", "amqps", "redis", "rediss")
# Schemes of addresses that can be parsed; the last two are in what libraries log.
SERVERS = (*CLUSTERS, *BROKERS, "http", "https")

# Options of a broker's address; kombu fails at others, or takes no notice of them.
BROKER_OPTIONS = (
    *("connect_timeout", "db", "heartbeat", "health_check_interval", "socket_connect_timeout", "socket_timeout"),
    *("ssl_ca_certs", "ssl_cert_reqs", "ssl_certfile", "ssl_check_hostname", "ssl_keyfile", "ssl_password"),
)
# Options whose values may not be seen, but their names; another name may be a part of a secret with a `&` in it.
SECRET_OPTIONS = frozenset(
    ["api_key", "apikey", "password", "ssl_certfile", "ssl_keyfile", "ssl_password", "token", "user", "username"]
)
PUBLIC_OPTIONS = frozenset({*OPTIONS, *BROKER_OPTIONS, "protocol"}) - SECRET_OPTIONS
PUBLIC_NAMES = PUBLIC_OPTIONS | SECRET_OPTIONS

# Characters of a secret that is hidden wherever it is; a shorter one, which is in many words, is hidden in addresses
# alone.
MIN_SECRET = 4

_SHOWN_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+]{0,30})://(?:(?P<account>[^/?#]*)@)?(?P<hosts>[^/?#@]*)(?P<path>/[^?#]*)?"
    r"(?:\?(?P<options>[^#]*))?(?P<fragment>#[\w.-]*)?"
)
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[\w.-]*)(?::(?P<port>[0-9]{1,5}))?")
_SERVER_PATH = re.compile(r"[\w.,%/*~-]*")
_VALUE = re.compile(r"[\w.,=%/+ -]*")
_WITHIN = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,30}://[^\s\"'<>`]+")
_ACCOUNT_WITHIN = re.compile(r"(?<![^\s@])([^\s@:]*):(?!//\*\*\*@)[^\s@]+@")
_END = ".,;:!)]}"


def redact(url: str) -> str:
    """Return an address without its secrets; `***` if it cannot be parsed, and nothing if it is empty.

    >>> redact("amqp://reader:secret@mq.example:5672/")
    'amqp://***@mq.example:5672/'
    >>> redact("opensearch+https://search.example/?%61pi_key=secret&layout=lean")
    'opensearch+https://search.example/?api_key=***&layout=lean'
    >>> redact("amqp:/reader:secret@mq.example")
    '***'
    """
    match = match_address(url)
    if match is None or (match["account"] or "").endswith(":"):  # the host may be a password that begins with an @
        return MASK if url else ""
    account = "" if match["account"] is None else f"{MASK}@"
    options = "" if match["options"] is None else "?" + "&".join(map(_option, match["options"].split("&")))
    return f"{match['scheme']}://{account}{match['hosts']}{match['path'] or ''}{options}"


def redact_text(text: str, secret_values: Iterable[str] = ()) -> str:
    """Redact secrets anywhere in a text, and every address.

    >>> redact_text("no answer from 'amqp://me:secret@host:5672//', nor from https://host/?api_key=secret.")
    "no answer from 'amqp://***@host:5672//', nor from https://host/?api_key=***."
    """
    for secret in sorted({each for each in secret_values if len(each) >= MIN_SECRET}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    if "://" in text:
        text = _WITHIN.sub(lambda match: redact(bare := match[0].rstrip(_END)) + match[0][len(bare) :], text)
    return _ACCOUNT_WITHIN.sub(rf"\1:{MASK}@", text) if "@" in text else text


def redact_value(value: object, secret_values: Collection[str] = ()) -> object:
    """Redact secrets at any depth of a value; values other than text, numbers, objects and lists become text."""
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
        match = match_address(url)
        if match is not None:
            user, _, password = (match["account"] or "").partition(":")
            parts = [password or ("" if match["scheme"].startswith("amqp") else user)]
            for name, _, value in (each.partition("=") for each in (match["options"] or "").split("&")):
                parts += [value] if unquote_plus(name) not in PUBLIC_OPTIONS else []
                parts += [name] if unquote_plus(name) not in PUBLIC_NAMES else []  # of unknown options also the names
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


def match_address(url: str) -> re.Match[str] | None:
    """Parse an address; None for one that is not understood, and so may hold secrets anywhere."""
    match = _SHOWN_ADDRESS.fullmatch(url)
    if match is None or not url.isprintable():
        return None
    path = match["path"] or ""
    if match["scheme"] in FILES:
        holds_account = "@" in path.partition(":")[2]  # a password may hold a slash
        is_local = match["account"] is None and not match["hosts"] and not holds_account
        return match if is_local else None
    is_bare = match["account"] is None and match["options"] is None  # of an unknown kind only this much is harmless
    is_shown = match["scheme"] in SERVERS or is_bare
    understood = is_shown and all(map(_HOST.fullmatch, match["hosts"].split(","))) and _SERVER_PATH.fullmatch(path)
    return match if understood and "@" not in (match["options"] or "") else None


def _option(text: str) -> str:
    name, equals, value = text.partition("=")
    name = unquote_plus(name)
    if name not in PUBLIC_NAMES or not equals:
        return MASK if text else ""
    return f"{name}={value}" if name in PUBLIC_OPTIONS and _VALUE.fullmatch(value) else f"{name}={MASK}"
