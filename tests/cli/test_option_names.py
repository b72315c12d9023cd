"""An error names an option as it was typed."""

from ibidem.cli.app import name_options
from ibidem_dedupe.parameters import PARAMETERS


def test_each_parameter_is_named_by_its_option() -> None:
    for name in PARAMETERS:
        assert "dedupe_" not in name_options(f"{name}='x' is not valid")
    assert name_options("dedupe_max_per_group=600 is more") == "--max-per-group 600 is more"


def test_other_words_stay() -> None:
    assert name_options("ibidem_dedupe and dedupe stay") == "ibidem_dedupe and dedupe stay"
