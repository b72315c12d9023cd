"""All settings in one frozen object, read from the environment, `.env` and `ibidem.toml`; and their table."""

import os
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, ValidationInfo, field_validator

from ibidem_core.address import BROKER_OPTIONS, BROKERS, ENGINES, FILES, match_address, redact, redact_text, with_fields
from ibidem_ingest.document import MAX_TEXT
from ibidem_ingest.errors import UsageError

PREFIX = "IBIDEM_"
TEST_PREFIX = "IBIDEM_TEST_"  # prefix of the variables of the tests, which are not refused as unknown

MIN_SIMILARITY = 0.7  # similarity of a name to the setting that was probably meant

Values = dict[str, object]


def variable(name: str) -> str:
    return PREFIX + name.upper()


def read_variables(variables: Mapping[str, str | None], location: str = "") -> Values:
    """Return the settings among variables; unknown ones with our prefix are refused, except for those of the tests."""
    ours = {name.upper(): value for name, value in variables.items() if name.upper().startswith(PREFIX)}
    names = (name for name in ours if not name.startswith(TEST_PREFIX))
    _refuse_unknown(names, set(map(variable, Settings.model_fields)), location)
    return {name: value for name in Settings.model_fields if (value := ours.get(variable(name))) is not None}


def read_dotenv(path: Path) -> Values:
    """Read a `.env` file, which may also hold other programs' variables."""
    if not path.is_file():
        return {}
    try:
        return read_variables(dotenv_values(path), str(path))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}", "write it in UTF-8") from error


def read_toml(path: Path) -> Values:
    """Read an `ibidem.toml`."""
    if not path.is_file():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", "write lines such as: index = 'news'") from error
    _refuse_unknown(values, Settings.model_fields, str(path))
    return values


def _refuse_unknown(names: Iterable[str], choices: Collection[str], location: str = "") -> None:
    """Refuse an unknown setting, with the one that is probably meant, or else all of them."""
    for name in sorted(set(names) - set(choices)):
        bare_names = {choice.removeprefix(PREFIX): choice for choice in choices}
        close = get_close_matches(name.removeprefix(PREFIX), bare_names, n=1, cutoff=MIN_SIMILARITY)
        remedy = f"did you mean {bare_names[close[0]]}?" if close else f"the settings are: {', '.join(sorted(choices))}"
        raise UsageError(f"{location and f'{location}: '}{redact_text(name)} is not a setting", remedy)


def name_schemes(schemes: Sequence[str]) -> str:
    """Name the kinds of addresses; those with TLS are left out."""
    plain = [each for each in schemes if not (each.endswith("s") and each[:-1] in schemes)]
    kinds = [f"{each}:///…" if each in FILES else f"{each}://…" for each in plain]
    return f"{', '.join(kinds[:-1])} or {kinds[-1]}"


def check_scheme(name: str, url: str, schemes: Sequence[str]) -> str:
    """Return an address, if it has one of the allowed schemes."""
    scheme, separator, tail = url.partition("://")
    if not separator or scheme not in schemes:
        what = f"{variable(name)}={redacted_value(name, url)!r}: unknown kind of address."
        raise UsageError(what, f"Use {name_schemes(schemes)}")
    if match_address(url) is None:
        raise ValueError("it is not valid; special characters of an address are escaped")
    if scheme == "sqlite" and len(tail) < 2:
        raise ValueError(f"a path follows {scheme}:///")
    return url


def redacted_value(name: str, value: object) -> str:
    """Return the value of a setting without secrets."""
    text = as_text(value)
    return redact(text) if name in {"engine", "broker"} else redact_text(text)


def as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


DOTENV = ".env"
TOML = "ibidem.toml"
# Settings whose value may be any text and is no address.
OTHERS = ("index", "fields", "tables", "distinct", "gateway_hosts")

Level = Literal["debug", "info", "warning", "error"]


