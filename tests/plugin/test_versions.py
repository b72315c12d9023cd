"""The table of versions stays true to the sources, and names the zip that a version takes."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from ibidem.index.doctor import zip_version

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plugins() -> dict[str, Any]:
    """The script that builds the zips."""
    return runpy.run_path(str(ROOT / ".ci" / "plugins.py"))


def test_each_text_that_is_replaced_for_an_older_version_is_in_the_sources(plugins: dict[str, Any]) -> None:
    _, differences = plugins["read_table"]()
    for each in differences:
        for engine in each.before:
            texts = [path.read_text() for path in plugins["sources"](plugins["SOURCES"], engine)]
            assert [old for old, _ in each.replace if not any(old in text for text in texts)] == []


def test_the_newest_version_of_each_engine_is_that_of_the_sources(plugins: dict[str, Any]) -> None:
    versions, differences = plugins["read_table"]()
    pom = (plugins["SOURCES"] / "pom.xml").read_text()
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
def test_a_zip_fits_patches_of_opensearch_and_one_version_of_elasticsearch(
    plugins: dict[str, Any], name: str, zipped: str
) -> None:
    assert plugins["zip_for"](name, ["opensearch-3.3.0", "elasticsearch-9.5.3"]) == zipped


def test_doctor_names_the_zip_that_each_version_of_the_table_takes(plugins: dict[str, Any]) -> None:
    built = [each.name for each in plugins["read_table"]()[0]]
    for name in [*built, "opensearch-2.19.1", "opensearch-3.3.2"]:
        engine, _, version = name.partition("-")
        assert f"ibidem-{zip_version(engine, version)}.zip" == plugins["zip_for"](name, built)
