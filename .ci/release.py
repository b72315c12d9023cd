"""Builds what a release uploads, into `dist/`: source, wheels, plugin zips, a bill of materials, notes, checksums.

    make release

Nothing is uploaded. A wheel is made for each target whose compiler is here; a target that is left out is named.
`CONTRIBUTING.md` lists the manual steps, and what has not been tried.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import plugins
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
# Opens a library as an interpreter does and hashes words by it, where no interpreter here runs on its platform.
LOAD = Path(__file__).with_name("load.c")


@dataclass(frozen=True, slots=True)
class Target:
    """One platform that a wheel is built for."""

    platform: str  # the platform tag that installers know; `any` for the wheel without compiled loops
    compiler: str  # the compiler that has to be here
    host: str = "linux-x86_64"  # the platform as Python names it, for a compiler that builds for another one than this
    emulator: tuple[str, ...] = ()  # the command that runs programs of that platform here


TARGETS = (
    Target("manylinux_2_17_x86_64", "gcc"),
    Target(
        *("manylinux_2_17_aarch64", "aarch64-linux-gnu-gcc", "linux-aarch64"),
        emulator=("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"),
    ),
    Target("musllinux_1_2_x86_64", "musl-gcc"),
    Target("any", "false"),
)

CYCLONEDX = SchemaVersion.V1_6  # version of the format of the bill of materials


class ReleaseError(Exception):
    """What was built may not be released."""


def main() -> int:
    """Build everything; returns the exit code."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    try:
        run("python", "-m", "build", "--sdist", "--outdir", str(DIST), ".")
        version = next(DIST.glob("*.tar.gz")).name.removesuffix(".tar.gz").rpartition("-")[2]
        with tempfile.TemporaryDirectory() as folder:
            unpack(next(DIST.glob("*.tar.gz")), Path(folder))
            hashes = {target.platform: build_wheel(target, next(Path(folder).iterdir())) for target in TARGETS}
        compare_hashes(hashes)
        copy_plugins(version)
        write_bill_of_materials()
        (DIST / "NOTES.md").write_text(release_notes(version), encoding="utf-8")
        run("twine", "check", "--strict", *map(str, packages()))
    except (ReleaseError, subprocess.CalledProcessError) as error:
        return say(f"not built: {error}", 1)
    (DIST / "SHA256SUMS").write_text("".join(checksums()), encoding="utf-8")
    return say(f"built {version}: {', '.join(sorted(each.name for each in DIST.iterdir()))}", 0)


def unpack(source: Path, folder: Path) -> None:
    """Unpack the source distribution as the tests unpack archives."""
    sys.path.insert(0, str(ROOT / "tests"))
    from support.archives import extract  # noqa: PLC0415 - a module of the tests

    with tarfile.open(source) as archive:
        extract(archive, folder)


def build_wheel(target: Target, source: Path) -> str:
    """Build the wheel of one target, with the platform tag that its library deserves."""
    if shutil.which(target.compiler) is None:
        say(f"no wheel for {target.platform}: {target.compiler} is not installed", 0)
        return ""
    with tempfile.TemporaryDirectory() as folder:
        host = {"CC": target.compiler, "_PYTHON_HOST_PLATFORM": target.host}
        run("python", "-m", "build", "--wheel", "--outdir", folder, str(source), environment=host)
        (wheel,) = Path(folder).glob("*.whl")
        hashes = hash_words(target, wheel, Path(folder))
        if target.platform.startswith("manylinux"):
            run("auditwheel", "repair", "--wheel-dir", str(DIST), str(wheel))
            if not list(DIST.glob(f"*{target.platform}.whl")):
                raise ReleaseError(f"the library needs more than {target.platform} has: auditwheel show {wheel.name}")
        elif target.platform.startswith("musllinux"):  # auditwheel judges by the C library of its own interpreter
            run("python", "-m", "wheel", "tags", "--remove", "--platform-tag", target.platform, str(wheel))
            shutil.copy(next(Path(folder).glob("*.whl")), DIST)
        elif wheel.name.endswith("-none-any.whl"):
            shutil.copy(wheel, DIST)
        else:
            raise ReleaseError(f"{wheel.name} has a compiled library where none was asked for")
        return hashes


