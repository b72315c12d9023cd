"""Builds a zip of the plugin for each version of an engine that `plugins/java/versions.toml` names.

    make plugins                        # all of them, into plugins/java/zips
    python .ci/plugins.py elasticsearch-8.19.4

The sources are those of one version of each engine. For an older one they are copied, and in the copy the differences
that the table names are replaced; one that occurs nowhere is an error, so that the table stays true.
"""

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "plugins" / "java"
ZIPS = SOURCES / "zips"
TABLE = SOURCES / "versions.toml"
SHARED = ("adapter", "core", "lucene")


class BuildError(Exception):
    """A zip could not be built."""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an engine."""

    engine: str  # `opensearch` or `elasticsearch`
    number: str  # as the engine has it
    lucene: str = ""  # the version of Lucene that the shared classes are compiled with; empty for that of the poms

    @property
    def name(self) -> str:
        """As in names of files."""
        return f"{self.engine}-{self.number}"


@dataclass(frozen=True, slots=True)
class Difference:
    """What the classes of earlier versions call otherwise."""

    before: dict[str, str]  # by engine, the first version that has what the sources are written for
    why: str  # what differs
    replace: tuple[tuple[str, str], ...]  # pairs of text; each first text occurs in some source

    def concerns(self, version: Version) -> bool:
        """Return whether a version is one of those."""
        bound = self.before.get(version.engine)
        return bound is not None and numbers(version.number) < numbers(bound)


def main(names: Sequence[str]) -> int:
    """Build the named versions, or all; returns the exit code."""
    versions, differences = read_table()
    failed = 0
    for name in names or [each.name for each in versions]:
        try:
            say(f"built {build(find_version(name, versions), differences).name}", 0)
        except BuildError as error:
            failed = say(f"{name}: {error}", 1)
    return failed


def find_version(name: str, versions: Sequence[Version]) -> Version:
    """Return the version of a name such as `opensearch-3.6.0`; one that the table lacks is built like its line."""
    engine, _, number = name.partition("-")
    for each in reversed(versions):
        if each.name == name:
            return each
        if each.engine == engine and line(each.number) == line(number):
            return replace(each, number=number)
    lines = sorted({f"{each.engine}-{line(each.number)}.x" for each in versions})
    raise BuildError(f"no line of {TABLE.name}: {', '.join(lines)}")


def zip_for(name: str, built: Iterable[str]) -> str:
    """Return the zip that fits a version, of those that are built; empty where none does.

    An Elasticsearch plugin fits one exact version, an OpenSearch one its patch and later ones of the minor version.
    """
    engine, _, number = name.partition("-")
    for each in built:
        other_engine, _, other = each.partition("-")
        fits = other == number or (
            engine == "opensearch" and line(other) == line(number) and numbers(other) <= numbers(number)
        )
        if other_engine == engine and fits:
            return f"ibidem-{each}.zip"
    return ""


def line(version: str) -> str:
    """Return major and minor number of a version."""
    return version.rpartition(".")[0]


def read_table() -> tuple[list[Version], list[Difference]]:
    """Return the versions and the differences that the table names."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    versions = [
        Version(engine, number, lucene)
        for engine, numbers_of in table["versions"].items()
        for number, lucene in numbers_of.items()
    ]
    differences = [
        Difference(each["before"], each["why"], tuple((old, new) for old, new in each["replace"]))
        for each in table["differences"]
    ]
    return versions, differences


def build(version: Version, differences: Sequence[Difference]) -> Path:
    """Build the zip of one version, and return it."""
    copy = SOURCES / "target" / version.name / "plugins" / "java"
    shutil.rmtree(copy.parents[1], ignore_errors=True)
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("target", "zips"))
    shutil.copy(ROOT / "LICENSE", copy.parents[1])
    for each in differences:
        if each.concerns(version):
            apply(each, copy, version.engine)
    modules = f"core,lucene,{version.engine}"
    options = [f"-D{version.engine}.version={version.number}", "-Dspotless.check.skip", "-DskipTests"]
    options += [f"-Dlucene.version={version.lucene}"] if version.lucene else []
    command = ["mvn", "--quiet", "--batch-mode", "--file", str(copy / "pom.xml"), "--projects", modules, *options]
    done = subprocess.run([*command, "package"], capture_output=True, text=True, check=False)  # noqa: S603 - Maven
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if line.startswith("[ERROR]")]
        raise BuildError("\n".join(errors[:40]))
    ZIPS.mkdir(exist_ok=True)
    name = f"ibidem-{version.name}.zip"
    return Path(shutil.copy(copy / version.engine / "target" / name, ZIPS / name))


def apply(difference: Difference, copy: Path, engine: str) -> None:
    """Replace one difference in a copy of the sources."""
    texts = {path: path.read_text(encoding="utf-8") for path in sources(copy, engine)}
    left = {old for old, _ in difference.replace if not any(old in text for text in texts.values())}
    for path, text in texts.items():
        for old, new in difference.replace:
            text = text.replace(old, new)  # noqa: PLW2901 - one replacement after the other
        path.write_text(text, encoding="utf-8")
    if left:
        raise BuildError(f"{TABLE.name} replaces what no source has ({difference.why}): {min(left)!r}")


def sources(copy: Path, engine: str) -> Iterator[Path]:
    """Yield the sources of an engine's plugin."""
    for folder in (*SHARED, engine):
        yield from sorted((copy / folder).rglob("*.java"))
    yield copy / engine / "pom.xml"


def numbers(version: str) -> tuple[int, ...]:
    """Return a version as it is compared."""
    return tuple(int(part) for part in version.split("."))


def say(what: str, code: int) -> int:
    """Print a line; returns the exit code that goes with it."""
    sys.stdout.write(f"plugins: {what}\n")
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