class Settings(BaseModel):
    """The configuration of ibidem: addresses, folders and limits.

    The descriptions below are the one source of `docs/settings.md`, of `ibidem doctor` and of the error messages.

    >>> Settings(index="news").queue
    'news-ibidem-ingest'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    engine: str = Field(
        "sqlite:///.ibidem/index.sqlite",
        repr=False,
        description="Where the index is: `sqlite:///PATH` (three slashes: from the current folder, four: absolute), "
        "`opensearch+http(s)://HOST:PORT` or `elasticsearch+http(s)://HOST:PORT`.",
    )
    broker: str = Field(
        "",
        repr=False,
        description="Address of the queue: `amqp://` or `redis://`. Without one `ibidem ingest` signs documents.",
    )
    index: str = Field(
        "ibidem",
        pattern=r"^[a-z0-9][a-z0-9_.-]{0,99}$",
        description="The index's name: lower-case letters, digits, `-`, `_` and `.`.",
    )
    fields: str = Field(
        "",
        description="Names of a document's fields in an index of your own, such as `title=headline,text=body.content`; "
        "`meta=`: all other fields are at the top level. For OpenSearch and Elasticsearch.",
    )
    tables: Path = Field(Path(".ibidem/tables"), description="The folder of the idf tables.")
    max_text: int = Field(
        MAX_TEXT,
        ge=1,
        le=100_000_000,
        description="Maximum length of a document's text in characters; longer documents are refused.",
    )
    distinct: tuple[str, ...] = Field(
        (),
        description="Fields that must not differ between duplicates, separated by commas, such as "
        "`meta.docket,source`; a missing value passes.",
    )
    tombstone_days: int = Field(
        30, ge=0, le=3650, description="Days for which a deletion can be taken back, and keeps older versions away."
    )
    batch_characters: int = Field(
        1_000_000,
        ge=1_000,
        le=5_000_000,
        description="Characters of text in a batch; a longer document is a batch of its own.",
    )
    concurrency: int = Field(
        0, ge=0, le=256, description="Worker processes that are started; 0: one for each processor."
    )
    read_seconds: int = Field(
        120,
        ge=1,
        le=3_600,
        description="Maximum seconds for reading one file of HTML, PDF, Word, EPUB, Markdown or mail; slower files are "
        "refused. For JSON Lines, tables and mailboxes, which hold many documents: maximum seconds of "
        "processor time without a document; the rest of the file is then refused.",
    )
    tries: int = Field(
        3, ge=1, le=100, description="How often a batch may crash its worker before its documents are tried one by one."
    )
    patience: int = Field(
        600,
        ge=1,
        le=1_500,
        description="Seconds that a worker waits for an engine that does not answer before it returns the batch to the "
        "queue; less than RabbitMQ's `consumer_timeout`.",
    )
    lease: int = Field(
        30,
        ge=2,
        le=3_600,
        description="Seconds without a heartbeat after which another worker takes over a batch of a broker.",
    )
    log: Literal["", Level] = Field(
        "",
        description="How much is logged to standard error: `debug`, `info`, `warning` or `error`; lines of JSON if "
        "that is not a terminal. Empty: `info` for `ibidem worker` and `ibidem serve`, `warning` for other commands.",
    )
    plugin: Literal["auto", "off"] = Field(
        "auto",
        description="Whether wrapped clients, `ibidem serve` and `ibidem search` let the plugin inside the cluster do "
        "the grouping, if every node has it and it supports the request (`docs/plugin.md`); read only from the "
        "environment.",
    )
    gateway_hosts: tuple[str, ...] = Field(
        ("localhost", "127.0.0.1", "[::1]"),
        description="Host names under which `ibidem serve` can be reached, separated by commas; others are refused, so "
        "that no other site reaches it through a user's browser. `*`: any name.",
    )
    gateway_overrides: bool = Field(
        default=False,
        description="Whether callers of `ibidem serve` may make manual decisions; in "
        "a cluster with accounts they also need the right to write to `.ibidem-INDEX`.",
    )

    _origins: dict[str, str] = PrivateAttr(default_factory=dict)

    def __init__(self, origins: Mapping[str, str] | None = None, /, **values: Any) -> None:
        """Set values by name; a `UsageError` names a wrong value or an unknown name, its origin, and what is right."""
        _refuse_unknown(values, type(self).model_fields)
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise _usage_error(error, values, origins or {}) from error
        self._origins.update(origins or {})

    @field_validator(*OTHERS, mode="before")
    @classmethod
    def _refuse_account(cls, value: object) -> object:
        """Refuse credentials in a setting that is shown unredacted."""
        text = as_text(value)
        if redact_text(text) != text:
            raise ValueError("only IBIDEM_ENGINE and IBIDEM_BROKER may contain an address with credentials")
        return value

    @field_validator("distinct", "gateway_hosts", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(name.strip() for name in value.split(",") if name.strip())
        return value

    @field_validator("engine")
    @classmethod
    def _known_engine(cls, url: str) -> str:
        return check_scheme("engine", url, ENGINES)

    @field_validator("broker")
    @classmethod
    def _known_broker(cls, url: str) -> str:
        if url:
            check_scheme("broker", url, BROKERS)
        for number, (name, _) in enumerate(parse_qsl(urlsplit(url).query, keep_blank_values=True), 1):
            if name not in BROKER_OPTIONS:
                right = f"credentials are before the host; the options are: {', '.join(BROKER_OPTIONS)}"
                raise ValueError(f"option number {number} is unknown; {right}")
        return url

    @field_validator("fields")
    @classmethod
    def _known_fields(cls, text: str, info: ValidationInfo) -> str:
        try:
            with_fields(str(info.data.get("engine", "")), text)
        except UsageError as error:
            raise ValueError(str(error)) from error
        return text

    @property
    def address(self) -> str:
        """The engine's address, with the index's field names."""
        return with_fields(self.engine, self.fields)

    @property
    def queue(self) -> str:
        """The name of the queue for this index's documents."""
        return f"{self.index}-ibidem-ingest"

    @property
    def workers(self) -> int:
        return self.concurrency or os.cpu_count() or 1

    @property
    def origins(self) -> dict[str, str]:
        """Source of each value that was set."""
        return self._origins

    def origin(self, name: str) -> str:
        """Return the source of a value: `default`, `environment`, `.env`, `ibidem.toml` or `command line`."""
        return self._origins.get(name, "default")

    def changed(self, **values: object) -> "Settings":
        """Return the same settings with some values from the command line."""
        changes = {name: value for name, value in values.items() if value is not None}
        origins = self._origins | dict.fromkeys(changes, "command line")
        return Settings(origins, **(self.model_dump() | changes))

    def as_environment(self) -> dict[str, str]:
        """Return the environment variables that give another process the same settings."""
        return {variable(name): as_text(value) for name, value in self.model_dump().items()}


