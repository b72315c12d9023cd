"""The wheel and the source distribution work in an environment that has nothing but Python on its path."""

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VECTORS = ROOT / "tests" / "ingest" / "signatures" / "test_vectors.py"

pytestmark = pytest.mark.slow


def run(*command: str, cwd: Path, **variables: str) -> str:
    """Run a command; returns what it printed."""
    environment = {"HOME": str(cwd), "LANG": "C.UTF-8", **variables}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(target: str, folder: Path, compiler: str) -> Path:
    """Build one archive of this tree."""
    builder = (sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder))
    run(*builder, cwd=ROOT, CC=compiler, PATH=os.environ["PATH"], HOME=str(folder))
    (archive,) = folder.iterdir()
    return archive


def install(archive: Path, folder: Path, compiler: str) -> Path:
    """Install an archive; its dependencies are those of this environment, which its own path file does not name."""
    venv.create(folder, with_pip=True, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall")
    python = str(folder / "bin" / "python")
    run(python, "-m", "pip", "install", *options, str(archive), cwd=folder, CC=compiler, PATH=os.environ["PATH"])
    return folder / "bin"


@pytest.mark.parametrize(
    ("target", "compiler"), [("wheel", "cc"), pytest.param("sdist", "false", marks=pytest.mark.nightly)]
)
def test_a_stranger_installs_it_and_gets_the_signatures_of_the_vectors(
    target: str, compiler: str, tmp_path: Path
) -> None:
    """The wheel brings the compiled loops; the source distribution is installed where no compiler is."""
    (tmp_path / "dist").mkdir()
    archive = build(target, tmp_path / "dist", compiler)
    commands = install(archive, tmp_path / "environment", compiler)
    place = {"cwd": tmp_path, "PATH": str(commands)}
    assert run(str(commands / "ibidem"), "--version", **place).endswith("(distribution ibidem-search)\n")
    where = "import ibidem_ingest.kernel.loops as loops; print(loops.__file__, loops.IN_USE is not None)"
    file, compiled = run(str(commands / "python"), "-c", where, **place).split()
    assert Path(file).is_relative_to(tmp_path)
    assert compiled == str(target == "wheel")
    assert re.search(r"\d documents in [\d,]+ groups", run(str(commands / "ibidem"), "demo", **place))
    run(str(commands / "python"), "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", str(VECTORS), **place)
