"""The zips hold what installers and lawyers look for."""

import zipfile
from pathlib import Path

import pytest

import ibidem
from plugin.cluster import VERSION, built
from servers.nodes import EngineName

ROOT = Path(__file__).parents[2]


@pytest.fixture
def package(kind: EngineName) -> zipfile.ZipFile:
    """Archives built by `make plugin`."""
    return zipfile.ZipFile(f"{built(kind)}.zip")


def test_the_licence_and_whose_work_is_in_it_go_with_the_plugin(package: zipfile.ZipFile) -> None:
    assert package.read("LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert b"hash4j" in package.read("NOTICE")
    assert {name for name in package.namelist() if "/" not in name and not name.endswith(".jar")} == {
        "LICENSE",
        "NOTICE",
        "plugin-descriptor.properties",
    }


def test_the_descriptor_names_versions_and_a_class_that_is_there(package: zipfile.ZipFile, kind: EngineName) -> None:
    lines = package.read("plugin-descriptor.properties").decode().splitlines()
    properties = dict(line.split("=", maxsplit=1) for line in lines if line)
    assert properties["name"] == "ibidem"
    assert properties["version"] == ibidem.__version__
    assert properties["java.version"] == "21"
    versions = {
        "opensearch": ("dependencies", f'{{opensearch:"~{VERSION["opensearch"]}"}}'),
        "elasticsearch": ("elasticsearch.version", VERSION["elasticsearch"]),
    }
    name, value = versions[kind]
    assert properties[name] == value
    (jar,) = [each for each in package.namelist() if each.endswith(".jar")]
    with package.open(jar) as opened, zipfile.ZipFile(opened) as classes:
        assert properties["classname"].replace(".", "/") + ".class" in classes.namelist()
