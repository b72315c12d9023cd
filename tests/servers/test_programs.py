"""A Java program is compiled once for the jars that it needs, and anew when it changes."""

from pathlib import Path

import pytest

from servers.jdk import java
from servers.missing import Missing
from servers.programs import compiled

pytestmark = pytest.mark.slow


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "engine-1.0" / "jars").mkdir(parents=True)
    return tmp_path / "engine-1.0" / "jars"


def test_a_program_is_compiled_once_and_anew_when_it_changes(tmp_path: Path, jars: Path) -> None:
    source = tmp_path / "Hello.java"
    source.write_text("class Hello {}")
    jar = compiled(source, jars, java())
    written = jar.stat()
    assert compiled(source, jars, java()).stat() == written
    source.write_text("class Hello { int number; }")
    assert compiled(source, jars, java()) != jar


def test_what_cannot_be_compiled_is_missing_with_the_reason(tmp_path: Path, jars: Path) -> None:
    source = tmp_path / "Hello.java"
    source.write_text("class Hello { Nosuch number; }")
    with pytest.raises(Missing, match="Nosuch"):
        compiled(source, jars, java())
