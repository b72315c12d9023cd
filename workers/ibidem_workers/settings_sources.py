"""Sources of settings: the environment, `.env`, `ibidem.toml`; an unknown name is an error."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic_settings import BaseSettings, DotEnvSettingsSource, EnvSettingsSource, TomlConfigSettingsSource

from ibidem_engines.redaction import redact_text
from ibidem_ingest.errors import UsageError

PREFIX = "IBIDEM_"
TESTS = "IBIDEM_TEST_"
"""Variables of the tests, which are nobody's mistake."""

Values = dict[str, object]
Kind = type[BaseSettings]


def variable(name: str) -> str:
    """Return the environment's name of a setting."""
    return PREFIX + name.upper()


def from_environment(kind: Kind, environment: Mapping[str, str]) -> Values:
    """Read the variables of a process."""
    ours = {name.upper(): value for name, value in environment.items() if name.upper().startswith(PREFIX)}
    known = {variable(name) for name in kind.model_fields}
    _refuse_unknown((name for name in ours if not name.startswith(TESTS)), known, "the environment")
    source = EnvSettingsSource(kind)
    source.env_vars = {name.lower(): value for name, value in ours.items()}
    return source()


def from_dotenv(kind: Kind, path: Path) -> Values:
    """Read a `.env` file, in which other programs' variables may stand."""
    if not path.is_file():
        return {}
    try:
        source = DotEnvSettingsSource(kind, env_file=path, env_file_encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}", "write it in UTF-8") from error
    ours = (name.upper() for name in source.env_vars if name.upper().startswith(PREFIX))
    known = {variable(name) for name in kind.model_fields}
    _refuse_unknown((name for name in ours if not name.startswith(TESTS)), known, str(path))
    return {name: value for name, value in source().items() if name in kind.model_fields}


def from_toml(kind: Kind, path: Path) -> Values:
    """Read an `ibidem.toml`."""
    if not path.is_file():
        return {}
    try:
        values = TomlConfigSettingsSource(kind, toml_file=path)()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", "write lines such as: index = 'news'") from error
    _refuse_unknown(values, kind.model_fields, str(path))
    return values


def _refuse_unknown(names: Iterable[str], known: Iterable[str], where: str) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise UsageError(
            f"{where}: no setting is called {', '.join(map(redact_text, unknown))}",
            f"the settings are: {', '.join(sorted(known))}",
        )