def load(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Read the settings."""
    base = folder or Path()
    given = read_variables(os.environ if environment is None else environment)
    sources = {"environment": given, DOTENV: read_dotenv(base / DOTENV), TOML: read_toml(base / TOML)}
    values: Values = {}
    origins: dict[str, str] = {}
    for origin, source in reversed(sources.items()):
        values |= source
        origins |= dict.fromkeys(source, origin)
    return Settings(origins, **values)


def _usage_error(error: ValidationError, values: Mapping[str, object], origins: Mapping[str, str]) -> UsageError:
    """Return the error of the first invalid setting, with its redacted value and the valid ones."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    shown, origin = redacted_value(name, values[name]), origins.get(name, "the caller")
    message = redact_text(str(first["msg"]).removeprefix("Value error, "))
    return UsageError(
        f"{variable(name)} (from {origin}) is {shown!r}: {message}", Settings.model_fields[name].description or ""
    )


_HEAD = """# Settings

Read from the environment, a `.env` file and `ibidem.toml` in the current folder; the first that names a setting wins.
In `ibidem.toml` the names are in lower case and without `IBIDEM_`. `ibidem doctor` shows every value with its origin.
An unknown name is an error. This page is written by `python -m ibidem_core.settings`.

| variable | default | meaning |
|---|---|---|
"""


def settings_rows(settings: Settings) -> list[dict[str, str]]:
    """Return every setting with its value, origin and meaning, as `ibidem doctor --json` prints them."""
    return [
        {
            "name": variable(name),
            "value": redacted_value(name, getattr(settings, name)),
            "origin": settings.origin(name),
            "meaning": field.description or "",
        }
        for name, field in type(settings).model_fields.items()
    ]


def page() -> str:
    """Return the page in Markdown."""
    lines = [_HEAD]
    for name, field in Settings.model_fields.items():
        default = as_text(field.default) and f"`{as_text(field.default)}`"
        lines.append(f"| `{variable(name)}` | {default} | {field.description} |\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.stdout.write(page())
