"""The distribution that the modules come from is known, and a foreign one of the same name is noticed."""

from importlib.metadata import version
from pathlib import Path

import pytest

from ibidem_ingest import distribution


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution `ibidem` of other people in the same environment."""
    metadata = tmp_path / "ibidem-1.0.2.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: ibidem\nVersion: 1.0.2\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


def test_the_version_is_that_of_the_distribution() -> None:
    assert distribution.installed_version() == version("ibidem-search")


@pytest.mark.usefixtures("foreign")
def test_a_foreign_distribution_of_the_same_name_is_noticed() -> None:
    assert distribution.foreign_version() == "1.0.2"
