"""The table of parameters: what its help says is what its readers take."""

import pytest

from ibidem.dedupe.parameters import PARAMETERS, PRESETS, Keep


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


@pytest.mark.parametrize("asked", ["rank", "earliest", "latest", "longest", "source:AP,Reuters"])
def test_a_way_to_keep_reads_back_as_it_is_written(asked: str) -> None:
    read = PARAMETERS["dedupe_keep"].read(asked)
    assert isinstance(read, Keep)
    assert str(read) == asked
