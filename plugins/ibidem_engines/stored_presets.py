"""Presets stored with an index, in addition to the built-in ones."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from ibidem_core.errors import NoIndex
from ibidem_core.records import parse_record
from ibidem_dedupe.parameters import PRESETS, Preset
from ibidem_dedupe.policy import Policy
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import check_entry, read_ledger
from ibidem_ingest.errors import UsageError

MAX_NAME = 100
NO_PRESET = "none"


@dataclass(frozen=True, slots=True)
class StoredPreset:
    """A stored preset."""

    name: str
    about: str  # purpose, in one line
    policy: Policy  # its figures


def check_name(name: str) -> None:
    """Refuse an invalid name."""
    if name.lower() in {*PRESETS, NO_PRESET}:
        raise UsageError(f"the preset {name!r} is built in", "choose another name")
    if not 0 < len(name) <= MAX_NAME or not all(each.isalnum() or each in "-_." for each in name):
        raise UsageError(f"preset name {name!r} is not allowed", f"use letters, digits, - _ and ., at most {MAX_NAME}")


def save_preset(engine: Engine, name: str, preset: Preset) -> None:
    """Store a preset with an index, replacing a preset of the same name."""
    check_name(name)
    if not engine.info().exists:
        raise NoIndex(
            f"there is no index {engine.index!r} to store a preset with", "create it first with: ibidem ingest PATH"
        )
    engine.create()
    engine.put_records("presets", {name: asdict(StoredPreset(name, preset.about, preset.policy))})


def stored_presets(engine: Engine) -> Mapping[str, Preset]:
    """Return the presets of an index by name; none if the index does not exist."""
    try:
        return dict(read_ledger(engine, "presets", read_preset))
    except NoIndex:
        return {}


def read_preset(record: Mapping[str, object]) -> Preset:
    """Parse a stored preset."""
    read = parse_record(StoredPreset, record)
    return Preset(read.policy, read.about)


def lookup_presets(engine: Engine, name: str | None) -> Mapping[str, Preset]:
    """Return the presets for a name; those of the index are read only if the name is not built in."""
    if not name or name in PRESETS or name.lower() == NO_PRESET:
        return PRESETS
    presets = known_presets(engine)
    if name not in presets:
        _check_preset(engine, name)
    return presets


def _check_preset(engine: Engine, name: str) -> None:
    """Raise the error of a damaged preset of this name, if there is one."""
    try:
        record = engine.get_record("presets", name)
    except NoIndex:
        return
    if record is not None:
        check_entry(record, read_preset)


def known_presets(engine: Engine) -> Mapping[str, Preset]:
    """Return every preset that a search of an index may use: the built-in ones and its own."""
    return {**PRESETS, **stored_presets(engine)}
