"""Size and shape of the product beside its budget: `python .ci/shape.py`; ends with 1 where a figure is over.

`.ci/budget.toml` holds the highest figure of each row. The rows "beside" show that lines do not go from Python to where
nobody counts. The ways of a document and of a search through the files are counted by `.ci/walks.py`.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

CORE = ("ingest", "workers", "mappings", "plugins/ibidem", "plugins/ibidem_engines")
SIDE = ("plugins/ibidem_gateway", "plugins/ibidem_lab", "plugins/ibidem_mail", "plugins/ibidem_spark")
LONGEST_FILE = 800  # lines
QUIET = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
OPTION = re.compile(r"│ [ *]*--(?!help|json)")  # a line of a help text; every command has those two
BESIDE = {
    "C": "*.c",
    "templates": "plugins/**/templates/*.html",
    "styles": "*.css",
    "JavaScript": "*.js",
    "JSON": "*.json",
    "SQL": "*.sql",
    ".ci": ".ci/**",
    "tests/support": "tests/support/**",
}


class Module:
    """A module of the product, parsed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        self.nodes = list(ast.walk(ast.parse(self.text)))
        self.functions = [node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

    def docstring_lines(self) -> set[int]:
        """Return the numbers of the lines of docstrings, and of strings below fields."""
        strings = (
            child
            for node in self.nodes
            for child in (getattr(node, "body", None) if isinstance(getattr(node, "body", None), list) else None) or ()
            if isinstance(child, ast.Expr)
            and isinstance(child.value, ast.Constant)
            and isinstance(child.value.value, str)
        )
        return {number for each in strings for number in range(each.lineno, (each.end_lineno or each.lineno) + 1)}

    def import_lines(self) -> int:
        """Count the lines of imports."""
        imports = (node for node in self.nodes if isinstance(node, ast.Import | ast.ImportFrom))
        return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in imports)

    def tokens(self, docstrings: set[int]) -> int:
        """Count the tokens of its code."""
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return sum(token.type not in QUIET and token.start[0] not in docstrings for token in tokens)

    def uses(self) -> Counter[str]:
        """Count the names that it reads."""
        names = (node for node in self.nodes if isinstance(node, ast.Name | ast.Attribute))
        return Counter(node.id if isinstance(node, ast.Name) else node.attr for node in names)


def figures(modules: list[Module]) -> Iterator[tuple[str, float]]:
    """Measure the product's Python."""
    docstrings = [module.docstring_lines() for module in modules]
    lines = sum(len(module.lines) for module in modules)
    code = sum(
        bool(line.strip()) and number not in within and not line.lstrip().startswith("#")
        for module, within in zip(modules, docstrings, strict=True)
        for number, line in enumerate(module.lines, 1)
    )
    uses: Counter[str] = Counter()
    for module in modules:
        uses.update(module.uses())
    functions = [function for module in modules for function in module.functions]
    yield "core lines", sum(len(module.lines) for module in modules if not is_side(module.path))
    yield "side lines", sum(len(module.lines) for module in modules if is_side(module.path))
    yield "tokens", sum(module.tokens(within) for module, within in zip(modules, docstrings, strict=True))
    yield "files", len(modules)
    yield "docstring lines, percent of code", round(100 * sum(map(len, docstrings)) / code, 1)
    yield "imports, percent of lines", round(100 * sum(module.import_lines() for module in modules) / lines, 1)
    yield "functions with Args", sum("Args:" in (ast.get_docstring(each) or "") for each in functions)
    yield "functions of three lines used once", sum(is_short(each) and uses[each.name] == 1 for each in functions)
    yield "longest file", max(len(module.lines) for module in modules)


def is_side(path: Path) -> bool:
    """Whether a file is of a side package."""
    return any(path.is_relative_to(folder) for folder in SIDE)


def is_short(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has a body of three lines or fewer, no decorator, and a name that nothing else calls."""
    body = function.body[ast.get_docstring(function) is not None :]
    lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
    return lines <= 3 and not function.decorator_list and not function.name.startswith("__")


def tracked(*patterns: str) -> list[Path]:
    """List the files that git tracks."""
    command = ["git", "ls-files", "-z", "--", *patterns]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - fixed patterns
    return [path for name in listed.split("\0") if name and (path := Path(name)).exists()]


def count_lines(paths: Iterable[Path]) -> int:
    """Count the lines of files."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def measure() -> dict[str, float]:
    """Measure every row of the budget."""
    product = tracked(*(f"{folder}/*.py" for folder in ("ingest", "workers", "mappings", "plugins")))
    help_texts = [path.read_text(encoding="utf-8") for path in tracked("tests/contracts/golden/help/*.txt")]
    root = next(text for text in help_texts if "Usage: ibidem [OPTIONS]" in text)
    settings = Path("docs/settings.md").read_text(encoding="utf-8")
    return dict(
        [
            *figures([Module(path) for path in product]),
            ("Java with its tests", count_lines(tracked("plugins/java/*.java"))),
            ("tests", count_lines(tracked("tests/*.py"))),
            ("benchmarks", count_lines(tracked("benchmarks/*.py"))),
            ("pages", len(tracked("docs/*.md")) - len(tracked("docs/figures/*.md"))),
            ("pages of figures", len(tracked("docs/figures/*.md"))),
            ("settings", settings.count("\n| `IBIDEM_")),
            ("commands", root.count("\n│ ") - root.count("\n│ --") - root.count("\n│   ")),
            ("options", sum(OPTION.match(line) is not None for text in help_texts for line in text.splitlines())),
            *((f"beside: {name}", count_lines(tracked(f":(glob)**/{glob}"))) for name, glob in BESIDE.items()),
        ]
    )


def main() -> int:
    """Print each figure beside its budget."""
    budget = tomllib.loads(Path(".ci/budget.toml").read_text(encoding="utf-8"))
    found = measure()
    over = {name for name, most in budget["most"].items() if found[name] > most}
    for name, figure in found.items():
        most, asked = budget["most"].get(name, ""), budget["asked"].get(name, "")
        sys.stdout.write(f"{name:36}{figure:>10,}{most:>10}{asked:>10}{'   over' if name in over else ''}\n")
    if found["longest file"] > LONGEST_FILE:
        sys.stdout.write(f"a file has more than {LONGEST_FILE} lines\n")
    return 1 if over or found["longest file"] > LONGEST_FILE else 0


if __name__ == "__main__":
    sys.exit(main())
