"""Compile a Java program for a server's jars, once, into the folder that keeps the jars."""

import hashlib
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

from servers.jars import cache, made
from servers.missing import Missing

COMPILER = "jdk.compiler/com.sun.tools.javac.Main"  # as a module: a runtime without the command `javac` has it too


def compiled(source: Path, jars: Path, java: Path, *options: str) -> Path:
    """Return a jar with the classes of a program."""
    digest = hashlib.sha256(f"{java.resolve()} {options}".encode() + source.read_bytes()).hexdigest()[:16]
    folder = cache() / f"{jars.parent.name}-{source.stem}-{digest}"
    jar = folder / f"{source.stem}.jar"
    made(folder, lambda: make_jar(jar, source, java, options or ("-cp", class_path(jars))))
    return jar


def class_path(jars: Path) -> str:
    return ":".join(map(str, sorted(jars.glob("*.jar"))))


def make_jar(jar: Path, source: Path, java: Path, options: Sequence[str]) -> None:
    """Compile a program into a jar."""
    classes = jar.parent / "classes"
    command = [java, "-m", COMPILER, *options, "-d", classes, source]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if process.returncode:
        raise Missing(f"{source.name} could not be compiled: {process.stderr.strip()[-500:]}")
    with zipfile.ZipFile(jar, "w") as archive:
        for each in sorted(classes.iterdir()):
            archive.write(each, each.name)