def hash_words(target: Target, wheel: Path, folder: Path) -> str:
    """Open a wheel's library with its platform's own loader, and return what it hashes some words to."""
    run("python", "-m", "wheel", "unpack", "--dest", str(folder), str(wheel))
    libraries = list(folder.rglob("kernel.so"))
    if not libraries:
        return ""
    if target.emulator and shutil.which(target.emulator[0]) is None:
        say(f"the library for {target.platform} is not opened: {target.emulator[0]} is not installed", 0)
        return ""
    run(target.compiler, "-o", str(folder / "load"), str(LOAD), "-ldl")
    return run(*target.emulator, str(folder / "load"), str(libraries[0]))


def compare_hashes(hashes: Mapping[str, str]) -> None:
    """Compare what the libraries of all platforms hash the same words to."""
    if len(set(filter(None, hashes.values()))) > 1:
        raise ReleaseError(f"libraries hash the same words to different values: {hashes}")


def copy_plugins(version: str) -> None:
    """Copy the plugins' zips that `make plugins` built."""
    for each in plugins.read_table()[0]:
        built = plugins.ZIPS / f"ibidem-{each.name}.zip"
        if not built.exists():
            raise ReleaseError(f"no zip of the plugin for {each.name}: run `make plugins` first")
        if f"version={version}\n" not in zipfile.ZipFile(built).read("plugin-descriptor.properties").decode():
            raise ReleaseError(f"{built.name} is not of version {version}: run `make plugins` again")
        shutil.copy(built, DIST / f"ibidem-plugin-{version}-{each.name}.zip")


def write_bill_of_materials() -> None:
    """Write which packages, in which versions, an installation with all extras for users brings, as CycloneDX."""
    bill = DIST / "sbom.cdx.json"
    wheel = next(DIST.glob("*manylinux*x86_64.whl"), None) or next(DIST.glob("*-any.whl"))
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        interpreter = str(Path(folder, "bin", "python"))
        run(interpreter, "-m", "pip", "install", "--quiet", f"{wheel}[fast,gateway,readers,redis]")
        run(interpreter, "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools")
        run(
            "cyclonedx-py",
            "environment",
            interpreter,
            "--output-file",
            str(bill),
            "--spec-version",
            CYCLONEDX.to_version(),
        )
    if error := JsonStrictValidator(CYCLONEDX).validate_str(bill.read_text(encoding="utf-8")):
        raise ReleaseError(f"{bill.name} does not conform to CycloneDX {CYCLONEDX.to_version()}: {error}")


def release_notes(version: str) -> str:
    """Return the part of CHANGELOG about one version."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version)}\b.*?\n(.*?)(?=^## |\Z)", changes, re.MULTILINE | re.DOTALL)
    if found is None:
        raise ReleaseError(f"CHANGELOG.md has no part for {version}: add a heading `## {version}` with its changes")
    return found[1].strip() + "\n"


def packages() -> list[Path]:
    """Return the wheels and the source distribution."""
    return sorted((*DIST.glob("*.whl"), *DIST.glob("*.tar.gz")))


def checksums() -> Iterator[str]:
    """Yield a line for each file, as `sha256sum --check` reads them."""
    for each in sorted(DIST.iterdir()):
        yield f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n"


def run(*command: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a command of the environment that this runs in and return what it printed; it is shown where it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, **(environment or {})}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)  # noqa: S603 - commands of this file
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()
    return done.stdout


def say(what: str, code: int) -> int:
    """Print a line; returns the exit code that goes with it."""
    sys.stdout.write(f"release: {what}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
