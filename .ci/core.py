"""The core without its side packages: a copy of the tree without them imports, passes mypy, shows help, and is tested.

    python .ci/core.py

The copy has an environment of its own, which holds the packages that are installed here, and of ours the copy alone.
"""

import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = (
    *("ibidem", "ibidem_core", "ibidem_dedupe", "ibidem_engines", "ibidem_ingest", "ibidem_mappings"),
    "ibidem_workers",
)
FOLDERS = ("ingest", "mappings", "plugins", "workers")
LEFT_OUT = (
    *(f"{folder}{name}" for name in ("gateway", "lab", "mail", "spark") for folder in ("plugins/ibidem_", "tests/")),
    *("tests/suites", "tests/fuzz", "tests/plugin/test_search.py"),  # they test parts of the gateway, too
    *("tests/engines/cluster/test_least_rights.py", "tests/workers/backfill/test_beside.py"),  # the same
    *("tests/plugin/test_packaging.py", "tests/adversary/patterns.py", "tests/adversary/test_patterns.py"),  # packages
    # What pages, tables and golden files say of the whole product.
    *("tests/test_readme.py", "tests/test_security.py", "tests/servers/test_tiers.py"),
    *("tests/snippets", "tests/clients/test_openaleph.py"),
    *(f"tests/contracts/test_{name}.py" for name in ("help", "http", "json", "logs")),
)
QUICK = ("-m", "not server and not slow and not thorough", "--hypothesis-profile", "quick", "--quiet", "-n", "auto")


def main() -> None:
    """Copy, and run all of it; the first failure ends it."""
    with tempfile.TemporaryDirectory(prefix="ibidem-core-") as name:
        python, tree = make_environment(Path(name))
        for command in (
            ("-c", f"import {', '.join(CORE)}"),
            ("-m", "mypy", *(f"--package={each}" for each in CORE)),
            ("-c", "from ibidem.cli import main; main(['--help'])"),
            ("-m", "pytest", *QUICK),
        ):
            subprocess.run([python, *command], cwd=tree, check=True)  # noqa: S603 - the commands above


def make_environment(folder: Path) -> tuple[Path, Path]:
    """Copy what git tracks, and the compiled loops; returns the interpreter of the copy, and the copy."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S607
    loops = [str(path.relative_to(ROOT)) for path in ROOT.glob("ingest/ibidem_ingest/kernel/*.so")]
    python, tree = folder / "venv" / "bin" / "python", folder / "tree"
    for name in (*listing.split("\0")[:-1], *loops):
        if (ROOT / name).exists() and not any(Path(name).is_relative_to(each) for each in LEFT_OUT):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    venv.create(folder / "venv")
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    paths = [*(tree / each for each in FOLDERS), sysconfig.get_path("purelib")]
    (site / "core.pth").write_text("\n".join(map(str, paths)), encoding="utf-8")
    return python, tree


if __name__ == "__main__":
    sys.exit(main())
