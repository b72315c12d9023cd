"""The table of versions stays true to the sources, and names the zip that a version takes."""

import runpy
from pathlib import Path

import pytest

from ibidem.index.doctor import zip_version
from plugin.written import FILES, FOLDER, golden

PLUGINS = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "plugins.py"))  # the script that builds the zips


def test_each_text_that_is_replaced_for_an_older_version_is_in_the_sources() -> None:
    _, differences = PLUGINS["read_table"]()
    for each in differences:
        for engine in each.before:
            texts = [path.read_text() for path in PLUGINS["sources"](PLUGINS["SOURCES"], engine)]
            assert [old for old, _ in each.replace if not any(old in text for text in texts)] == []


def test_the_newest_version_of_each_engine_is_that_of_the_sources() -> None:
    versions, differences = PLUGINS["read_table"]()
    pom = (PLUGINS["SOURCES"] / "pom.xml").read_text()
    for engine in ("opensearch", "elasticsearch"):
        newest = [each for each in versions if each.engine == engine][-1]
        assert f"<{engine}.version>{newest.number}</{engine}.version>" in pom
        assert not any(each.concerns(newest) for each in differences)


@pytest.mark.parametrize(
    ("name", "zipped"),
    [
        ("opensearch-3.3.2", "ibidem-opensearch-3.3.0.zip"),
        ("opensearch-3.4.0", ""),
        ("elasticsearch-9.5.3", "ibidem-elasticsearch-9.5.3.zip"),
        ("elasticsearch-9.5.2", ""),
    ],
)
def test_a_zip_fits_patches_of_opensearch_and_one_version_of_elasticsearch(name: str, zipped: str) -> None:
    assert PLUGINS["zip_for"](name, ["opensearch-3.3.0", "elasticsearch-9.5.3"]) == zipped


def test_doctor_names_the_zip_that_each_version_of_the_table_takes() -> None:
    built = [each.name for each in PLUGINS["read_table"]()[0]]
    for name in [*built, "opensearch-2.19.1", "opensearch-3.3.2"]:
        engine, _, version = name.partition("-")
        assert f"ibidem-{zip_version(engine, version)}.zip" == PLUGINS["zip_for"](name, built)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_golden_file_holds_what_is_answered(name: str) -> None:
    """If this is meant to change: `PYTHONPATH=tests python -m plugin.written`, and mend the plugin."""
    file = (FOLDER / f"{name}.jsonl").read_bytes().splitlines()
    for number, (line, golden_line) in enumerate(zip(file, golden(name).splitlines(), strict=True), 1):
        assert line == golden_line, f"line {number} of {name}.jsonl"
