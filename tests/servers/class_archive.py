"""An archive of the ten thousand classes that a node loads as it starts, made by one that is started for this alone."""

import hashlib
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from servers.jars import cache, made
from servers.process import PATIENCE_S, Launch, free_ports

Prepare = Callable[..., Launch]  # from the folder, ports and settings of a node
ALONE = ("node.name=one", "discovery.type=single-node")
ENDS_S = 60.0


def with_archive(name: str, launch: Launch, prepare: Prepare) -> Launch:
    """Have a node read its classes from the archive of its kind."""
    java, *arguments = launch.command
    digest = hashlib.sha256(str(Path(java).resolve()).encode()).hexdigest()[:16]
    folder = cache() / f"{name}-classes-{digest}"
    archive = folder / "classes.jsa"
    made(folder, lambda: make_archive(archive, prepare))
    return replace(launch, command=[java, f"-XX:SharedArchiveFile={archive}", *arguments])


def make_archive(archive: Path, prepare: Prepare) -> None:
    """Start a node, and end it as soon as it answers; a runtime that cannot write an archive goes on without one."""
    with TemporaryDirectory(prefix="ibidem-classes-") as folder:
        launch = prepare(Path(folder), *free_ports(2), *ALONE)
        java, *arguments = launch.command
        process = subprocess.Popen(
            [java, f"-XX:ArchiveClassesAtExit={archive}", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            deadline = time.monotonic() + PATIENCE_S
            while process.poll() is None and time.monotonic() < deadline and not launch.answers():
                time.sleep(0.1)
            process.terminate()
            process.wait(ENDS_S)
        finally:
            process.kill()
            process.wait()
