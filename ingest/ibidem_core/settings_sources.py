"""Sources of settings (environment, `.env`, `ibidem.toml`), checks of their addresses, values without secrets."""

import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, TomlConfigSettingsSource

from ibidem_core.redaction import is_address, redact, redact_text
from ibidem_ingest.errors import UsageError

PREFIX = "IBIDEM_"
TESTS = "IBIDEM_TEST_"  # prefix of the variables of the tests, which are not refused as unknown

Values = dict[str, object]
Kind = type[BaseSettings]


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return PREFIX + name.upper()


def read_environment(kind: Kind, environment: Mapping[str, str]) -> Values:
    """Read the variables of a process."""
    variables = {name.upper(): value for name, value in environment.items() if name.upper().startswith(PREFIX)}
    names = {variable(name) for name in kind.model_fields}
    _refuse_unknown((name for name in variables if not name.startswith(TESTS)), names, "the environment")
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


def _refuse_unknown(names: Iterable[str], choices: Iterable[str], location: str) -> None:
    """Refuse unknown settings."""
    if unknown := sorted(set(names) - set(choices)):
        raise UsageError(
            f"{location}: there is no setting {', '.join(map(redact_text, unknown))}",
            f"the settings are: {', '.join(sorted(choices))}",
        )


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


def check_scheme(url: str, schemes: Iterable[str]) -> str:
    """Return an address, if it has one of the allowed schemes."""
    scheme, separator, tail = url.partition("://")
    if not separator or scheme not in schemes or not is_address(url):
        begins = ", ".join(f"{scheme_name}://" for scheme_name in schemes)
        raise ValueError(f"it is not valid; an address begins with one of: {begins}, with special characters escaped")
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
