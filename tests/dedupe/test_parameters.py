"""The table of parameters and presets: what its help says is what a request takes, whole or refused."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ibidem_core.errors import NoIndex
from ibidem_dedupe.pairs import decide
from ibidem_dedupe.parameters import PARAMETERS, PRESETS, Keep, Preset, page, parse_request
from ibidem_dedupe.policy import Policy, Slots, Terms
from ibidem_engines.engine import Engine
from ibidem_engines.ledger import lookup_presets, save_preset
from ibidem_ingest.errors import UsageError
from ibidem_ingest.idf.table import Table
from support.packed_texts import packed


@pytest.mark.parametrize("name", ["dedupe", "dedupe_scope", "dedupe_explain"])
def test_the_values_in_the_help_are_taken(name: str) -> None:
    for value in PARAMETERS[name].values.split(", "):
        assert PARAMETERS[name].read(value) in (value, value == "true")


@pytest.mark.parametrize("text", ["rank", "earliest", "latest", "longest", "current", "source:AP,Reuters"])
def test_a_way_to_keep_reads_back_as_it_is_written(text: str) -> None:
    read = PARAMETERS["dedupe_keep"].read(text)
    assert isinstance(read, Keep)
    assert str(read) == text


def test_a_preset_comes_back_as_it_was_saved(engine: Engine) -> None:
    wires = Preset(PRESETS["conrad2003"].policy.similar(80).within(3), "short wires")
    save_preset(engine, "wires", wires)
    save_preset(engine, "wires.2", Preset(Policy(), "all default"))
    assert lookup_presets(engine, "wires.2") == {**PRESETS, "wires": wires, "wires.2": Preset(Policy(), "all default")}


def test_without_an_index_there_are_the_built_in_ones_and_none_is_saved(absent: Engine) -> None:
    assert lookup_presets(absent, "wires") == PRESETS
    with pytest.raises(NoIndex):
        save_preset(absent, "wires", Preset(Policy(), ""))


DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_parameters_is_current() -> None:
    hint = "write it again: python -m ibidem_dedupe.parameters > docs/parameters.md"
    assert (DOCS / "parameters.md").read_text(encoding="utf-8") == page(), hint


def word(number: int, begin: str = "w") -> str:
    return f"{begin}{chr(97 + number // 26)}{chr(97 + number % 26)}"


@pytest.mark.slow
def test_books_leaves_apart_what_shares_its_rarest_terms_in_a_licence_alone() -> None:
    licence = [word(number, "l") for number in range(80)]
    common = [word(number) for number in range(200)]
    table = Table.build("en", 100_000, dict.fromkeys(licence, 2.0) | dict.fromkeys(common, 50_000.0), "a test")
    rng = random.Random(5)  # noqa: S311 - made-up data keeps no secret
    a, b = ([*rng.choices(common, k=3_000), *map(str, range(year, year + 30)), *licence] for year in (1811, 1847))
    both = [packed(" ".join(words), table=table) for words in (a, b)]
    assert decide(*both, Policy(terms=Terms(lengths=0.8, numbers=False)))
    assert not decide(*both, PRESETS["books"].policy)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("dedupe", "on", "off, collapse, indent"),
        ("dedupe_level", "exact", "identical, near, partial"),
        ("dedupe_keep", "newest", "rank, earliest, latest, longest, current, source:"),
        ("dedupe_keep", "source:", "source:NAME"),
        ("dedupe_window", "0", "1 to 10,000"),
        ("dedupe_window", "10001", "1 to 10,000"),
        ("dedupe_window", "ten", "an integer"),
        ("dedupe_window", "9" * 5000, "an integer"),
        ("dedupe_scope", "all", "window, matches, index"),
        ("dedupe_document", "a field", "FIELD, or FIELD:TEXT_FIELD"),
        ("dedupe_document", "a:b:c", "FIELD, or FIELD:TEXT_FIELD"),
        ("dedupe_document", ":text", "FIELD, or FIELD:TEXT_FIELD"),
        ("dedupe_document", "meta.*", "without wildcards"),
        ("dedupe_similarity", "19", "an integer from 20 to 100"),
        ("dedupe_similarity", "101", "20 to 100"),
        ("dedupe_window_days", "-1", "none, or an integer"),
        ("dedupe_max_per_group", "10001", "0 to 10"),
        ("dedupe_preset", "newspapers", "news, law, books, scans, conrad2003"),
        ("dedupe_explain", "yes", "true, false"),
    ],
)
def test_a_wrong_value_is_refused_with_the_right_ones(name: str, value: str, right: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_request({name: value})
    assert right in str(error.value)


def test_a_wrong_name_is_refused_with_the_right_ones() -> None:
    with pytest.raises(UsageError) as error:
        parse_request({"dedupe_windows": "500"})
    assert "did you mean dedupe_window?" in str(error.value)
    assert all(name in str(error.value) for name in PARAMETERS)


def test_similarity_overrides_a_preset_s_figures_and_leaves_out_what_the_preset_leaves_out() -> None:
    law = parse_request({"dedupe_preset": "law", "dedupe_similarity": 90}).policy
    assert law == replace(PRESETS["law"].policy, slots=Slots(82), terms=Terms(share=0.9, lengths=0.5))
    assert parse_request({"dedupe_preset": "conrad2003", "dedupe_similarity": 90}).policy.slots is None


def combinations() -> list[dict[str, str]]:
    """Read the pairs of parameters that `docs/limits.md` says are never combined."""
    page = (Path(__file__).parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(dedupe_\w+)=(\w+)` \| `(dedupe_\w+)=([^`]+)` \|", page, re.MULTILINE)
    assert len(rows) == 6
    given = {"dedupe_window": "100", "dedupe_scope": "index", "dedupe_document": "parent"}
    return [{a: value, b: given[b] if other == "…" else other} for a, value, b, other in rows]


@pytest.mark.parametrize("values", combinations(), ids=" ".join)
def test_parameters_that_the_page_of_limits_says_cannot_be_combined_are_refused(values: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        parse_request(values)
    for name, value in values.items():
        parse_request({name: value})
