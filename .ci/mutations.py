"""Mutation tests of the code that decides, settles and keeps checkpoints: which changes to it no quick test notices.

mutmut makes the changes of a module in a copy of packages and tests, and `mutation_forks.py` tries each with the quick
tests that reach it.

    make mutations                          all modules
    make mutations MODULES=decision         those whose path holds one of the words
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from difflib import unified_diff
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents

ROOT = Path(__file__).parents[1]

PACKAGES = ("ingest/*", "mappings/*", "plugins/ibidem", "plugins/ibidem_*", "workers/ibidem_workers")

# Each module, with the tests that are asked about it: files and folders of `tests`.
MODULES: Mapping[str, Sequence[str]] = {
    "ibidem_dedupe/pairs.py": ("dedupe/test_[dcp]*.py", "ingest/signatures/test_sign.py"),
    "ibidem_dedupe/pair_evidence.py": ("dedupe/test_decision.py", "dedupe/test_column_rules.py"),
    "ibidem_dedupe/column_rules.py": ("dedupe/test_column_rules.py", "dedupe/test_plain_definition.py"),
    "ibidem_dedupe/leader_clustering.py": (
        "dedupe/test_leader_clustering*.py",
        "dedupe/test_pairs_related.py",
        "adversary/test_hot_keys.py",
    ),
    "ibidem_dedupe/overrides.py": ("dedupe/test_overrides.py", "dedupe/test_leader_clustering.py"),
    "ibidem_engines/ledger.py": ("engines/sqlite/test_group_checkpoint.py",),
    "ibidem_engines/cluster/records.py": ("engines/cluster/test_state_store.py",),
    "ibidem_workers/groups/settle.py": (
        "workers/groups/test_block.py",
        "workers/groups/test_settle.py",
        "workers/groups/test_follower.py",
        "workers/groups/test_bad_input.py",
    ),
    "ibidem_workers/groups/follower.py": (
        "workers/groups/test_follower.py",
        "workers/groups/test_service.py",
        "workers/groups/test_service_progress.py",
        "workers/groups/test_lease.py",
    ),
    "ibidem_mail/memberships.py": ("mail/test_thread_places.py",),
    "ibidem_workers/backfill/batch.py": ("workers/backfill/test_checkpoint*.py",),
}

# Those of `make quick`; the seed makes a second run judge alike.
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

PROJECT = """[tool.mutmut]
source_paths = ["src"]

[tool.pytest.ini_options]
addopts = "--import-mode=importlib --strict-markers -p no:schemathesis -p no:langsmith_plugin"
pythonpath = ["src", "tests"]
timeout = 120
markers = ["server(name, ...)", "thorough", "nightly", "slow"]
"""


def prepare(folder: Path, modules: Sequence[str]) -> None:
    """Copy packages and tests, with all changes of some modules beside their functions."""
    shutil.rmtree(folder, ignore_errors=True)
    no_caches = shutil.ignore_patterns("__pycache__")
    for pattern in PACKAGES:
        for package in ROOT.glob(pattern):
            shutil.copytree(package, folder / "src" / package.name, ignore=no_caches)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=no_caches)
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    with chdir(folder):  # mutmut reads its settings there
        for module in modules:
            path = Path("src", module)
            path.write_text(mutate_file_contents(str(path), path.read_text(encoding="utf-8")).code, encoding="utf-8")


def find_tests(module: str) -> list[str]:
    """Name the tests that are asked about a module."""
    found = []
    for pattern in MODULES[module]:
        paths = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").glob(pattern)]
        if not paths:
            raise SystemExit(f"no tests for {module}: tests/{pattern} is not there")
        found += paths
    return found


def describe(path: Path, outcomes: Mapping[str, str]) -> Iterator[str]:
    """Yield lines that say how many changes of a module are noticed, and the others as they read."""
    yield ", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes.values()).most_common())
    functions = read_functions(path)
    for name in (name.rpartition(".")[2] for name, outcome in outcomes.items() if outcome == "survived"):
        before, after = functions[f"{name.partition('__mutmut_')[0]}__mutmut_orig"], functions[name]
        yield f"  {name}"
        yield from (f"    {line}" for line in unified_diff(before, after, n=0) if line[1:2] == " ")


def read_functions(path: Path) -> Mapping[str, list[str]]:
    """Read the lines of each function but the first, which names it."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    functions = (each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    return {each.name: lines[each.lineno : each.end_lineno] for each in functions}


def try_changes(folder: Path, module: str, jobs: str) -> int:
    """Try the changes of one module with its tests, and print the outcome; returns the exit code."""
    outcomes = folder / "outcomes.json"
    outcomes.unlink(missing_ok=True)
    forks = ("-p", "mutation_forks", "--changed", module, "--outcomes", str(outcomes), "--at-once", jobs)
    command = [sys.executable, "-m", "pytest", "--quiet", *SELECTION, *forks, *find_tests(module)]
    path = f"{folder}/src:{folder}/tests:{Path(__file__).parent}"
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    lines = [f"{done.stdout}{done.stderr}"]
    if outcomes.exists():
        lines = list(describe(folder / "src" / module, json.loads(outcomes.read_text(encoding="utf-8"))))
    sys.stdout.writelines(f"{line}\n" for line in [module, *lines])
    return 0 if outcomes.exists() else 1


def main() -> int:
    """Change what the words choose, and tell which changes no test noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of modules' paths; none: all modules")
    parser.add_argument("--folder", type=Path, default=ROOT / ".mutations", help="where the copy is made")
    parser.add_argument("--jobs", default="2", help="how many changes are tried at the same time")
    options = parser.parse_args()
    folder = options.folder.resolve()
    modules = [each for each in MODULES if not options.words or any(word in each for word in options.words)]
    prepare(folder, modules)
    return max(try_changes(folder, module, options.jobs) for module in modules)


if __name__ == "__main__":
    sys.exit(main())
