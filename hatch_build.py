"""Build hook: compiles the loops of signing and grouping where a C compiler is; without one both are slower."""

import hashlib
import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("ingest/ibidem_ingest/kernel")
OPTIONS = ("-O3", "-std=gnu11", "-fPIC", "-shared")


class KernelHook(BuildHookInterface[Any]):
    """Compiles `kernel.c` beside itself, and puts the library into the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - as the interface has it
        """Compile before the wheel is made; a wheel with a library is one of this platform.

        Args:
            version: `standard` or `editable`; the same is done for both.
            build_data: What the wheel is made of.
        """
        if self.target_name != "wheel" or not compiled(Path(self.root) / FOLDER):
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(f"/{FOLDER}/kernel.so")


def compiled(folder: Path) -> bool:
    """Compile the library; returns whether that was possible."""
    source, library = folder / "kernel.c", folder / "kernel.so"
    made = library.with_name(f"kernel.{os.getpid()}.so")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    name = f'-DSOURCE="{hashlib.blake2b(source.read_bytes(), digest_size=8).hexdigest()}"'
    try:
        command = [*compiler, *OPTIONS, name, str(source), "-o", str(made)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - the compiler whom the installer names
        made.replace(library)
    except (OSError, subprocess.CalledProcessError) as error:
        made.unlink(missing_ok=True)
        library.unlink(missing_ok=True)
        sys.stderr.write(f"ibidem: the loops of signing are not compiled ({error}): documents are signed slowly\n")
        return False
    return True
