"""Sources of settings (environment, `.env`, `ibidem.toml`), checks of their addresses, values without secrets."""

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, TomlConfigSettingsSource

from ibidem_core.redaction import FILES, is_address, redact, redact_text
from ibidem_ingest.errors import UsageError

PREFIX = "IBIDEM_"
TESTS = "IBIDEM_TEST_"  # prefix of the variables of the tests, which are not refused as unknown

CLOSE = 0.7  # similarity of a name to the setting that was probably meant

Values = dict[str, object]
Kind = type[BaseSettings]


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + name.upper()


def read_environment(kind: Kind, environment: Mapping[str, str]) -> Values:
    """Read the variables of a process."""
    variables = {name.upper(): value for name, value in environment.items() if name.upper().startswith(PREFIX)}
    names = {variable(name) for name in kind.model_fields}
    _refuse_unknown((name for name in variables if not name.startswith(TESTS)), names)
    source = EnvSettingsSource(kind)
    source.env_vars = {name.lower(): value for name, value in variables.items()}
    return source()


def read_dotenv(kind: Kind, path: Path) -> Values:
    """Read a `.env` file, which may also hold other programs' variables."""
    if not path.is_file():
        return {}
    try:
        source = DotEnvSettingsSource(kind, env_file=path, env_file_encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}", "write it in UTF-8") from error
    variables = (name.upper() for name in source.env_vars if name.upper().startswith(PREFIX))
    names = {variable(name) for name in kind.model_fields}
    _refuse_unknown((name for name in variables if not name.startswith(TESTS)), names, str(path))
    return {name: value for name, value in source().items() if name in kind.model_fields}


def read_toml(kind: Kind, path: Path) -> Values:
    """Read an `ibidem.toml`."""
    if not path.is_file():
        return {}
    try:
        values = TomlConfigSettingsSource(kind, toml_file=path)()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", "write lines such as: index = 'news'") from error
    _refuse_unknown(values, kind.model_fields, str(path))
    return values


def _refuse_unknown(names: Iterable[str], choices: Collection[str], location: str = "") -> None:
    """Refuse unknown settings."""
    for name in sorted(set(names) - set(choices)):
        raise unknown_setting(name, choices, location)


def unknown_setting(name: str, choices: Collection[str], location: str = "") -> UsageError:
    """Return the error of an unknown setting, with the one that is probably meant, or else all of them."""
    bare_names = {choice.removeprefix(PREFIX): choice for choice in choices}
    close = get_close_matches(name.removeprefix(PREFIX), bare_names, n=1, cutoff=CLOSE)
    remedy = f"did you mean {bare_names[close[0]]}?" if close else f"the settings are: {', '.join(sorted(choices))}"
    return UsageError(f"{location and f'{location}: '}{redact_text(name)} is not a setting", remedy)


class UnknownScheme(ValueError):
    """The kind of an address is unknown; the message is the remedy."""


ENGINES = ("sqlite", "opensearch+http", "opensearch+https", "elasticsearch+http", "elasticsearch+https")
# Options of a broker's address; kombu fails at others, or takes no notice of them.
BROKER_OPTIONS = (
    "connect_timeout",
    "db",
    "heartbeat",
    "health_check_interval",
    "socket_connect_timeout",
    "socket_timeout",
    "ssl_ca_certs",
    "ssl_cert_reqs",
    "ssl_certfile",
    "ssl_check_hostname",
    "ssl_keyfile",
    "ssl_password",
)

BROKERS = ("filesystem", "amqp", "amqps", "redis", "rediss")


def file_path(url: str) -> Path:
    """Return the path in a `sqlite:///` or `filesystem:///` URL: three slashes relative, four absolute.

    >>> str(file_path("filesystem:///.ibidem/queue")), str(file_path("filesystem:////var/queue"))
    ('.ibidem/queue', '/var/queue')
    """
    return Path(urlsplit(url).path[1:])


def name_schemes(schemes: Sequence[str]) -> str:
    """Name the kinds of addresses; those with TLS are left out.

    >>> name_schemes(BROKERS)
    'filesystem:///…, amqp://… or redis://…'
    """
    plain = [each for each in schemes if not (each.endswith("s") and each[:-1] in schemes)]
    kinds = [f"{each}:///…" if each in FILES else f"{each}://…" for each in plain]
    return f"{', '.join(kinds[:-1])} or {kinds[-1]}"


def check_scheme(url: str, schemes: Sequence[str]) -> str:
    """Return an address, if it has one of the allowed schemes."""
    scheme, separator, tail = url.partition("://")
    if not separator or scheme not in schemes:
        raise UnknownScheme(f"Use {name_schemes(schemes)}")
    if not is_address(url):
        raise ValueError("it is not valid; special characters of an address are escaped")
    if scheme in {"sqlite", "filesystem"} and len(tail) < 2:
        raise ValueError(f"a path follows {scheme}:///")
    return url


def check_options(url: str, choices: Collection[str]) -> str:
    """Return an address, if all its options are known."""
    names = [name for name, _ in parse_qsl(urlsplit(url).query, keep_blank_values=True)]
    for number, name in enumerate(names, 1):
        if name not in choices:
            right = f"credentials are before the host; the options are: {', '.join(choices)}"
            raise ValueError(f"option number {number} is unknown; {right}")
    return url


def redacted_value(name: str, value: object) -> str:
    """Return the value of a setting without secrets."""
    text = as_text(value)
    return redact(text) if name in {"engine", "broker"} else redact_text(text)


def as_text(value: object) -> str:
    """Return a value as text for the environment."""
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
