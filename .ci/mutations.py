"""Mutation tests of the code that decides, settles and keeps checkpoints: which changes to it no quick test notices.

mutmut changes one place of a module at a time, and runs the quick tests that reach it. It wants a folder `src` with the
packages, so it works on a copy, and stays out of the checkout.

    make mutations                          all modules, in some hours
    make mutations MODULES=decision         those whose path holds one of the words
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]

PACKAGES = ("ingest/*", "mappings/*", "plugins/ibidem", "plugins/ibidem_engines", "workers/ibidem_workers")

MODULES: Mapping[str, Sequence[str]] = {
    "ibidem_dedupe/decision.py": ("dedupe/test_decision.py", "dedupe/test_pairs*.py", "ingest/test_title.py"),
    "ibidem_dedupe/pair_rules.py": ("dedupe/test_decision.py", "dedupe/test_column_rules.py", "dedupe/test_pairs.py"),
    "ibidem_dedupe/pair_evidence.py": ("dedupe/test_decision.py", "dedupe/test_column_rules.py"),
    "ibidem_dedupe/column_rules.py": ("dedupe/test_column_rules.py", "dedupe/test_pairs.py"),
    "ibidem_dedupe/leader_clustering.py": (
        "dedupe/test_leader_clustering*.py",
        "dedupe/test_pairs_related.py",
        "adversary/test_hot_keys.py",
    ),
    "ibidem_dedupe/overrides.py": ("dedupe/test_overrides.py", "dedupe/test_leader_clustering.py"),
    "ibidem_engines/group_checkpoint.py": ("engines/test_group_checkpoint.py",),
    "ibidem_engines/cluster/state_store.py": ("engines/cluster/test_state_store.py",),
    "ibidem_workers/groups/settle.py": (
        "workers/groups/test_settle.py",
        "workers/groups/test_service.py",
        "workers/groups/test_follower.py",
        "workers/groups/test_bad_input.py",
    ),
    "ibidem_workers/groups/lookup_match.py": (
        "workers/groups/test_lookup_match.py",
        "workers/groups/test_settle.py",
        "workers/groups/test_service.py",
        "workers/groups/test_follower.py",
        "workers/groups/test_shared_match.py",
    ),
    "ibidem_workers/groups/columns_match.py": (
        "workers/groups/test_columns_match.py",
        "workers/groups/test_bad_input.py",
    ),
    "ibidem_workers/groups/stored_columns.py": (
        "workers/groups/test_stored_columns.py",
        "workers/groups/test_columns_match.py",
        "workers/groups/test_everything.py",
    ),
    "ibidem_workers/groups/match_task.py": ("workers/groups/test_shared_match.py", "workers/groups/test_bad_input.py"),
    "ibidem_workers/groups/shared_match.py": (
        "workers/groups/test_shared_match.py",
        "workers/groups/test_bad_input.py",
    ),
    "ibidem_workers/groups/lease.py": ("workers/groups/test_lease.py",),
    "ibidem_workers/groups/block.py": ("workers/groups/test_block.py",),
    "ibidem_workers/groups/follower.py": (
        "workers/groups/test_follower*.py",
        "workers/groups/test_service.py",
        "workers/groups/test_bad_input.py",
    ),
    "ibidem_workers/groups/service.py": ("workers/groups/test_follower.py", "workers/groups/test_service_progress.py"),
    "ibidem_workers/groups/everything.py": (
        "workers/groups/test_everything.py",
        "workers/groups/test_follower.py",
        "workers/groups/test_service.py",
    ),
    "ibidem_workers/groups/thread_places.py": ("workers/groups/test_thread_places.py",),
    "ibidem_workers/groups/lead_keys.py": ("workers/groups/test_lead_keys.py",),
    "ibidem_workers/groups/heirs.py": ("workers/groups/test_heirs.py",),
    "ibidem_workers/backfill/checkpoint.py": ("workers/backfill/test_checkpoint*.py",),
}
"""Each module, with the tests that are asked about it: files and folders of `tests`."""

SELECTION = (
    "-m",
    "not server and not slow and not thorough",
    "--hypothesis-profile=quick",
    "--hypothesis-seed=0",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
)
"""Those of `make quick`; the seed makes a second run judge alike."""

PROJECT = """[tool.mutmut]
source_paths = ["src"]
only_mutate = {modules}
pytest_add_cli_args = {selection}
pytest_add_cli_args_test_selection = {tests}
track_dependencies = false
use_git_change_detection = false
use_setproctitle = false
timeout_constant = 5.0

[tool.pytest.ini_options]
addopts = "--import-mode=importlib --strict-markers"
pythonpath = ["tests"]
timeout = 120
markers = ["server(name, ...)", "thorough", "nightly", "slow"]
"""


def prepare(folder: Path, modules: Sequence[str]) -> None:
    """Copy packages and tests, with a configuration that names the modules to change and the tests to run.

    Args:
        folder: Where to.
        modules: Which modules are changed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    no_caches = shutil.ignore_patterns("__pycache__")
    for pattern in PACKAGES:
        for package in ROOT.glob(pattern):
            shutil.copytree(package, folder / "src" / package.name, ignore=no_caches)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=no_caches)
    tests = sorted({path for module in modules for path in find_tests(module)})
    paths = [f"src/{module}" for module in modules]
    project = PROJECT.format(modules=json.dumps(paths), selection=json.dumps(SELECTION), tests=json.dumps(tests))
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")


def find_tests(module: str) -> list[str]:
    """Name the tests that are asked about a module."""
    found = []
    for pattern in MODULES[module]:
        paths = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").glob(pattern)]
        if not paths:
            raise SystemExit(f"no tests for {module}: tests/{pattern} is not there")
        found += paths
    return found


def main() -> int:
    """Change what the words choose, and tell which changes no test noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of modules' paths; none: all modules")
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutations", help="where the copy is made")
    parser.add_argument("--jobs", default="2", help="how many changes are tried at the same time")
    options = parser.parse_args()
    modules = [each for each in MODULES if not options.words or any(word in each for word in options.words)]
    prepare(options.folder, modules)
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", options.jobs]
    return subprocess.run(command, cwd=options.folder, check=False).returncode  # noqa: S603 - a fixed command


if __name__ == "__main__":
    sys.exit(main())
