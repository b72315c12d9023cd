"""All regular expressions of the packages, and texts made of each, on which a backtracking one would run on and on."""

import ast
import importlib
import json
import pkgutil
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "ibidem_ingest",
    "ibidem_core",
    "ibidem_dedupe",
    "ibidem_mappings",
    "ibidem_engines",
    "ibidem_workers",
    "ibidem",
    "ibidem_gateway",
)
CHARACTERS = 50_000
SECONDS = 0.2  # of processor time for one text: some hundred times what one takes that is read once

ALPHABET = "a0A -\"'<>.:;,=/\\&?@_~{}[]()\n\r\t\f\v\u00ad\u2010é東LlDMSs"
NOTHING = "\x00"
SEVERAL = 3
AT_THE_BEGINNING = frozenset(("match", "fullmatch"))
METHODS = AT_THE_BEGINNING | {"search", "split", "findall", "finditer", "sub", "subn"}
_IMPORT = "\nimport re\n"
# Modules that are no Python, or need packages that are not installed here; none has an expression.
LEFT_OUT = ("__main__", ".kernel.kernel", ".retrieval.haystack", ".retrieval.llama_index", ".retrieval.mcp")

Node = tuple[Any, Any]
# The tree that `re` itself works with has no public name.
parser: Any = importlib.import_module("re._parser")
compiler: Any = importlib.import_module("re._compiler")


def modules() -> Iterator[ModuleType]:
    for name in PACKAGES:
        package = importlib.import_module(name)
        yield package
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith(LEFT_OUT):
                yield importlib.import_module(module.name)


class Expression(NamedTuple):
    pattern: str  # what is written
    flags: int  # its flags, without the one for text or bytes
    methods: frozenset[str]  # the methods of `re` that it is used with

    @classmethod
    def parse(cls, pattern: str | bytes, flags: int, methods: Iterable[str]) -> "Expression":
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else pattern
        return cls(text, int(flags) & ~int(re.UNICODE), frozenset(methods) & METHODS)


def compiled_patterns(value: object) -> Iterator[re.Pattern[Any]]:
    """Yield the expressions that a module's variable holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from chain.from_iterable(map(compiled_patterns, value))
    elif isinstance(value, dict):
        yield from chain.from_iterable(map(compiled_patterns, value.values()))


def find_calls(tree: ast.Module) -> Iterator[tuple[ast.Call, bool]]:
    """Yield the calls that contain an expression, and whether it is a literal."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method)) if method != "escape":
                yield node, bool(node.args) and isinstance(node.args[0], ast.Constant)


def expressions() -> list[Expression]:
    """Collect all expressions of modules and of calls."""
    seen_expressions: set[Expression] = set()
    sources = {module: Path(module.__file__ or "").read_text(encoding="utf-8") for module in modules()}
    for module, source in sources.items():
        for name, value in vars(module).items():
            for each in compiled_patterns(value):
                methods = re.findall(rf"\b{name}\.(\w+)\(", source) or METHODS
                seen_expressions.add(Expression.parse(each.pattern, each.flags, methods))
        for call, text in find_calls(ast.parse(source)) if _IMPORT in source else ():
            method = call.func.attr  # type: ignore[attr-defined] # a call of a function of `re`, as `written` says
            if text and method in METHODS:
                seen_expressions.add(Expression.parse(call.args[0].value, 0, [method]))  # type: ignore[attr-defined] # a constant
    return sorted(seen_expressions)


def made_while_running() -> set[str]:
    """Name the functions that make an expression out of something else, which cannot be looked at beforehand."""
    seen_expressions = set()
    for module in modules():
        tree = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            if any(not text for _, text in find_calls(ast.Module(function.body, []))):
                seen_expressions.add(f"{module.__name__}.{function.name}")
    return seen_expressions


