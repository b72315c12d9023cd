"""Names parameters under "Args:" that the function, class or dataclass does not have.

    python .ci/docstrings.py ingest mappings plugins workers

Ends with 1 where there is one. pydoclint checks functions and constructors; no option of it spares docstrings
without "Args:", and it does not look at the fields of dataclasses.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from docstring_parser.google import GoogleParser

COMMAND = [sys.executable, "-m", "pydoclint.main", "--config", "pyproject.toml"]
STALE = re.compile(
    r"(?P<place>.+?): DOC103: (?P<owner>.+?): .*"
    r"Arguments in the docstring but not in the function signature: \[(?P<names>.+?)\]"
)


def main(folders: list[str]) -> int:
    """Print each stale name."""
    found = [*stale_parameters(folders), *stale_fields(folders)]
    sys.stdout.writelines(f"{line}\n" for line in found)
    return 1 if found else 0


def stale_parameters(folders: list[str]) -> Iterator[str]:
    """Name what functions and constructors describe and do not take.

    Raises:
        ChildProcessError: pydoclint did not run.
    """
    checked = subprocess.run([*COMMAND, *folders], capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
    output = checked.stdout + checked.stderr
    if checked.returncode and " DOC" not in output:
        raise ChildProcessError(output)
    for match in filter(None, map(STALE.match, output.splitlines())):
        names = ", ".join(name.partition(":")[0] for name in match["names"].split(", "))
        yield f"{match['place']}: {match['owner']} has no {names}"


def stale_fields(folders: list[str]) -> Iterator[str]:
    """Name what dataclasses, and other classes without a constructor, describe and do not have."""
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ClassDef) or any(getattr(each, "name", "") == "__init__" for each in node.body):
                continue
            fields = {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)}
            described = GoogleParser().parse(ast.get_docstring(node) or "").params
            if names := [
                each.arg_name for each in described if each.args[0] == "param" and each.arg_name not in fields
            ]:
                yield f"{path}:{node.lineno}: Class `{node.name}` has no {', '.join(names)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
