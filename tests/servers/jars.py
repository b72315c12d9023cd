"""Fetch a server's jars with Maven, once, into a folder outside the project."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from servers.missing import Missing

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>ibidem</groupId>
<artifactId>servers</artifactId><version>1</version><dependencies>{}</dependencies></project>
"""
DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
    "<exclusions>{}</exclusions></dependency>"
)
ALL = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"


def cache() -> Path:
    """Return the folder that keeps the jars from one run to the next."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ibidem-servers"


def fetched(name: str, artifacts: Sequence[str]) -> Path:
    folder = cache() / name
    made(folder, lambda: fetch(folder, artifacts))
    return folder / "jars"


def made(folder: Path, make: Callable[[], None]) -> None:
    """Have something make what a folder is to hold, once, also where several processes ask for it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            make()
            (folder / "complete").touch()


def fetch(folder: Path, artifacts: Sequence[str]) -> None:
    """Let Maven copy the artifacts into `jars` of the folder."""
    maven = shutil.which("mvn")
    if maven is None:
        raise Missing("Maven (mvn) is not on the path")
    (folder / "pom.xml").write_text(POM.format("".join(map(dependency, artifacts))))
    command = [maven, "-q", "-B", "-f", folder / "pom.xml", "dependency:copy-dependencies"]
    try:
        process = subprocess.run(
            [*command, f"-DoutputDirectory={folder / 'jars'}"],
            capture_output=True, text=True, timeout=550, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise Missing(f"Maven did not fetch {', '.join(artifacts)} within {error.timeout:g} s") from error
    if process.returncode:
        raise Missing(f"Maven could not fetch {', '.join(artifacts)}: {process.stdout.strip()[-500:]}")


def dependency(artifact: str) -> str:
    """Return one artifact as the element of a POM."""
    group, name, version, *alone = artifact.split(":")
    return DEPENDENCY.format(group, name, version, ALL if alone else "")
