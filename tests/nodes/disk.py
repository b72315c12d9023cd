"""Disks of nodes that become slow or full, by a library that is preloaded into their processes (`disk.c`)."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Literal

from servers.missing import Missing
from servers.process import Launch

Kind = Literal["slow", "full"]
SOURCE = Path(__file__).with_name("disk.c")


def build_library(folder: Path) -> Path:
    """Compile the library that is preloaded."""
    library = folder / "disk.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise Missing(f"{SOURCE.name} could not be compiled: {process.stderr.strip()[-500:]}")
    return library


class Disk:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def attach(self, launch: Launch) -> Launch:
        """Let a command write to this disk."""
        library = build_library(self._folder)
        variables = {"LD_PRELOAD": str(library), "IBIDEM_DISK": str(self._folder / "disk")}
        return replace(launch, environment={**launch.environment, **variables})

    def begin(self, kind: Kind) -> None:
        """Let the trouble come."""
        (self._folder / "disk.felt").unlink(missing_ok=True)
        (self._folder / f"disk.{kind}").touch()

    @property
    def is_felt(self) -> bool:
        """Whether a write was refused or a write or its end on the disk delayed since the trouble came."""
        return (self._folder / "disk.felt").exists()

    def end(self) -> None:
        """Let all trouble pass."""
        for path in self._folder.glob("disk.[fs][eul]*"):
            path.unlink()