def texts(expression: str, length: int) -> Iterator[str]:
    tree = parser.parse(expression)
    starts = [sample(tree[:end]) for end in range(1, len(tree) + 1)]
    pumps = {("", pump) for pump in (*starts, *ALPHABET)} | set(repeated(list(tree), ""))
    for prefix, pump in sorted(pump for pump in pumps if pump[1]):
        for end in (NOTHING, "a"):
            yield prefix + pump * (length // len(pump)) + end


def repeated(nodes: Sequence[Node], prefix: str) -> Iterator[tuple[str, str]]:
    for at, (kind, value) in enumerate(nodes):
        lead = prefix + sample(nodes[:at])
        if kind in (parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT):
            yield from ((lead, each) for each in samples(list(value[2])))
            yield from repeated(list(value[2]), lead)
        elif kind is parser.SUBPATTERN:
            yield from repeated(list(value[3]), lead)
        elif kind is parser.BRANCH:
            for branch in value[1]:
                yield from repeated(list(branch), lead)


def has_possessive_group(expression: str) -> bool:
    """Return whether more than one character, or one of several, is repeated without going back."""
    return any(
        kind is parser.POSSESSIVE_REPEAT and (len(value[2]) > 1 or value[2][0][0] in (parser.BRANCH, parser.SUBPATTERN))
        for kind, value in walk(parser.parse(expression))
    )


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    for kind, value in nodes:
        yield kind, value
        for part in value if isinstance(value, list | tuple) else ():
            if isinstance(part, parser.SubPattern):
                yield from walk(part)
            elif isinstance(part, list):
                yield from (each for branch in part if isinstance(branch, parser.SubPattern) for each in walk(branch))


def samples(nodes: Sequence[Node]) -> list[str]:
    """Return some texts that fit a sequence."""
    return list(dict.fromkeys(sample(nodes, number) for number in range(SEVERAL)))


def sample(nodes: Sequence[Node], number: int = 0) -> str:
    """Return a text that matches a sequence; lookarounds are ignored."""
    return "".join(choose(kind, value, number) for kind, value in nodes)


def choose(kind: Any, value: Any, number: int) -> str:
    """Return a text that fits one part of an expression."""
    if kind in (parser.MAX_REPEAT, parser.MIN_REPEAT, parser.POSSESSIVE_REPEAT):
        return sample(list(value[2]), number) * max(1, value[0])
    if kind is parser.SUBPATTERN:
        return sample(list(value[3]), number)
    if kind is parser.BRANCH:
        return sample(list(value[1][number % len(value[1])]), number)
    if kind is parser.LITERAL:
        return chr(value)
    if kind not in (parser.IN, parser.NOT_LITERAL, parser.ANY):
        return ""
    one = compiler.compile(parser.SubPattern(parser.State(), [(kind, value)]), re.UNICODE)
    is_fitting = list(filter(one.fullmatch, ALPHABET))
    return is_fitting[number % len(is_fitting)] if is_fitting else ""


def use(expression: Expression, length: int) -> None:
    """Use an expression on its texts; ends the process where that takes too long."""
    compiled = re.compile(expression.pattern, expression.flags)
    for text in list(texts(expression.pattern, length)):  # made before the clock runs: it is the expression's alone
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        for method in expression.methods & AT_THE_BEGINNING:
            getattr(compiled, method)(text)
        if expression.methods - AT_THE_BEGINNING:  # each of the others looks for all matches, as this does
            deque(compiled.finditer(text), 0)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)


class Trial:
    """A process that uses expressions on their texts, as a context; the system ends it at one that runs on and on."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Start nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()

    def withstands(self, expression: Expression, length: int = CHARACTERS) -> bool:
        """Use an expression on its texts, and return whether that ended in time."""
        process = self._process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        request = [expression.pattern, expression.flags, length, sorted(expression.methods)]
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        if process.stdout.readline():
            return True
        self.__exit__()
        self._process = None
        assert process.returncode == -signal.SIGVTALRM
        return False

    def _started(self) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "adversary.patterns"]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=ROOT / "tests", stdin=pipe, stdout=pipe, text=True)


if __name__ == "__main__":
    for line in sys.stdin:
        pattern, flags, length, methods = json.loads(line)
        use(Expression(pattern, flags, frozenset(methods)), length)
        sys.stdout.write("done\n")
        sys.stdout.flush()
