"""The table of parameters: what its help says is what its readers take.

Presets of an index are read as they were written, and refused where others changed them.
"""

from pathlib import Path

import pytest

from ibidem_core.errors import DamagedRecord, NoIndex
from ibidem_dedupe.parameters import PARAMETERS, PRESETS, Keep, Preset
from ibidem_dedupe.policy import Policy, Slots
from ibidem_engines.connect import open_engine
from ibidem_engines.stored_presets import known_presets, read_preset, save_preset
from ibidem_ingest.errors import UsageError


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_tells_what_it_does_and_takes(name: str) -> None:
    parameter = PARAMETERS[name]
    assert name == "dedupe" or name.startswith("dedupe_")
    assert parameter.about
    assert parameter.values
    assert parameter.default


@pytest.mark.parametrize("name", ["dedupe", "dedupe_scope", "dedupe_explain"])
def test_the_values_in_the_help_are_taken(name: str) -> None:
    for value in PARAMETERS[name].values.split(", "):
        assert PARAMETERS[name].read(value) in (value, value == "true")


def test_the_help_of_presets_names_every_preset() -> None:
    assert all(name in PARAMETERS["dedupe_preset"].values for name in PRESETS)


@pytest.mark.parametrize("text", ["rank", "earliest", "latest", "longest", "current", "source:AP,Reuters"])
def test_a_way_to_keep_reads_back_as_it_is_written(text: str) -> None:
    read = PARAMETERS["dedupe_keep"].read(text)
    assert isinstance(read, Keep)
    assert str(read) == text


def test_a_preset_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news")
    engine.create()
    wires = Preset(PRESETS["conrad2003"].policy.similar(80).within(3), "short wires")
    save_preset(engine, "wires", wires)
    save_preset(engine, "wires.2", Preset(Policy(), "the default figures"))
    assert known_presets(engine) == {**PRESETS, "wires": wires, "wires.2": Preset(Policy(), "the default figures")}
    engine.close()


def test_without_an_index_there_are_the_built_in_ones_and_none_is_saved(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news")
    assert known_presets(engine) == PRESETS
    with pytest.raises(NoIndex):
        save_preset(engine, "wires", Preset(Policy(), ""))
    engine.close()


@pytest.mark.parametrize("name", ["law", "LAW", "none", "", "a b", "a" * 101])
def test_names_of_others_are_refused(tmp_path: Path, name: str) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/index.sqlite", "news")
    with pytest.raises(UsageError):
        save_preset(engine, name, Preset(Policy(), ""))
    engine.close()


def test_figures_that_a_record_does_not_name_are_the_default_ones() -> None:
    record = {"name": "wires", "about": "short", "policy": {"slots": {"equal": 70}}}
    assert read_preset(record) == Preset(Policy(slots=Slots(70)), "short")


def test_a_record_that_others_changed_is_damaged() -> None:
    with pytest.raises(DamagedRecord, match="slots"):
        read_preset({"name": "wires", "about": "", "policy": {"slots": "many"}})
